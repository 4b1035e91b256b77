"""The colours of agents, and how a chart looks: on the page (through CSS variables) and on white paper.

The eight hues, in one version for light and one for dark backgrounds, differ by at least 0.09 in OKLab for full colour
vision, protanopia, deuteranopia and tritanopia (Machado et al. 2009), with a contrast of at least 3 to the background.
An agent has the hue of its place in the study; from the ninth on the hues repeat with dashed lines. On the page colours
are CSS variables such as ``var(--agent-0)``, so that it can turn dark without being redrawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

LIGHT: Final = ("#3862c4", "#e26b1b", "#045124", "#891477", "#746300", "#a473ee", "#5198ab", "#a65a66")
DARK: Final = ("#4c92f2", "#fc9417", "#49d3a1", "#b757a3", "#e8dc59", "#baaafa", "#b1e1ef", "#b58d85")
DASHES: Final = ((), (7, 3), (2, 2), (9, 3, 2, 3), (1, 4))
TRIGGERS_LIGHT: Final = ("#2f4256", "#7890a8", "#bccad8", "#d8a657")
TRIGGERS_DARK: Final = ("#dbe4ee", "#8fa3b8", "#4d5f73", "#c98f2e")
SYSTEM_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"

_LEGEND_ENTRY: Final = 200  # pixels that an entry of a legend may take, in letters of 12 pixels
_LEGEND_SYMBOL: Final = 60  # pixels of that for the line and the space between entries


@dataclass(frozen=True)
class Theme:
    """The look of a chart in the place where it is shown.

    Attributes
    ----------
    ink, muted, grid, paper : str
        Colours of letters, of secondary text, of grid lines, and of the background as far as it is known.
    ground : str or None
        The background that is drawn; None for a transparent one.
    agents, triggers : tuple of str
        Colours of agents, by their place in the study, and of what ended an episode.
    font : str
        The name of a font, or several in the order of preference, as in CSS.
    font_size : int
        Of names and titles, in pixels; numbers along an axis are one smaller.
    legends, tooltips, fluid : bool
        Whether a chart has legends and tooltips, and whether it is as wide as its place on a page.
    padding : int
        Around a chart, in pixels.
    width, height : int or None
        Of a whole figure, in pixels; None if each has its own.

    Examples
    --------
    >>> from dataclasses import replace
    >>> theme = Theme("#000", "#555", "#ddd", "#fff", None, ("#0072b2",), ("#d55e00",), font="serif")
    >>> replace(theme, font_size=10).font_size, theme.legends
    (10, True)
    """

    ink: str
    muted: str
    grid: str
    paper: str
    ground: str | None
    agents: tuple[str, ...]
    triggers: tuple[str, ...]
    font: str
    font_size: int = 12
    legends: bool = True
    tooltips: bool = False
    fluid: bool = False
    padding: int = 12
    width: int | None = None
    height: int | None = None


PAGE: Final = Theme(
    ink="var(--ink)",
    muted="var(--muted)",
    grid="var(--grid)",
    paper="var(--paper)",
    ground=None,
    agents=tuple(f"var(--agent-{i})" for i in range(len(LIGHT))),
    triggers=tuple(f"var(--trigger-{i})" for i in range(len(TRIGGERS_LIGHT))),
    font=SYSTEM_FONT,
    legends=False,
    tooltips=True,
    fluid=True,
    padding=4,
)
PRINT: Final = Theme(
    ink="#1d2126",
    muted="#5d6670",
    grid="#e4e7ea",
    paper="#ffffff",
    ground="#ffffff",
    agents=LIGHT,
    triggers=TRIGGERS_LIGHT,
    font="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
)
SCREEN: Final = replace(PRINT, ground=None, font=SYSTEM_FONT, font_size=16)
STYLES: Final = {"print": PRINT, "screen": SCREEN}
"""Of figures that are files: on white paper; on slides and pages, with larger letters and no ground of their own."""


def colour(index: int, theme: Theme) -> str:
    """Of the agent with that place in the study."""
    return theme.agents[index % len(theme.agents)]


def dash(index: int) -> tuple[int, ...]:
    """The pattern of its lines: none for the first eight, which are solid."""
    return DASHES[index // len(LIGHT) % len(DASHES)]


def css_variables() -> str:
    """The palettes as CSS: light, and dark where the reader's system is (but never on paper)."""
    light, dark = (_declarations(*colours) for colours in ((LIGHT, TRIGGERS_LIGHT), (DARK, TRIGGERS_DARK)))
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _declarations(agents: Sequence[str], triggers: Sequence[str]) -> str:
    named = [(f"--agent-{i}", colour) for i, colour in enumerate(agents)]
    named += [(f"--trigger-{i}", colour) for i, colour in enumerate(triggers)]
    return " ".join(f"{name}: {colour};" for name, colour in named)


def legend_layout(theme: Theme, columns: int, limit: int) -> dict[str, int]:
    """How many entries of a legend stand side by side, and how wide each may be, so that it fits into the figure."""
    if theme.width is not None:
        inner, letter = theme.width - 2 * theme.padding, theme.font_size / 12
        columns = max(1, min(columns, int(inner / (_LEGEND_ENTRY * letter))))
        limit = max(1, min(limit, int(inner / columns - _LEGEND_SYMBOL * letter)))
    return {"columns": columns, "labelLimit": limit}


def config(theme: Theme) -> dict[str, Any]:
    """The configuration of Vega-Lite for a theme; in a figure of a given width, legend and title are no wider."""
    title = {} if theme.width is None else {"frame": "bounds", "limit": theme.width - 2 * theme.padding}
    return {
        "background": theme.ground,
        "font": theme.font,
        "padding": theme.padding,
        "view": {"stroke": None},
        "axis": {
            **dict.fromkeys(("labelColor", "titleColor"), theme.muted),
            **dict.fromkeys(("gridColor", "domainColor", "tickColor"), theme.grid),
            "labelFontSize": theme.font_size - 1,
            "titleFontSize": theme.font_size,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelPadding": 5,
            "tickSize": 4,
        },
        "legend": {
            "labelColor": theme.ink,
            "labelFontSize": theme.font_size,
            "symbolStrokeWidth": 2.5,
            "symbolSize": 220,
            "orient": "bottom",
            "title": None,
            "columnPadding": 18,
            **legend_layout(theme, 3, 260),
        },
        "title": {
            "color": theme.ink,
            "fontSize": theme.font_size,
            "fontWeight": "normal",
            "anchor": "start",
            "frame": "group",
            "offset": 8,
            **title,
        },
        "text": {"color": theme.ink},
        "range": {"category": list(theme.agents), "ramp": {"scheme": "viridis"}},
    }
