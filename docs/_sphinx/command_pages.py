"""The directive `commands`: the commands of the program `equipoise`, from the same words that `--help` prints."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_group

from equipoise.cli.main import app as program


def _text(name: str, command: Any) -> str:
    """One command in Markdown: how it is called, what it does, its arguments and options."""
    context = typer.Context(command, info_name=name)
    lines = ["```text", " ".join([name, *command.collect_usage_pieces(context)]), "```", "", command.help, ""]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            lines += [f"`{record[0]}`", f": {record[1]}", ""]
    return "\n".join(lines)


class Commands(SphinxDirective):
    """A section a command."""

    def run(self) -> list[nodes.Node]:
        """The program itself, and then each of its commands."""
        group = get_group(program)
        found = self._parsed(_text("equipoise", group))
        for name, command in group.commands.items():
            title = f"equipoise {name}"
            section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
            section += nodes.title(title, title)
            section += self._parsed(_text(title, command))
            self.state.document.note_implicit_target(section, section)
            found.append(section)
        return found

    def _parsed(self, text: str) -> list[nodes.Node]:
        node = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source="equipoise --help"), self.content_offset, node)
        return list(node.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
