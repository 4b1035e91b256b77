"""What a folder holds when a study has run: one tidy table, the optima, and all that is not as it should be.

The table has one row a run and checkpoint:

| column | type | meaning |
|---|---|---|
| problem, agent | str | their names in the study |
| seed | int | of the world |
| run | str | the run's id |
| t | int | steps taken |
| outcomes | list of float | the average outcome vector of the first t steps |
| value | float | g of it, for the problem's reward; without the penalty, if that has constraints |
| optimum, regret | float | opt(P_M), and optimum - value; null when the offline program has no certified answer |
| certified | float | what is lost at most, proven from the run alone (`Certificate`); null if nothing is proven |
| episodes | int | begun so far |
| gradient, visits, both, restart | int | ended so far, by what ended them |
| sweeps | int | of the planner so far |
| steps, seconds | int, float | of the whole run, compilation apart |
| violations | list of float | what each constraint of the problem lacks; only if some problem of the study has some |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from equipoise.studies.learnt import no_laws

if TYPE_CHECKING:
    import polars

WITHIN: Final = 0.01
"""The regret that is to be certified, where a study does not say."""


INFEASIBLE: Final = "infeasible"
"""How the status of an optimum begins where the constraints cannot be met; then those in conflict are named."""


def labelled(name: str, caveat: str) -> str:
    """An agent's name, with what is to be said wherever its results are shown.

    >>> labelled("PSRL", "without a proof here"), labelled("TOC-UCRL2", "")
    ('PSRL — without a proof here', 'TOC-UCRL2')
    """
    return f"{name} — {caveat}" if caveat else name


@dataclass(frozen=True)
class Optimum:
    """The offline optimum of a problem, as stored: `Benchmark` without the arrays over states and pairs."""

    value: float
    dual_value: float
    gap: float
    status: str  # "optimal", or what is wrong
    outcomes: tuple[float, ...]
    theta: tuple[float, ...]
    solver: str
    seconds: float
    multipliers: dict[str, float] = field(default_factory=dict)  # of the constraints, by their names
    violations: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ProblemRecord:
    """A problem of the study: how it is called, what it is, and its optimum if that could be had.

    Attributes
    ----------
    name : str
        In the study.
    world, reward : str
        In words of the study file, e.g. star(branches=3, diameter=4).
    n_states, n_pairs, n_outcomes : int
        Its size.
    optimum : Optimum or None
        None if it could not be had.
    outcome_labels : sequence of str or None
        What the outcomes are called; None if they have numbers only, as in the results of earlier versions.
    constraints : sequence of str
        The names of its constraints.
    prices : sequence of float
        What a unit of each violation costs, in units of the value.
    """

    name: str
    world: str
    reward: str
    n_states: int
    n_pairs: int
    n_outcomes: int
    optimum: Optimum | None
    outcome_labels: Sequence[str] | None = None
    constraints: Sequence[str] = ()
    prices: Sequence[float] = ()

    def outcome_name(self, k: int) -> str:
        """Outcome k by its label, or by its number if it has none.

        >>> ProblemRecord("p", "star", "Linear", 4, 9, 2, None, ["fill", "waste"]).outcome_name(1)
        'waste'
        """
        return str(k) if self.outcome_labels is None else self.outcome_labels[k]


@dataclass(frozen=True)
class AgentRecord:
    """An agent of the study: how it is called, how it is made, e.g. TocUCRL2(threshold=1.0), and what to beware of."""

    name: str
    made: str
    caveat: str = ""  # such as that no guarantee covers it
    certainty: float | None = None  # the probability with which its certificates hold, if it has some

    @property
    def label(self) -> str:
        """Its name, with its caveat."""
        return labelled(self.name, self.caveat)


@dataclass(frozen=True)
class Guarantee:
    """The explicit bound on the regret of an agent on a problem.

    Attributes
    ----------
    probability : float
        With which it holds, for all t at once.
    largest : float
        L ||1_K||: no regret is larger, whatever the agent does.
    bounds : tuple
        (t, the bound at t) for every checkpoint; empty if the world is too large for its diameter to be computed.
    telling : int or None
        The time from which on the bound is below `largest`, and so says something; None if it is not, up to `limit`.
    limit : int
        10^18, or the steps that the agent is made for.
    """

    probability: float
    largest: float
    bounds: tuple[tuple[int, float], ...]
    telling: int | None
    limit: int


@dataclass(frozen=True)
class Failure:
    """A run that ended in an error."""

    problem: str
    agent: str
    seed: int
    error: str


@dataclass(frozen=True, eq=False)
class Results:
    """Everything a report needs.

    Attributes
    ----------
    name, toml : str
        Of the study, and its full specification as TOML.
    problems, agents : tuples of records
        In the order of the study.
    frame : polars.DataFrame
        See the module; sorted by problem, agent (in the order of the study), seed and t.
    rates : dict
        (problem, agent) to the exponent of the theorem's bound on its regret (-1/2 or -1/3), if a theorem covers it.
    failures : tuple of Failure
        Runs that ended in an error.
    missing : int
        Runs of the study that have no result and no failure yet.
    damaged : tuple of str
        Files that were not read, each with the reason.
    versions : tuple of str
        Of Equipoise, that made these results.
    description : str
        Of the study.
    planned : frozenset
        The pairs (problem, agent) that meet in the study.
    guarantees : dict
        (problem, agent) to the explicit bound on its regret, if there is one.
    certified_within : float
        The regret that is to be certified: agents are compared by the steps until it is.
    laws : polars.DataFrame
        What agents that were told mechanics have learnt of the laws, beside the truth: see `equipoise.studies.learnt`.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"problem": ["star"], "agent": ["A"], "seed": [0], "t": [100], "regret": [0.1]})
    >>> problem = ProblemRecord("star", "star()", "BottomSum(kappa=1)", 7, 15, 3, optimum=None)
    >>> results = Results(name="tiny", toml="", problems=(problem,), agents=(AgentRecord("A", "RoundRobin()"),),
    ...                   frame=frame, rates={}, failures=(), missing=1, damaged=(), versions=("0.1",))
    >>> results.frame["regret"].to_list(), results.missing
    ([0.1], 1)
    """

    name: str
    toml: str
    problems: tuple[ProblemRecord, ...]
    agents: tuple[AgentRecord, ...]
    frame: polars.DataFrame
    rates: dict[tuple[str, str], float]
    failures: tuple[Failure, ...]
    missing: int
    damaged: tuple[str, ...]
    versions: tuple[str, ...]
    description: str = ""
    planned: frozenset[tuple[str, str]] = frozenset()
    guarantees: dict[tuple[str, str], Guarantee] = field(default_factory=dict)
    certified_within: float = WITHIN
    laws: polars.DataFrame = field(default_factory=no_laws)
