"""What a check of the paper says: a statement, what was measured against it, and the verdict.

A `Finding` sets one measured number against the bound that the paper gives for it. If the number is an estimate, it has
an `error` (the half-width of a confidence interval at 99.9 %), and the finding fails only if the bound lies beyond it.
What the theory promises for large T only, and was not seen yet at the T that was run, is a finding that is not
`reached`: it is shown and counted, and neither holds nor fails.

A finding belongs to one version of the statement: as it is printed, or as it is corrected. What both versions say is
found once, for the corrected one. So the verdict on a version is that on all of its findings:

    no correction                    all findings of the printed version must hold;
    the printed version is false     all of the corrected one must hold, and one of the printed one must fail: the
                                     counterexample, without which nothing would speak for the correction;
    the printed version is true,     all findings of both must hold.
    the corrected one is sharper
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
    """How much work a check may do: on two cores all quick ones under three minutes, all full ones under half an hour.

    >>> Size("full") is Size.FULL
    True
    """

    QUICK = "quick"
    FULL = "full"

    def pick(self, quick: int, full: int) -> int:
        """A number for either size.

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
        What ``python -m paper NAME`` runs: the module's name, with hyphens.
    number : str
        As the paper counts, e.g. "Theorem 2.2".
    title, says : str
        In a few words, and as a formula.
    correction : str
        What is true instead; empty if it holds as written.
    erratum : int or None
        Its number in docs/paper.md.
    sharpened : bool
        Whether it holds as written too, and the correction is a sharper form of it.

    >>> from paper.catalogue import CHECKS
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
    sharpened: bool = False


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
    def share(self) -> float | None:
        """How much of the bound is used, 1 being all of it; None if there is no upper bound above 0."""
        return self.measured / self.bound if self.relation == "<=" and self.bound > 0.0 else None

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

    >>> statement = Statement("mine", "Lemma 1", "It is small", "x <= 1", correction="x <= 2")
    >>> above, below = Finding("star", 1.5, 1.0), Finding("star", 1.5, 2.0)
    >>> Checked(statement, (above,), corrected=(below,)).verdict
    'holds as corrected'
    >>> Checked(statement, (above,), corrected=(below, Finding("ring", 2.5, 2.0))).verdict
    'fails'
    """

    statement: Statement
    written: tuple[Finding, ...]
    corrected: tuple[Finding, ...] = ()
    pictures: tuple[Picture, ...] = ()

    def __post_init__(self) -> None:
        name = self.statement.name
        if bool(self.corrected) != bool(self.statement.correction):
            raise ValueError(f"{name}: a correction and its findings must come together")
        shared = [finding.instance for finding in self.corrected if finding in self.written]
        if shared:
            raise ValueError(f"{name}: {shared[0]!r} is a finding of both versions; it must belong to one")

    @property
    def verdict(self) -> str:
        """Of all findings: "holds", "holds as corrected", "fails", or "not reached" if nothing could be decided."""
        written, corrected = _together(self.written), _together(self.corrected)
        if not self.corrected:
            return written
        if self.statement.sharpened:
            return _together((*self.written, *self.corrected))
        if written != "fails" and corrected == "holds":
            return "fails"  # nothing refutes what is written
        return "holds as corrected" if corrected == "holds" else corrected

    def count(self, verdict: str) -> int:
        """How many of the findings that the verdict rests on are so: the refutations of a false version are not."""
        counted = self.corrected if self.corrected and not self.statement.sharpened else self.written + self.corrected
        return sum(finding.verdict == verdict for finding in counted)

    @property
    def tally(self) -> str:
        """The counts in words, e.g. "12 hold, 1 fails, 2 not reached"."""
        hold, fail, missed = (self.count(verdict) for verdict in ("holds", "fails", "not reached"))
        words = [f"{hold} hold{'s' * (hold == 1)}" * (hold > 0), f"{fail} fail{'s' * (fail == 1)}" * (fail > 0)]
        return ", ".join(filter(None, [*words, f"{missed} not reached" * (missed > 0)]))


def _together(findings: Sequence[Finding]) -> str:
    """Of one version: it fails if any does; what is not reached is left out, unless there is nothing else."""
    verdicts = {finding.verdict for finding in findings}
    if "fails" in verdicts:
        return "fails"
    return "holds" if "holds" in verdicts else "not reached"


def nearest(findings: Sequence[Finding]) -> Finding:
    """The finding that comes nearest to its bound, or is furthest beyond it.

    >>> nearest([Finding("a", 0.1, 1.0), Finding("b", 0.9, 1.0)]).instance
    'b'
    """

    def spare(finding: Finding) -> float:
        sign = 1.0 if finding.relation == "<=" else -1.0
        margin = sign * (finding.bound - finding.measured) + finding.error
        return margin / max(abs(finding.bound), abs(finding.measured), _TINY)

    return min(findings, key=lambda finding: (not finding.reached, spare(finding)))


Check = Callable[[Size], Checked]
