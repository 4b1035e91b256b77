"""The leaderboard as a page: the results of studies/leaderboard.toml, and of the peers' race.

    python -m benchmarks.leaderboard out/leaderboard out/peers.json docs/leaderboard.md

The race takes long, and nothing of ours changes it: if there are no results of it, the peers' rows stay as they
are on the page.

Regret is opt - g(average outcomes); times T it is in units of reward. Means are over seeds, and what follows ± is the
half-width of a 95 % interval (Student's). A ratio is one of means, and is left out where the mean below the line is not
larger than twice its own half-width: there the known model's regret is noise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import t as student

import equipoise as eq
from benchmarks.peers.__main__ import PACKAGE, VERSION
from equipoise.studies import make_plan, read_study
from equipoise.studies.plan import PlannedProblem, RunTask
from equipoise.studies.spec import override

KNOWN: Final = "known model"
BASE: Final = "Adaptive"
FIRST: Final = "recommended"
REGIONS: Final = (
    "Bernstein", "L1", "L1, Laplace", "EmpiricalBernstein", "Adaptive", "PosteriorSampling", "PosteriorSampling, 3",
    "Adaptive / 10",
)  # fmt: skip
THRESHOLDS: Final = ("Adaptive, Q ~ τ^-¼", "Adaptive, Q ~ span", "Adaptive, Q ~ τ^¼", "Adaptive, Q = ∞")
TOLERANCES: Final = ("Adaptive, ε = .1/√τ", "Adaptive, ε = 1/τ", "Adaptive, warm starts", FIRST)
RESTARTING: Final = ("worst user", "knapsack")  # whose oracle starts anew again and again
PEERS: Final = {"river 6": "riverswim-6", "river 20": "riverswim-20", "river 50": "riverswim-50", "random": "garnet-10"}
PEERS_AT: Final = 100_000
SCALAR: Final = "## Scalar problems, and peers"
STAR: Final = (
    eq.confidence.Bernstein(), eq.confidence.L1(), eq.confidence.L1("laplace"), eq.confidence.EmpiricalBernstein(),
    eq.confidence.Adaptive(), eq.confidence.PosteriorSampling(), eq.confidence.Scaled(eq.confidence.Adaptive(), 0.1),
)  # fmt: skip
RIVERS: Final[dict[str, Callable[[int], eq.confidence.Confidence]]] = {
    "EmpiricalBernstein": lambda _: eq.confidence.EmpiricalBernstein(),
    "Adaptive": lambda _: eq.confidence.Adaptive(),
    "PosteriorSampling": lambda seed: eq.confidence.PosteriorSampling(seed=seed),
}
RIVER_SEEDS: Final = 100
LUCK_SEEDS: Final = 1_000
SPEED_RUNS: Final = 9
STUDY: Final = Path(__file__).parents[1] / "studies" / "leaderboard.toml"
STAR_AT: Final = (1_000, 10_000, 100_000)

Vector = NDArray[np.float64]
Cell = Callable[[str, str], str]


class Board:
    """The numbers of the study, by problem and agent."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self.problems: list[str] = frame["problem"].unique(maintain_order=True).to_list()
        self.last = int(frame["t"].max())  # type: ignore[arg-type]

    def column(self, problem: str, agent: str, column: str, at: int) -> Vector:
        """One number a seed; empty if that agent did not meet that problem."""
        chosen = (pl.col("problem") == problem) & (pl.col("agent") == agent) & (pl.col("t") == at)
        found: Vector = self.frame.filter(chosen).sort("seed")[column].to_numpy().astype(np.float64)
        return found

    def regret(self, problem: str, agent: str) -> Vector:
        """At the end."""
        return self.column(problem, agent, "regret", self.last)

    def ratio(self, problem: str, agent: str, base: str) -> str:
        """Of mean regrets at the end."""
        above, below = self.regret(problem, agent), self.regret(problem, base)
        if not above.size:
            return ""
        clear = below.mean() > 2.0 * half_width(below)
        return f"{above.mean() / below.mean():.3g}" if clear else "–"


def half_width(x: Vector) -> float:
    """Of the 95 % interval of the mean."""
    return float(student.ppf(0.975, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else np.inf


def spread(x: Vector) -> str:
    """Mean and half-width, to whole numbers."""
    if not x.size:
        return ""
    mean = f"{round(x.mean()):,}"  # a whole number has no minus zero
    return f"{mean} ± {half_width(x):,.0f}" if x.size > 1 else mean


def small(x: Vector) -> str:
    """Mean and half-width, to three digits of the mean."""
    return f"{x.mean():.3g} ± {half_width(x):.1g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """In Markdown: so many columns of names to the left, and numbers to the right."""
    lines = [head, [*["---"] * names, *["---:"] * (len(head) - names)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def grid(problems: Sequence[str], agents: Sequence[str], cell: Cell) -> str:
    """Problems down, agents across."""
    return table(["problem", *agents], [[problem, *(cell(problem, agent) for agent in agents)] for problem in problems])


def regions(board: Board) -> str:
    """What each region costs."""
    seeds = board.regret(board.problems[0], BASE).size
    known = {problem: small(board.regret(problem, KNOWN)) for problem in board.problems}

    def ratio(problem: str, agent: str) -> str:
        return known[problem] if agent == KNOWN else board.ratio(problem, agent, KNOWN)

    def cost(problem: str, agent: str) -> str:
        more = board.regret(problem, agent) - board.regret(problem, KNOWN)
        return spread(more * board.last)

    return f"""## Regions

Regret after {board.last:,} steps, {seeds} seeds: of the agent that knows the model, and as a multiple of it. Where its
regret is not clearly above zero there is no such multiple (–). One below 1 is no contradiction: knowing the model is
not knowing when best to alternate.

{grid(board.problems, [KNOWN, *REGIONS], ratio)}
What learning cost, in units of reward: T × (regret − regret of the agent that knows the model), paired by seeds.

{grid(board.problems, REGIONS, cost)}"""


def thresholds(board: Board) -> str:
    """What Q does."""
    problems = [problem for problem in board.problems if board.regret(problem, THRESHOLDS[0]).size]

    def episodes(problem: str, agent: str) -> str:
        return f"{board.column(problem, agent, 'episodes', board.last).mean():,.0f}"

    return f"""## Thresholds

`Adaptive` regions; regret as a multiple of that with Q = L.

{grid(problems, THRESHOLDS, lambda problem, agent: board.ratio(problem, agent, BASE))}
The number of episodes.

{grid(problems, [BASE, *THRESHOLDS], episodes)}"""


def tolerances(board: Board) -> str:
    """What the planner's tolerance does."""

    def cell(problem: str, agent: str) -> str:
        if not board.regret(problem, agent).size:
            return ""
        own, base = (board.column(problem, name, "seconds", board.last) for name in (agent, BASE))
        return f"{board.ratio(problem, agent, BASE)}, {own.mean() / base.mean():.2g}"

    return f"""## Tolerances, and warm starts

`Adaptive` regions; regret, and time, as multiples of those with the paper's 1/√τ from a start at zero. `{FIRST}`
starts from the last bias only where the doubling of visits ended an episode; for other rewards than smooth ones
({", ".join(RESTARTING)}) it is another agent, `MixtureUCRL2`.

{grid(board.problems, TOLERANCES, cell)}"""


def mixtures(board: Board) -> str:
    """What mixtures of policies do."""
    return f"""## Rewards that are not smooth

`{FIRST}` is `MixtureUCRL2` here; regret as a multiple of that of `TocUCRL2` with `Adaptive` regions.

{grid(RESTARTING, [FIRST], lambda problem, agent: board.ratio(problem, agent, BASE))}"""


def peers_of(runs: Sequence[dict[str, Any]], problem: str) -> list[list[str]]:
    """The peers' rows of a problem, from the results of their race."""
    rows = []
    same = [run for run in runs if run["problem"] == PEERS[problem] and run["steps"] == PEERS_AT]
    for learner in dict.fromkeys(run["learner"] for run in same):
        done = [run for run in same if run["learner"] == learner and run["status"] == "done"]
        if done:
            x = np.array([run["regret"][-1] for run in done])
            steps = sum(run["steps_done"] for run in done)
            seconds = sum(run["cpu_seconds"] for run in done)
            rows.append([problem, learner, spread(x), str(x.size), speed(steps, seconds)])
    return rows


def peers_on(text: str) -> dict[str, list[list[str]]]:
    """The peers' rows as they stand on the page, by problem: those whose agent is not written as code."""
    found: dict[str, list[list[str]]] = {}
    for line in text.partition(SCALAR)[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in PEERS and not cells[1].startswith("`"):
            found.setdefault(cells[0], []).append(cells)
    return found


def scalar(board: Board, peers: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """One outcome: ours and the peers'."""
    ours = [KNOWN, *REGIONS, FIRST]
    rows: list[Sequence[str]] = []
    for problem in PEERS:
        for agent in ours:
            x = board.column(problem, agent, "regret", PEERS_AT) * PEERS_AT
            rows.append([problem, f"`{agent}`", spread(x), str(x.size), own_speed(problem, agent)])
        rows += peers.get(problem, [])
    luck = round(deviation(), -1)
    return f"""{SCALAR}

Regret in units of reward after {PEERS_AT:,} steps: ours in `code`, the learners of {PACKAGE} {VERSION} in plain
letters, in an environment of their own on the same worlds (`make peers`). On a river the best policy itself has a
standard deviation of some {luck:.0f} a run. Speeds are steps a second of one process in runs of that length, plans
included.

{table(["problem", "agent", "regret", "seeds", "steps/s"], rows, names=2)}"""


def deviation() -> float:
    """What chance alone does to a run on a river of 6 states: the standard deviation, with the model known."""
    model, reward = eq.models.riverswim(6), eq.rewards.Linear([1.0])
    known = eq.confidence.Known(model)
    agents = [eq.TocUCRL2(model.space, reward, confidence=known, tolerance=1e-9) for _ in range(LUCK_SEEDS)]
    runs = [eq.simulate(model, agent, PEERS_AT, seed=seed, progress=False) for seed, agent in enumerate(agents)]
    return PEERS_AT * float(np.std([run.values[-1] for run in runs], ddof=1))


@cache
def short_runs() -> dict[tuple[str, str], list[tuple[PlannedProblem, RunTask]]]:
    """The runs of the study by problem and agent, but as long as the peers', and of few seeds."""
    plan = make_plan(override(read_study(STUDY), PEERS_AT, SPEED_RUNS), STUDY, ready=False)
    problems = {problem.name: problem for problem in plan.problems}
    found: dict[tuple[str, str], list[tuple[PlannedProblem, RunTask]]] = {}
    for run in plan.runs:
        found.setdefault((run.problem, run.agent), []).append((problems[run.problem], run))
    return found


def own_speed(problem: str, agent: str) -> str:
    """Of one of our agents, as the study describes it: the median, as a run takes milliseconds."""
    seconds = []
    for made, run in short_runs()[problem, agent]:
        one = run.make_agent(made.reward)
        seconds.append(eq.simulate(made.model, one, PEERS_AT, seed=run.seed, progress=False).seconds)
    return speed(PEERS_AT, float(np.median(seconds)))


def star() -> str:
    """The star by which the regions are judged; nothing there is random but the posterior's draws."""
    model, reward = eq.models.star(3, 4), eq.rewards.Quadratic([4 / 3] * 3)
    best = eq.solve(model, reward)
    known = eq.TocUCRL2(model.space, reward, threshold=1.0, confidence=eq.confidence.Known(model), tolerance=1e-9)
    agents = [known] + [eq.TocUCRL2(model.space, reward, threshold=1.0, confidence=one) for one in STAR]
    rows = []
    for agent in agents:
        run = eq.simulate(model, agent, STAR_AT[-1], checkpoints=STAR_AT, progress=True)
        name = KNOWN if agent is known else f"`{agent.confidence!r}`"
        rows.append([name, *(f"{regret:.3g}" for regret in run.regret(best))])
    return f"""## The star of the paper's claim

star(3, 4), g(w) = Σ w_k − (w_k − 1/3)²/2, Q = 1: regret after so many steps.

{table(["regions", *(f"{t:,}" for t in STAR_AT)], rows)}"""


def rivers() -> str:
    """The two rivers by which the regions are judged, over many seeds."""
    reward = eq.rewards.Linear([1.0])
    rows = []
    for name, make in RIVERS.items():
        row = [f"`{name}`"]
        for states in (6, 20):
            model = eq.models.riverswim(states)
            best = eq.solve(model, reward)
            agents = [eq.TocUCRL2(model.space, reward, confidence=make(seed)) for seed in range(RIVER_SEEDS)]
            runs = [eq.simulate(model, agent, PEERS_AT, seed=seed) for seed, agent in enumerate(agents)]
            row.append(spread(PEERS_AT * np.array([run.regret(best)[-1] for run in runs])))
        rows.append(row)
    return f"""## Two rivers

Regret in units of reward after {PEERS_AT:,} steps, {RIVER_SEEDS} seeds.

{table(["regions", "6 states", "20 states"], rows)}"""


def speed(steps: int, seconds: float) -> str:
    return f"{steps / seconds:,.0f}"


def page(board: Board, peers: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """All of it."""
    parts = [
        regions(board),
        thresholds(board),
        tolerances(board),
        mixtures(board),
        star(),
        rivers(),
        scalar(board, peers),
    ]
    return f"""# Leaderboard

What each choice of [regions, thresholds and tolerances](confidence.md) is worth. The study is
`studies/leaderboard.toml`; `make leaderboard` runs it and writes this page (Equipoise {eq.__version__}).
`PosteriorSampling` is without a proof here, `Adaptive / 10` is `Scaled(Adaptive(), 0.1)`, which is not covered by the
guarantee; all others hold the truth with probability 0.95.

""" + "\n".join(parts)


def main() -> None:
    folder, race, target = map(Path, sys.argv[1:4])
    if race.exists():
        runs = json.loads(race.read_text())["runs"]
        peers = {problem: peers_of(runs, problem) for problem in PEERS}
    else:
        peers = peers_on(target.read_text(encoding="utf-8"))
    target.write_text(page(Board(eq.load_results(folder)), peers), encoding="utf-8")


if __name__ == "__main__":
    main()
