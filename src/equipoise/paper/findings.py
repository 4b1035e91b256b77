"""What a check of the paper says: a statement, what was measured against it, and the verdict.

A `Finding` sets one measured number against the bound that the paper gives for it. If the number is an estimate, it has
an `error` (the half-width of a confidence interval at 99.9 %), and the finding fails only if the bound lies beyond it.
What the theory promises for large T only, and was not seen yet at the T that was run, is a finding that is not
`reached`: it is shown, and counts for nothing.

A statement that is wrong as written has findings for what is written, which fail, and for its correction, which hold.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, final

_TINY: Final = 1e-300  # in the place of zero, where a difference is divided by the numbers that it is of
LEVEL: Final = 0.999
"""Of the interval around every number that is an estimate."""


@final
class Size(enum.Enum):
    """How much work a check may do: all quick ones together under two minutes, all full ones under an hour.

    Examples
    --------
    >>> Size("full") is Size.FULL
    True
    """

    QUICK = "quick"
    FULL = "full"

    def pick(self, quick: int, full: int) -> int:
        """A number for either size.

        Parameters
        ----------
        quick, full : int
            What a check wants of either.

        Examples
        --------
        >>> Size.QUICK.pick(10, 1000)
        10
        """
        return quick if self is Size.QUICK else full


@final
@dataclass(frozen=True)
class Statement:
    """Something that the paper says.

    Attributes
    ----------
    name : str
        What ``equipoise paper NAME`` runs: that of the module, with hyphens.
    number : str
        As the paper counts, e.g. "Theorem 2.2".
    title, says : str
        In a few words, and as a formula.
    correction : str
        What is true instead; empty if it holds as written.
    erratum : int or None
        Its number in docs/paper.md.

    Examples
    --------
    >>> from equipoise.paper import CHECKS
    >>> slack = Statement("benchmark", "Theorem 2.2", "The optimum is one", "E[g] - opt <= 2 L D ||1|| / T")
    >>> slack.name in CHECKS, slack.correction
    (True, '')
    """

    name: str
    number: str
    title: str
    says: str
    correction: str = ""
    erratum: int | None = None


@final
@dataclass(frozen=True)
class Finding:
    """A number that was measured, and what it must not be above (or below).

    Attributes
    ----------
    instance : str
        Where it was measured.
    measured, bound : float
        The number, and what it is compared with.
    relation : "<=" or ">="
        How the number should stand to the bound.
    error : float
        What is allowed for chance or rounding, in favour of the statement.
    reached : bool
        Whether the measurement went far enough to decide.
    note : str
        What the number is, if that needs a word.

    Examples
    --------
    >>> Finding("star", measured=0.3, bound=0.5).verdict, Finding("star", 0.6, 0.5, error=0.2).verdict
    ('holds', 'holds')
    >>> Finding("star", 0.3, 0.5, relation=">=").verdict
    'fails'
    """

    instance: str
    measured: float
    bound: float
    relation: Literal["<=", ">="] = "<="
    error: float = 0.0
    reached: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether it holds: "holds", "fails" or "not reached"."""
        if not self.reached:
            return "not reached"
        if self.relation == "<=":
            return "holds" if self.measured - self.error <= self.bound else "fails"
        return "holds" if self.measured + self.error >= self.bound else "fails"


@final
@dataclass(frozen=True, eq=False)
class Picture:
    """A chart and what it shows.

    Attributes
    ----------
    title : str
        Above the chart.
    caption : str
        Below it.
    chart : dict
        A Vega-Lite specification, which leaves width and colours to the page.

    Examples
    --------
    >>> Picture("Regret", "It falls.", {"mark": "line"}).chart["mark"]
    'line'
    """

    title: str
    caption: str
    chart: dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class Checked:
    """What came of a check.

    Attributes
    ----------
    statement : Statement
        What was checked.
    written : tuple of Finding
        The statement as it is written.
    corrected : tuple of Finding
        Its correction; empty if it needs none.
    pictures : tuple of Picture
        What it looks like.

    Examples
    --------
    >>> statement = Statement("mine", "Lemma 1", "It is small", "x <= 1", correction="x <= 2")
    >>> above, below = Finding("star", 1.5, 1.0), Finding("star", 1.5, 2.0)
    >>> Checked(statement, (above,)).verdict, Checked(statement, (above,), corrected=(below,)).verdict
    ('fails', 'holds as corrected')
    """

    statement: Statement
    written: tuple[Finding, ...]
    corrected: tuple[Finding, ...] = ()
    pictures: tuple[Picture, ...] = ()

    @property
    def verdict(self) -> str:
        """Of all findings: "holds", "holds as corrected", "fails", or "not reached" if nothing could be decided."""
        counted = [finding.verdict for finding in self.written if finding.reached]
        if not counted and not self.corrected:
            return "not reached"
        if self.corrected and any(finding.verdict == "fails" for finding in self.corrected):
            return "fails"
        if all(verdict == "holds" for verdict in counted):
            return "holds"
        return "holds as corrected" if self.corrected else "fails"


def nearest(findings: Sequence[Finding]) -> Finding:
    """The finding that comes nearest to its bound, or is furthest beyond it.

    Parameters
    ----------
    findings : sequence of Finding
        At least one; those that were not reached come last.

    Examples
    --------
    >>> nearest([Finding("a", 0.1, 1.0), Finding("b", 0.9, 1.0)]).instance
    'b'
    """

    def spare(finding: Finding) -> float:
        sign = 1.0 if finding.relation == "<=" else -1.0
        margin = sign * (finding.bound - finding.measured) + finding.error
        return margin / max(abs(finding.bound), abs(finding.measured), _TINY)

    return min(findings, key=lambda finding: (not finding.reached, spare(finding)))


Check = Callable[[Size], Checked]
