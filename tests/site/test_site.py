"""The built documentation in a real browser: it loads, is searched, is dark in the dark, fits a phone, can be heard."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import equipoise
from tests.site.conftest import DOCS

pytestmark = pytest.mark.docs

FEW = (
    "index.html",
    "api/index.html",
    "api/rewards.html",
    "api/command-line.html",
    "api/generated/equipoise.TocUCRL2.html",
    "applications/department.html",
    "checks.html",
    "examples.html",
    "genindex.html",
    "mechanics.html",
    "search.html?q=solve",
)


# What sticks out on the right, and is not within a part of the page that scrolls by itself, as tables and code do.
STICKING_OUT = """() => [...document.querySelectorAll(".bd-article-container *")].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let around = element.parentElement; !around.matches("article, main"); around = around.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
  return true;
}).map(element => element.outerHTML.slice(0, 100))"""


def pages(site: Path) -> list[str]:
    """Those that were written by hand, and every tenth of those that were not."""
    found = sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if "_static" not in path.parts)
    made = [path for path in found if "generated" in path]
    assert len(found) > 250
    return [path for path in found if "generated" not in path] + made[::10]


def test_the_versions_have_this_one():
    versions = json.loads((DOCS / "_static" / "versions.json").read_text())
    assert equipoise.__version__ in [version["version"] for version in versions]


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    """In any page: links may lead away, and that is all."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=\"([^\"]+)\"", text)
        assert loaded
        assert [address for address in loaded if re.match(r"(?:\w+:)?//", address)] == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import\s)\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path


@pytest.mark.slow
def test_pages_load_and_fit(site, address, browser):
    """Without an error in the console, a request to elsewhere, or anything that is wider than a phone."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith((address, "data:")) else wrong.append(asked.url))
    page.on("response", lambda got: wrong.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    for path in pages(site):
        page.goto(f"{address}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path
        assert (wrong, page.evaluate(STICKING_OUT)) == ([], []), path
    context.close()


@pytest.mark.slow
def test_formulas_are_drawn_and_can_be_read(site):
    page = (site / "documentation.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"', page)
    assert [tex.split()[0] for tex in drawn] == [r"\bar", r"\mathrm{Reg}(T)"]
    assert page.count("currentColor") > 20  # the strokes of its letters are as dark as the text


@pytest.mark.slow
def test_every_column_has_a_head(site):
    for path in site.rglob("*.html"):
        assert not re.search(r"<th[^>]*>(?:<p>)?\s*(?:</p>)?</th>", path.read_text(encoding="utf-8")), path


@pytest.mark.slow
def test_code_fits_a_laptop(site, address, browser):
    """Without scrolling sideways at 1280 pixels, on every page that is written by hand."""
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    page = context.new_page()
    for path in (path for path in pages(site) if not path.startswith("api/")):
        page.goto(f"{address}/{path}")
        blocks = page.evaluate(
            "[...document.querySelectorAll('.highlight pre')].map(e => [e.scrollWidth, e.clientWidth])"
        )
        assert [needed for needed, given in blocks if needed > given] == [], path
    context.close()


@pytest.mark.slow
def test_a_name_is_found(address, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("TocUCRL2")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li a[href*='api/generated/equipoise.TocUCRL2.html']").first
    found.wait_for()
    found.click()
    page.wait_for_url("**/api/generated/equipoise.TocUCRL2.html*")
    assert page.locator("h1").inner_text().startswith("TocUCRL2")
    context.close()


@pytest.mark.slow
def test_dark_is_dark_and_light_is_light(address, browser):
    """As the system says, and by the switch, which is remembered."""
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{address}/index.html")
        assert (brightness(page) < 0.5) == (scheme == "dark")
        switch = page.locator(".theme-switch-container, .theme-switch-button").first
        switch.click()
        other = page.locator(f"[data-mode='{'light' if scheme == 'dark' else 'dark'}']:visible").first
        other.click()
        assert (brightness(page) < 0.5) == (scheme == "light")
        page.goto(f"{address}/guides.html")
        assert (brightness(page) < 0.5) == (scheme == "light")
        context.close()


def brightness(page) -> float:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / (3 * 255)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_heard_and_seen(scheme, address, browser):
    """Axe finds nothing that is serious, on a wide screen and on a phone."""
    axe = Axe()
    for width in (1280, 390):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
        page = context.new_page()
        for path in FEW:
            page.goto(f"{address}/{path}", wait_until="networkidle")
            found = axe.run(page).response["violations"]
            serious = [
                (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], (path, width)
        context.close()
