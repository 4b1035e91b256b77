"""The text of a report: Markdown (CommonMark without images), written as HTML, as plain text and as LaTeX.

HTML in it is shown as it is written. ``*a remark*`` is muted, and ``***a warning***`` has the colour of warnings. In
LaTeX, commands are escaped and mathematical characters become commands; other letters stay in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from markupsafe import escape as escape_html

_BLANK: Final = re.compile(r"[^\S\xa0]+")
_HEADINGS: Final = ("heading_open", "heading_close")
_ESCAPED: Final = {character: rf"\{character}" for character in "{}$&#%_"}
_NAMED: Final = {"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum", '"': "textquotedbl"}
_FORMULAS: Final = {"<": "<", ">": ">", "|": "|", "−": "-", "‖": r"\|"}
_COMMANDS: Final = (
    "±pm ×times ≤le ≥ge ∞infty √surd αalpha βbeta γgamma δdelta εvarepsilon ηeta θtheta κkappa λlambda μmu ΓGamma ΨPsi"
)
_LATEX: Final = (
    _ESCAPED
    | {character: rf"\{name}{{}}" for character, name in _NAMED.items()}
    | {character: rf"\ensuremath{{{formula}}}" for character, formula in _FORMULAS.items()}
    | {character: rf"\ensuremath{{\{name}}}" for character, name in re.findall(r"(\S)(\w+)", _COMMANDS)}
    | {"—": "---", "–": "--", "\xa0": "~"}
)
_SUPERSCRIPTS: Final = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED: Final = str.maketrans(_SUPERSCRIPTS, "-0123456789")


def escape(text: str) -> str:
    r"""Write plain text as Markdown, on one line.

    Parameters
    ----------
    text : str
        Plain text, such as the name of an agent.

    Returns
    -------
    str
        Markdown that is shown as that text.

    Examples
    --------
    >>> from equipoise.reports import escape
    >>> print(escape("2 * 3 <b>"), escape("# 1"))
    2 \* 3 &lt;b> \# 1
    """
    return re.sub(r"^(\d*)(?=[-+>#=~.)])", r"\1\\", escape_marks(text))


def escape_marks(text: str) -> str:
    """Write plain text as Markdown that does not begin a line."""
    marked = re.sub(r"([\\`*_\[\]|])", r"\\\1", join_lines(text))
    return marked.replace("&", "&amp;").replace("<", "&lt;")


def code(text: str) -> str:
    """Write text as a program has it, as Markdown: between more backticks than are within it.

    Parameters
    ----------
    text : str
        Plain text.

    Returns
    -------
    str
        Markdown, on one line.

    Examples
    --------
    >>> from equipoise.reports import code
    >>> print(code("make demo"), code("a`b"))
    `make demo` ``a`b``
    """
    line = join_lines(text)
    fence = _fence(line, 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}" if line else ""


def write_code_block(text: str) -> str:
    """Write the lines of a file as Markdown."""
    fence = _fence(text, 3)
    return f"{fence}\n{text}\n{fence}"


def write_list(sentences: Iterable[str]) -> str:
    """Write plain sentences as a list in Markdown."""
    return "\n".join(f"- {escape(sentence)}" for sentence in sentences)


def _fence(text: str, shortest: int) -> str:
    return "`" * max([shortest, *(1 + len(run) for run in re.findall("`+", text))])


def join_lines(text: str) -> str:
    """Put text on one line; spaces that do not break stay."""
    return _BLANK.sub(" ", text).strip()


def render_markdown(text: str, level: int = 3) -> Markup:
    """Render Markdown as HTML, with headings of at least this level."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in _HEADINGS:
            token.tag = f"h{max(level, int(token.tag[1]))}"
    return _rendered(tokens)


def render_inline(text: str) -> Markup:
    """Render a line of Markdown as HTML."""
    return _rendered(_MARKDOWN.parseInline(text))


def _rendered(tokens: Sequence[Token]) -> Markup:
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def strip_markup(text: str) -> str:
    """Return the plain text of a line of Markdown."""
    (line,) = _MARKDOWN.parseInline(text)
    return join_lines("".join(token.content or " " * token.type.endswith("break") for token in line.children or ()))


def keep_formulas(text: str) -> str:
    """Keep formulas together: spaces around their signs do not break a line."""
    return re.sub(r" ([±×=<≤≥]) ", "\xa0\\1\xa0", text).replace(" %", "\xa0%")


def latex_text(text: str) -> str:
    """Write plain text as LaTeX, on one line."""
    escaped = "".join(_LATEX.get(character, character) for character in join_lines(text))
    return re.sub(f"[{_SUPERSCRIPTS}]+", lambda raised: f"\\textsuperscript{{{raised[0].translate(_RAISED)}}}", escaped)


def _write_text(_renderer: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    return str(escape_html(keep_formulas(tokens[index].content)))


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable("image")
_MARKDOWN.add_render_rule("text", _write_text)
_MARKDOWN.add_render_rule("hardbreak", lambda *_: "<br>")
