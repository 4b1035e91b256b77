"""Where a name of the package leads to in the reference.

Every public object has one page, under the shortest of its public names. Sphinx knows it by the module that it was
written in, too; here it learns the other rooms that have it (`equipoise.agents.TocUCRL2`). What single backticks hold
in a docstring is a name, also by its last word alone, and then a link; or else it is code.
"""

from __future__ import annotations

import importlib

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

from docs._sphinx.rooms import ROOMS, names_of


def _origin(name: str) -> str | None:
    """The name that a public object, or a member of one, has where it was written, which Sphinx knows."""
    words = name.split(".")
    for length in range(len(words) - 1, 0, -1):
        room, word, rest = ".".join(words[:length]), words[length], words[length + 1 :]
        if room in ROOMS and word in names_of(room):
            value = getattr(importlib.import_module(room), word)
            return ".".join([value.__module__, value.__qualname__, *rest]) if hasattr(value, "__qualname__") else None
    return None


def _candidates(domain: PythonDomain, node: pending_xref) -> list[str]:
    """The documented names that the words of a docstring may mean, where they stand."""
    word = node["reftarget"].removeprefix("eq.").removeprefix("equipoise.").removesuffix("()")
    room, owner = node.get("py:module"), node.get("py:class")
    near = [f"{room}.{owner}.{word}", f"{room}.{word}", f"equipoise.{word}"]
    for name in near:
        if name in domain.objects:
            return [name]
    if word[:1].islower() and "." not in word:
        return []  # a plain word: a parameter, more often than not
    return [name for name, entry in domain.objects.items() if name.endswith(f".{word}") and not entry.aliased]


def _in_signature(node: nodes.Node | None) -> bool:
    """Whether a reference is the type of something in a signature: ours, or of another library."""
    while node is not None and not isinstance(node, desc_signature):
        node = node.parent
    return node is not None


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.Element | None:
    """Link a name that Sphinx does not know by the name that it does know."""
    if node.get("refdomain") != "py":
        return None
    domain, loose = env.domains.python_domain, node["reftype"] == "name" or _in_signature(node)
    names = _candidates(domain, node) if loose else [_origin(node["reftarget"])]
    if len(names) == 1 and names[0] in domain.objects:
        place = {"py:module": None, "py:class": None}
        made = pending_xref("", refdomain="py", reftype="obj", reftarget=names[0], **place)
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", names[0], made, text)
    return text if loose else None


class Name(SphinxRole):
    """What single backticks hold."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A reference that may turn out to be code."""
        place = {key: self.env.ref_context.get(key) for key in ("py:module", "py:class")}
        target = {"refdomain": "py", "reftype": "name", "reftarget": self.text, "refdoc": self.env.docname}
        code = nodes.literal(self.rawtext, self.text, classes=["xref", "py"])
        return [pending_xref(self.rawtext, code, **target, **place)], []


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the role of single backticks, and the last word on references to the package."""
    app.add_role("name", Name())
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
