"""The directive `module-head`: what the module of a name opens with, its formulas and their place in the paper.

The heads are written to be read in the source, in plain text that is Markdown as well.
"""

from __future__ import annotations

import inspect
import sys

from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from docs._sphinx.rooms import ROOMS, public_objects


class ModuleHead(SphinxDirective):
    """The head of a room, or of the module that a public object was written in, if that is not a room itself."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The text, under a title where there is something else on the page."""
        (name,) = self.arguments
        if name in ROOMS:
            return self._head(name)
        module = getattr(public_objects().get(name), "__module__", "builtins")
        if module in ROOMS or not module.startswith("equipoise"):
            return []
        return [nodes.rubric("", f"From the head of {module}"), *self._head(module)]

    def _head(self, module: str) -> list[nodes.Node]:
        text = inspect.getdoc(sys.modules[module]) or ""
        document = new_document(module, self.state.document.settings)
        MystParser().parse(text, document)
        return list(document.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("module-head", ModuleHead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
