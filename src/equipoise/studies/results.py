"""What a folder holds when a study has run: one tidy table, the optima, and all that is not as it should be.

The table has one row per run and checkpoint:

| column | type | meaning |
|---|---|---|
| problem, agent | str | their names in the study |
| seed | int | of the environment |
| run | str | the run's id |
| t | int | steps taken |
| outcomes | list of float | the average outcome vector of the first t steps |
| value | float | g of it, for the problem's reward; without the penalty, if that has constraints |
| optimum, regret | float | opt(P_M), and optimum - value; null when the offline program has no certified answer |
| certified | float | upper bound on the regret, proven from the run alone (`Certificate`); null if nothing is proven |
| episodes | int | begun so far |
| gradient, visits, both, restart | int | ended so far, by what ended them |
| sweeps | int | of the planner so far |
| steps, seconds | int, float | of the whole run, compilation apart |
| violations | list of float | of each constraint of the problem; only if some problem of the study has some |

A second table has what agents with known dynamics have learnt, with one row per run and value of a distribution:

| column | type | meaning |
|---|---|---|
| problem, agent | str | their names in the study |
| seed | int | of the environment |
| law, value | str | of the mechanics, as they are written |
| visits | int | how often the law was seen by the end of the run |
| estimate | float | the share of these in which it had the value; null if it was never seen |
| low, high | float | the region of the agent at the end: equal where it is a point, such as a law that was drawn |
| truth | float | the true probability; null for a conditional law that never comes into play |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from equipoise._checks import check_float
from equipoise.errors import ParameterError

if TYPE_CHECKING:
    import polars

LAW_NUMBERS: Final = ("estimate", "low", "high", "truth")  # the columns of numbers in the table of laws
WITHIN: Final = 0.01  # the regret that is to be certified, where a study does not say


INFEASIBLE: Final = "infeasible"
"""How the status of an optimum begins where the constraints cannot be met; then those in conflict are named."""


def label_agent(name: str, caveat: str) -> str:
    """Return an agent's name with its caveat, as it is shown with its results."""
    return f"{name} — {caveat}" if caveat else name


def make_law_frame(rows: Iterable[tuple[Any, ...]] = ()) -> polars.DataFrame:
    """Make the table of laws from its rows."""
    import polars

    schema: dict[str, Any] = dict.fromkeys(("problem", "agent", "seed", "law", "value", "visits"), polars.String)
    schema |= dict.fromkeys(("seed", "visits"), polars.Int64) | dict.fromkeys(LAW_NUMBERS, polars.Float64)
    return polars.DataFrame(list(rows), schema=schema, orient="row")


def make_result_frame() -> polars.DataFrame:
    """Make the table of a study of which nothing has been run."""
    import polars

    text, number = polars.String, polars.Float64
    names = "problem agent seed run t outcomes value optimum regret certified episodes gradient visits both restart"
    schema: dict[str, Any] = dict.fromkeys([*names.split(), "sweeps", "steps", "seconds"], polars.Int64)
    schema |= {"problem": text, "agent": text, "run": text, "outcomes": polars.List(number)}
    schema |= dict.fromkeys(("value", "optimum", "regret", "certified", "seconds"), number)
    return polars.DataFrame(schema=schema)


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
    """A problem of the study: how it is called, what it is, and its optimum if that could be had."""

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
        """Outcome k by its label, or by its number if it has none."""
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
        return label_agent(self.name, self.caveat)


@dataclass(frozen=True)
class Guarantee:
    """The explicit bound on the regret of an agent on a problem."""

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
    name, toml, description : str
        Of the study, and its full specification as TOML.
    problems, agents : tuples of records
        In the order of the study.
    frame : polars.DataFrame
        See `equipoise.studies.results`; sorted by problem, agent (in the order of the study), seed and t.
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
    planned : frozenset
        The pairs (problem, agent) that meet in the study.
    guarantees : dict
        (problem, agent) to the explicit bound on its regret, if there is one.
    certified_within : float
        The regret that is to be certified: agents are compared by the time from which on it is.
    laws : polars.DataFrame
        The table of learnt distributions: see `equipoise.studies.results`.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"problem": ["star"], "agent": ["A"], "seed": [0], "t": [100], "regret": [0.1]})
    >>> results = Results("tiny", agents=(AgentRecord("A", "RoundRobin()"),), frame=frame, missing=1)
    >>> results.frame["regret"].to_list(), results.missing
    ([0.1], 1)
    """

    name: str
    toml: str = ""
    problems: tuple[ProblemRecord, ...] = ()
    agents: tuple[AgentRecord, ...] = ()
    frame: polars.DataFrame = field(default_factory=make_result_frame)
    rates: dict[tuple[str, str], float] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    missing: int = 0
    damaged: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    description: str = ""
    planned: frozenset[tuple[str, str]] = frozenset()
    guarantees: dict[tuple[str, str], Guarantee] = field(default_factory=dict)
    certified_within: float = WITHIN
    laws: polars.DataFrame = field(default_factory=make_law_frame)


def steps_until_certified(frame: polars.DataFrame, within: float) -> polars.DataFrame:
    """Find for each run the number of steps until its regret was certified to be small.

    One row per run, in the order of the frame: problem, agent, seed, run; `proves`, whether it has a certificate at
    all; `first`, the first checkpoint at which the certified regret is at most `within`; and `since`, the one from
    which on it stays so (it may rise again after `first`). Both are null if there is none.

    Parameters
    ----------
    frame : polars.DataFrame
        From `load_results`.
    within : float
        The regret to be certified, above 0.

    Returns
    -------
    polars.DataFrame
        One row per run: the columns that are listed above.

    Examples
    --------
    >>> import polars
    >>> rows = [(10, 0.5), (100, 0.009), (1000, 0.02), (10_000, 0.003)]
    >>> frame = polars.DataFrame(rows, schema=["t", "certified"], orient="row").with_columns(
    ...     problem=polars.lit("star"), agent=polars.lit("A"), seed=0, run=polars.lit("8f3a"))
    >>> steps_until_certified(frame, 0.01).select("proves", "first", "since").rows()
    [(True, 100, 10000)]
    >>> steps_until_certified(frame, 0.001).select("proves", "first", "since").rows()
    [(True, None, None)]
    """
    import polars as pl

    amount = regret_to_certify(within)
    enough = pl.col("certified").is_finite().fill_null(value=False) & (pl.col("certified") <= amount)
    later = enough.sort_by("t").reverse().cast(pl.Int8).cum_min().reverse().cast(pl.Boolean)
    return frame.group_by("problem", "agent", "seed", "run", maintain_order=True).agg(
        proves=pl.col("certified").is_finite().fill_null(value=False).any(),
        first=pl.col("t").filter(enough).min(),
        since=pl.col("t").sort().filter(later).min(),
    )


def regret_to_certify(amount: float) -> float:
    """A regret that can be certified: a number above 0."""
    number = check_float(amount, "certified within", error=ParameterError)
    if not 0.0 < number < math.inf:
        raise ParameterError(f"certified within: got {amount}; a number above 0 is needed")
    return number
