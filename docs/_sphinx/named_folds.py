"""The folds of the navigation say to screen readers what they hold; the theme leaves them without a name."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def _named(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    make = context.get("generate_toctree_html")
    if make is None:
        return

    def with_names(*arguments: Any, **options: Any) -> Any:
        tree = make(*arguments, **options)
        for fold in [] if isinstance(tree, str) else tree.select("li > details > summary"):
            fold["aria-label"] = f"Pages of {fold.parent.parent.find('a').get_text()}"
        return tree

    context["generate_toctree_html"] = with_names


def setup(app: Sphinx) -> dict[str, bool]:
    """Ask to be heard on pages after the theme is."""
    app.connect("html-page-context", _named, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
