"""A table as Markdown."""

from __future__ import annotations

import re

from equipoise.reports.writing.inline import Aside, Below, Code, Content, Key, Link, Strong, pieces
from equipoise.reports.writing.section import Table


def markdown_table(table: Table) -> str:
    r"""The table in the notation of GitHub, with a line end at its end.

    Parameters
    ----------
    table : Table
        Its cells are escaped, so that nothing in a name is taken for a mark.

    >>> from equipoise.reports.writing.section import Column
    >>> columns = (Column("agent"), Column("regret", "number"))
    >>> print(markdown_table(Table("final", "Final", columns, (("A|B*", "0.5"),))), end="")
    | agent | regret |
    |---|---:|
    | A\|B\* | 0.5 |
    """
    heads = [escaped(column.heading) for column in table.columns]
    marks = "".join("---:|" if column.kind == "number" else "---|" for column in table.columns)
    rows = [_row([_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join([_row(heads), f"|{marks}", *rows, ""])


def escaped(text: str) -> str:
    r"""Plain text on one line, with everything that would be a mark made plain.

    >>> escaped("a_b <i> [x] | `y`")
    'a\\_b &lt;i> \\[x\\] \\| \\`y\\`'
    """
    one_line = " ".join(text.split())
    marked = re.sub(r"([\\`*_\[\]|])", r"\\\1", one_line).replace("&", "&amp;")
    return marked.replace("<", "&lt;")


def _row(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _cell(content: Content) -> str:
    text = ""
    for piece in pieces(content):
        match piece:
            case str():
                text += _kept(piece)
            case Code() | Below():
                text += _code(piece.text)
            case Strong():
                text += f"**{escaped(piece.text)}**"
            case Aside():
                text += f" ({_kept(piece.text)})"
            case Link():
                text += f"[{escaped(piece.text)}]({piece.target})"
            case Key():
                text += escaped(piece.text)
    return text.strip()


def _kept(text: str) -> str:
    """Escaped, with the spaces at its ends, which may part it from what stands beside it."""
    before, after = " " * text.startswith(" "), " " * text.endswith(" ")
    return f"{before}{escaped(text)}{after}" if text.strip() else text


def _code(text: str) -> str:
    """Between more backticks than are within it; a bar must be escaped even there."""
    one_line = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", one_line)), default=0))
    air = " " if one_line.startswith("`") or one_line.endswith("`") else ""
    return f"{fence}{air}{one_line}{air}{fence}"
