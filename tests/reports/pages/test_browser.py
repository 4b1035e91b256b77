"""The page in a real browser: at phone and desktop width, light and dark, without a network."""

from __future__ import annotations

import base64
import re
from contextlib import contextmanager

import pytest

from equipoise.reports.charts import theme
from tests.reports import synthetic

pytestmark = pytest.mark.slow

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
GROUND = {"light": (255, 255, 255), "dark": (0x14, 0x16, 0x1A)}
PALETTE = {"light": theme.LIGHT, "dark": theme.DARK}
OTHERS = ["hostile", "crowd", "vanishing", "without_chance", "empty", "one_checkpoint", "guaranteed"]

COUNT_COLOURS = """async (source) => {
  const image = new Image(); image.src = source; await image.decode();
  const canvas = document.createElement("canvas"); canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
  const {data} = context.getImageData(0, 0, image.width, image.height), counts = {};
  for (let i = 0; i < data.length; i += 4) {
    const key = data[i] + "," + data[i + 1] + "," + data[i + 2]; counts[key] = (counts[key] || 0) + 1;
  }
  return counts;
}"""

# Labels that stick out of their chart, and neighbours on one axis that run into each other.
CLIPPED = """() => [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
      box.bottom > frame.bottom + 1);
  }).map((text) => text.textContent);
})"""
MARKS = """() => [...document.querySelectorAll("[data-chart]")].map((place) =>
  place.querySelectorAll(":is(.mark-line, .mark-rect) path").length)"""
LABELS = """() => [...document.querySelectorAll("[data-chart]")].map((place) =>
  [...place.querySelectorAll(".role-axis-label text")].map((text) => text.textContent))"""
OVERLAPPING = """() => [...document.querySelectorAll("[data-chart] .role-axis-label")].flatMap((axis) => {
  const boxes = [...axis.querySelectorAll("text")].filter((text) => getComputedStyle(text).opacity !== "0")
    .map((text) => text.getBoundingClientRect()).filter((box) => box.width);
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).map(() => axis.textContent);
})"""


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


@contextmanager
def opened(browser, path, size="desktop", scheme="light"):
    """The page, drawn; afterwards it must have asked for nothing and complained of nothing."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    asked, said = [], []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=20_000)
    try:
        yield page
    finally:
        context.close()
    assert asked == [path.as_uri()]
    assert said == []


@pytest.fixture(scope="module")
def colours(browser):
    """Counts how often each colour occurs in a PNG, by drawing it in the browser."""
    page = browser.new_page()

    def count(png):
        counts = page.evaluate(COUNT_COLOURS, f"data:image/png;base64,{base64.b64encode(png).decode()}")
        return {tuple(map(int, key.split(","))): n for key, n in counts.items()}

    yield count
    page.close()


def lines(page, chart):
    """The curves of a chart: stroke as written, as computed, number of points, and share of the chart's width."""
    return page.locator(f"[data-chart='{chart}']").evaluate(
        """(place) => [...place.querySelectorAll(".mark-line path")].map((path) => ({
            stroke: path.getAttribute("stroke"), computed: getComputedStyle(path).stroke,
            points: path.getAttribute("d").split(/[ML]/).length - 1,
            wide: path.getBoundingClientRect().width / place.getBoundingClientRect().width}))"""
    )


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_showcase(browser, pages, colours, tmp_path, size, scheme):
    with opened(browser, pages["showcase"], size, scheme) as page:
        places = page.locator("[data-chart]").count()
        assert places == 27
        assert page.evaluate("document.documentElement.dataset.drawn") == str(places)
        assert overflow(page) <= 0
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate(OVERLAPPING) == []
        marks = page.evaluate(MARKS)
        assert all(n >= 2 for n in marks), f"empty charts among {marks}"
        labels = page.evaluate(LABELS)
        assert labels[0] == ["1", "10", "100", "1k", "10k", "100k", "1M", "0.001", "0.01", "0.1", "1"]
        assert all(len(found) >= 5 for found in labels)

        found = [line for line in lines(page, 0) if line["stroke"].startswith("var(--agent")]
        assert [line["stroke"] for line in found] == ["var(--agent-0)", "var(--agent-1)", "var(--agent-2)"]
        wanted = [f"rgb{rgb(colour)}" for colour in PALETTE[scheme][:3]]
        assert [line["computed"] for line in found] == wanted
        assert all(line["points"] == 58 and line["wide"] > 0.75 for line in found)

        page.screenshot(path=tmp_path / f"top-{size}-{scheme}.png")
        whole = colours((tmp_path / f"top-{size}-{scheme}.png").read_bytes())
        assert whole[GROUND[scheme]] > 0.7 * sum(whole.values())
        chart = tmp_path / f"regret-{size}-{scheme}.png"
        page.locator("[data-chart='0']").screenshot(path=chart)
        drawn = colours(chart.read_bytes())
        for colour in PALETTE[scheme][:3]:
            assert drawn.get(rgb(colour), 0) > 100, f"{colour} is not to be seen"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_page_is_drawn_and_fits(browser, pages, name, size):
    with opened(browser, pages[name], size) as page:
        assert page.evaluate("document.documentElement.dataset.drawn") == str(page.locator("[data-chart]").count())
        assert overflow(page) <= 0
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate(OVERLAPPING) == []


@pytest.mark.slow
def test_colours_follow_the_scheme_and_paper_is_white(browser, pages):
    with opened(browser, pages["without_chance"]) as page:

        def look():
            text = page.locator("[data-chart='0'] text").first.evaluate("(text) => getComputedStyle(text).fill")
            return lines(page, 0)[0]["computed"], page.evaluate("getComputedStyle(document.body).backgroundColor"), text

        light = look()
        page.emulate_media(color_scheme="dark")
        dark = look()
        page.emulate_media(color_scheme="dark", media="print")
        paper = look()
    assert light[:2] == (f"rgb{rgb(theme.LIGHT[0])}", "rgb(255, 255, 255)")
    assert dark[:2] == (f"rgb{rgb(theme.DARK[0])}", f"rgb{GROUND['dark']}")
    assert light[2] != dark[2]
    assert paper == light


@pytest.mark.slow
def test_charts_follow_the_width_of_the_window(browser, pages):
    with opened(browser, pages["without_chance"]) as page:
        wide = page.locator("[data-chart='0'] svg").bounding_box()["width"]
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function("document.querySelector('[data-chart] svg').getBoundingClientRect().width < 390")
        page.wait_for_timeout(100)
        assert overflow(page) <= 0
        assert page.evaluate(CLIPPED) == []
    assert wide > 1000


@pytest.mark.slow
def test_hostile_names_are_shown_and_not_obeyed(browser, pages):
    name = synthetic.hostile().agents[0].name
    with opened(browser, pages["hostile"]) as page:
        page.locator("[data-chart='0']").scroll_into_view_if_needed()
        point = page.locator("[data-chart='0'] .mark-symbol path").first.bounding_box()
        page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
        tooltip = page.locator("#vg-tooltip-element.visible")
        tooltip.wait_for()
        assert re.sub(r"\s+", " ", name) in re.sub(r"\s+", " ", tooltip.text_content())
        assert page.locator("#vg-tooltip-element :is(img, script)").count() == 0
        assert page.evaluate("window.broken") is None
        assert page.locator("h1").text_content() == synthetic.hostile().name


@pytest.mark.slow
def test_more_agents_than_hues_have_dashes(browser, pages):
    with opened(browser, pages["crowd"]) as page:
        looks = page.locator("[data-chart='0']").evaluate(
            """(place) => [...place.querySelectorAll(".mark-line path")].map((path) =>
                path.getAttribute("stroke") + " " + path.getAttribute("stroke-dasharray"))"""
        )
        keys = (
            page.locator("#problem-1 .legend")
            .first.locator(".agent line")
            .evaluate_all(
                """(all) => all.map((line) =>
                    line.getAttribute("stroke") + " " + (line.getAttribute("stroke-dasharray") || ""))"""
            )
        )
    agents = [look for look in looks if look.startswith("var(--agent")]
    assert len(set(agents)) == len(agents) == 12
    assert [look.replace(" 1,0", " ").replace(",", " ") for look in agents] == keys


@pytest.mark.slow
def test_means_below_the_axis_are_marked(browser, pages):
    with opened(browser, pages["vanishing"]) as page:
        marks = page.locator("[data-chart='0'] .mark-symbol path:is([fill='transparent'], :not([fill]))")
        said = page.locator("figcaption", has_text="▽").first.text_content()
        wanted = int(re.search(r"bottom: (\d+) means", said.replace("\xa0", " ")).group(1))
        assert marks.count() == wanted > 20


@pytest.mark.slow
def test_the_problems_can_be_reached_and_stay_in_sight(browser, pages):
    with opened(browser, pages["showcase"], "phone") as page:
        page.locator("nav a", has_text="coverage").click()
        page.wait_for_function("scrollY > 1000")
        heading = page.locator("#problem-2 h2").bounding_box()
        bar = page.locator("nav").bounding_box()
        assert bar["y"] == 0
        assert bar["height"] <= heading["y"] < 200
