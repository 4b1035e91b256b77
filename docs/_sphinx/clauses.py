"""The directive `clauses`: the functions of a contract by name, each with what it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import equipoise.testing


class Clauses(SphinxDirective):
    """A list of the clauses, with the first paragraphs of their docstrings."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One entry a clause, in the order in which they are tried."""
        clauses: dict[str, Callable[..., None]] = getattr(equipoise.testing, self.arguments[0])
        found = nodes.definition_list()
        for name, clause in clauses.items():
            text, _ = self.parse_inline((inspect.getdoc(clause) or "").partition("\n\n")[0])
            term = nodes.term("", "", nodes.literal(name, name))
            found += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", "", *text)))
        return [found]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("clauses", Clauses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
