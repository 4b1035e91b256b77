r"""What stands within a line: plain text, and the few pieces of it that look different.

A `Content` is a string, a piece, or several of them in a row. All of it is plain text: the page escapes it, and so do
the writers of tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from equipoise.reports.drawing.theme import LIGHT, dash

_RULE: Final = (5, 3)


@dataclass(frozen=True)
class Code:
    """Text as a program has it.

    Attributes
    ----------
    text : str
        Shown as it is.

    Examples
    --------
    >>> from equipoise.reports import Text
    >>> Text(("Run ", Code("make demo"), " again."))
    Text(text=('Run ', Code(text='make demo'), ' again.'), kind='plain')
    """

    form: ClassVar = "code"
    text: str


@dataclass(frozen=True)
class Strong:
    """Text that stands out.

    Attributes
    ----------
    text : str
        Shown bold.
    bad : bool
        Whether it tells of something that is not as it should be.

    Examples
    --------
    >>> from equipoise.reports import Text
    >>> Text((Strong("3 runs failed", bad=True), "."))
    Text(text=(Strong(text='3 runs failed', bad=True), '.'), kind='plain')
    """

    form: ClassVar = "strong"
    text: str
    bad: bool = False


@dataclass(frozen=True)
class Aside:
    """A remark on a line of its own, muted.

    Attributes
    ----------
    text : str
        The remark.

    Examples
    --------
    >>> from equipoise.reports import Text
    >>> Text(("Paired by seed.", Aside("One seed is missing.")))
    Text(text=('Paired by seed.', Aside(text='One seed is missing.')), kind='plain')
    """

    form: ClassVar = "aside"
    text: str


@dataclass(frozen=True)
class Below:
    """What follows, on a line of its own.

    Attributes
    ----------
    inside : Code
        What stands there.
    """

    form: ClassVar = "below"
    inside: Code

    @property
    def text(self) -> str:
        """The plain text of it."""
        return self.inside.text


@dataclass(frozen=True)
class Link:
    """A reference to a section of the same page, or in Markdown to another.

    Attributes
    ----------
    text : str
        What is shown.
    target : str
        ``#`` and the anchor of a section; in Markdown an address.

    Examples
    --------
    >>> from equipoise.reports import Text
    >>> Text(("See ", Link("the star", "#problem-0"), "."))
    Text(text=('See ', Link(text='the star', target='#problem-0'), '.'), kind='plain')
    """

    form: ClassVar = "link"
    text: str
    target: str


@dataclass(frozen=True)
class Key:
    """A name with the colour that it has in the charts: an entry of a legend, or an agent in a table.

    Attributes
    ----------
    text : str
        The name.
    colour : str
        Of the page: "agent-0" to "agent-7", "trigger-0" to "trigger-3", "ink" or "muted".
    dashes : tuple of int
        The pattern of the line; empty for a solid one.
    shape : "line" or "square"
        Of the sample beside the name.

    Examples
    --------
    >>> Key.agent(0, "TOC-UCRL2")
    Key(text='TOC-UCRL2', colour='agent-0', dashes=(), shape='line')
    """

    form: ClassVar = "key"
    text: str
    colour: str
    dashes: tuple[int, ...] = ()
    shape: Literal["line", "square"] = "line"

    @classmethod
    def agent(cls, place: int, label: str) -> Key:
        """The key of an agent.

        Parameters
        ----------
        place : int
            Of the agent in the study, from 0; it decides the colour and the dashes.
        label : str
            The name to show.

        Examples
        --------
        >>> Key.agent(9, "mine")
        Key(text='mine', colour='agent-1', dashes=(7, 3), shape='line')
        """
        return cls(label, f"agent-{place % len(LIGHT)}", dash(place))

    @classmethod
    def rule(cls, colour: Literal["ink", "muted"], text: str) -> Key:
        """The key of a dashed line.

        Parameters
        ----------
        colour : "ink" or "muted"
            Of the line.
        text : str
            The name to show.
        """
        return cls(text, colour, _RULE)

    @classmethod
    def trigger(cls, index: int, text: str) -> Key:
        """The key of what ended an episode.

        Parameters
        ----------
        index : int
            Its place in the list of reasons.
        text : str
            The name to show.
        """
        return cls(text, f"trigger-{index}", shape="square")


Piece: TypeAlias = str | Code | Strong | Aside | Below | Link | Key
PIECES: Final = (str, Code, Strong, Aside, Below, Link, Key)
Content: TypeAlias = Piece | tuple[Piece, ...]


def pieces(content: Content) -> tuple[Piece, ...]:
    """The pieces of a content, in order."""
    return content if isinstance(content, tuple) else (content,)


def plain(content: Content) -> str:
    """A content as plain text, on one line.

    >>> plain(("made by ", Code("f(x)"), Aside("a remark")))
    'made by f(x) (a remark)'
    """
    text = ""
    for piece in pieces(content):
        match piece:
            case str():
                text += piece
            case Aside():
                text += f" ({piece.text})"
            case Below():
                text += f": {piece.text}"
            case _:
                text += piece.text
    return " ".join(text.split())


def prose(text: str) -> str:
    r"""A sentence with formulas that do not break at the end of a line.

    >>> prose("at t = 10: 1 ± 2, p < 0.1")
    'at t\xa0=\xa010: 1\xa0±\xa02, p\xa0<\xa00.1'
    """
    return re.sub(r" ([±×=<≤≥]) ", "\xa0\\1\xa0", text).replace(" %", "\xa0%")
