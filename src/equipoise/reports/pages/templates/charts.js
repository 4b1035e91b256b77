// Draws every chart of the page from the specifications beside it. Colours are CSS variables, so light, dark and print need
// no drawing anew; widths follow the window. "ast" keeps Vega from compiling code, which the page's policy forbids.
"use strict";
(async () => {
  const specifications = JSON.parse(document.getElementById("_charts").textContent);
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, tooltip: { theme: "custom" } };
  let drawn = 0;
  for (const place of document.querySelectorAll("[data-chart]")) {
    try {
      await vegaEmbed(place, specifications[Number(place.dataset.chart)], options);
      drawn += 1;
    } catch (error) {
      place.textContent = "This chart could not be drawn.";
      console.error(error);
    }
  }
  document.documentElement.dataset.drawn = String(drawn);
})();
