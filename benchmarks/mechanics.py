"""What it is worth to tell an agent the mechanics of its system: writes the measured part of docs/mechanics.md.

    python -m benchmarks.mechanics                                # the whole study: 20 seeds, 10^6 steps
    python -m benchmarks.mechanics --steps 10000 --seeds 2 --out /tmp/mechanics.md   # a try

The study is studies/mechanics.toml; its results are kept in out/mechanics, so that it can be interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

import equipoise as eq
from benchmarks.leaderboard import table
from equipoise._files import write_bytes
from equipoise.confidence.fill import region_of
from equipoise.models.laws.laws import Laws
from equipoise.planning.evi import plan_over_laws
from equipoise.planning.laws import LawWork
from equipoise.studies import load_results, read_study, run_study
from equipoise.studies.spec import changed

ROOT: Final = Path(__file__).parents[1]
STUDY: Final = ROOT / "studies" / "mechanics.toml"
PAGE: Final = ROOT / "docs" / "mechanics.md"
MARK: Final = "## Measured\n"
TIMES: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
NOISE: Final = 1e-4  # a regret below that is mostly chance, and no ratio is taken of it
ROUNDS: Final = 7
SPEED_STEPS: Final = 300_000


def regrets(frame: pl.DataFrame) -> str:
    """Mean regret of each agent on each problem."""
    times = [t for t in TIMES if t in set(frame["t"].to_list())]
    rows: list[list[str]] = []
    for (problem, agent), part in frame.group_by("problem", "agent", maintain_order=True):
        means = part.group_by("t").agg(pl.col("regret").mean(), pl.col("certified").mean())
        by_time = {t: (regret, certified) for t, regret, certified in means.rows()}
        cells = [_cell(*by_time[t]) for t in times]
        rows.append([str(problem), str(agent), *cells])
    return table(["problem", "told", *(f"{t:,}" for t in times)], rows)


def _cell(regret: float, certified: float | None) -> str:
    return f"{regret:.2g}" if certified is None else f"{regret:.2g} / {certified:.2g}"


def ratios(frame: pl.DataFrame) -> str:
    """How far from the known model, and how much below the table."""
    rows: list[list[str]] = []
    for problem in frame["problem"].unique(maintain_order=True).to_list():
        part = frame.filter(pl.col("problem") == problem)
        mean = {
            (agent, t): regret for agent, t, regret in part.group_by("agent", "t").agg(pl.col("regret").mean()).rows()
        }
        times = sorted({t for _, t in mean if t >= 1_000})
        told, known = ({t: mean[agent, t] for t in times} for agent in ("mechanics", "known"))
        above = [(told[t] / known[t], t) for t in times if min(told[t], known[t]) > NOISE]
        worst = max(above, default=None)
        at = 10_000 if 10_000 in times else times[-1]
        below = mean["table", at] / max(mean["mechanics", at], NOISE)
        rows.append(
            [
                problem,
                "below 1e-4" if worst is None else f"{worst[0]:.2f} (t = {worst[1]:,})",
                f"{'at least ' if mean['mechanics', at] < NOISE else ''}{below:.1f}",
            ]
        )
    return table(["problem", "mechanics / known, at most, from 1,000 on", "table / mechanics at 10,000"], rows)


def lines() -> eq.Mechanics:
    """Two lines with room for three, and one server; whether somebody comes to either is unknown."""

    def step(waiting: tuple[int, int], serve: int, first: int, second: int) -> tuple[tuple[int, int], list[float]]:
        served = [float(serve == k and waiting[k] > 0) for k in range(2)]
        left = [waiting[k] - int(served[k]) for k in range(2)]
        return (min(3, left[0] + first), min(3, left[1] + second)), served

    usual = {"first": [0.5, 0.5], "second": [0.6, 0.4]}
    return eq.Mechanics(step, (0, 0), [0, 1], ["first", "second"], {"first": [0, 1], "second": [0, 1]}, usual=usual)


class Step(NamedTuple):
    """A pair of mechanics: the laws of its noises, and what follows each combination."""

    laws: tuple[int, ...]
    next: np.ndarray
    row: np.ndarray


def _steps(laws: Laws, n_pairs: int) -> list[Step]:
    """Of mechanics whose noises are all seen and to be learnt."""
    sizes, arrays = tuple(len(support) for support in laws.supports), laws.arrays
    steps: list[Step] = []
    for pair in range(n_pairs):
        first, end = int(laws.first_case[pair]), int(laws.first_case[pair + 1])
        units = arrays.seen_unit[arrays.seen_first[first] : arrays.seen_first[first + 1]]
        cases = np.arange(first, end)
        steps.append(
            Step(tuple(units.tolist()), laws.case_next[cases].reshape(sizes), laws.case_row[cases].reshape(sizes))
        )
    return steps


def _best(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The probabilities within bounds at which the mean of x is largest."""
    order = np.argsort(-x, kind="stable")
    mass = low.copy()
    room = np.minimum(np.cumsum((high - low)[order]), max(0.0, 1.0 - low.sum()))
    mass[order] += np.diff(room, prepend=0.0)
    return mass


def _one_law(x: np.ndarray, bounds: Sequence[tuple[np.ndarray, np.ndarray]], rounds: int = 6) -> float:
    """The largest mean of x if every noise has one law, improved noise by noise from several starts."""
    best = -np.inf
    starts = itertools.product(*[(0, 1)] * len(bounds))
    for start in starts:
        ends = zip(start, bounds, strict=True)
        laws = [_best(np.arange(low.size) * (1.0 if last else -1.0), low, high) for last, (low, high) in ends]
        for _ in range(rounds):
            for j, (low, high) in enumerate(bounds):
                inner = x
                for i in range(len(bounds) - 1, -1, -1):
                    if i != j:
                        inner = np.tensordot(inner, laws[i], axes=([i], [0]))
                laws[j] = _best(inner, low, high)
        value = x
        for law in reversed(laws):
            value = value @ law
        best = max(best, float(value))
    return best


def nested(name: str, system: eq.Mechanics, reward: eq.rewards.Reward, steps: int) -> list[str]:
    """The bound with nested maxima, and with one law for each noise of a step, after so many steps."""
    model = system.model()
    agent = eq.TocUCRL2(system.space, reward, confidence=eq.confidence.Adaptive())
    eq.simulate(model, agent, steps)
    space, laws = system.space, system.space.laws
    assert laws is not None
    region = region_of(agent.confidence, space, agent.machine.counts, agent.t, agent.delta)
    theta, zero = agent.theta, np.zeros(space.n_states)
    plan, work = plan_over_laws(space.first_pair, laws.arrays, region, theta, 1e-7, 0.9, zero)
    single = _single_gain(space, laws, work, -laws.arrays.rows @ theta)
    true, _ = plan_over_laws(space.first_pair, laws.arrays, _point(model, region), theta, 1e-7, 0.9, zero)
    slack, without = plan.gain - true.gain, single - true.gain
    return [name, f"{steps:,}", f"{slack:.3g}", f"{without:.3g}", f"{slack / without:.2f}"]


def _single_gain(space: eq.Space, laws: Laws, work: LawWork, reward: np.ndarray) -> float:
    """Value iteration in which every noise of a step has one law; from below, as the maxima are local ones."""
    steps, first = _steps(laws, space.n_pairs), laws.arrays.first_value
    bounds = [(work.lo[first[u] : first[u + 1]], work.hi[first[u] : first[u + 1]]) for u in range(laws.arrays.learnt)]
    u = np.zeros(space.n_states)
    for _ in range(2_000):
        values = np.array(
            [_one_law(reward[step.row] + u[step.next], [bounds[unit] for unit in step.laws]) for step in steps]
        )
        after = np.maximum.reduceat(values, space.first_pair[:-1])
        difference = after - u
        u = u + 0.9 * difference
        u -= u.min()
        if difference.max() - difference.min() < 1e-5:
            break
    return float(difference.min())


def _point(model: eq.Model, region: eq.confidence.Region) -> eq.confidence.Region:
    """The region that is the truth."""
    from equipoise.models.laws.truth import true_laws

    truth = [np.nan_to_num(law, nan=1.0 / law.size) for law in true_laws(model)]
    sizes = [law.size for law in truth]
    return region._replace(
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        successor=np.concatenate([np.arange(size) for size in sizes]).astype(np.int64),
        lo=np.concatenate(truth),
        hi=np.concatenate(truth),
        rest=np.zeros_like(region.rest),
        radius=np.zeros_like(region.radius),
    )


def speeds() -> str:
    """Steps a second of the two, in turn, the best of some rounds."""
    rows: list[list[str]] = []
    for name, reward in (
        ("inventory", eq.rewards.TargetSquared([0.95, 0.75, 0.8])),
        ("queue", eq.rewards.TargetSquared([0.6, 0.6])),
        ("scheduler", eq.rewards.ProportionalFairness(3, eps=0.05)),
        ("sites", eq.rewards.Quadratic([0.3, 0.3, 0.3])),
    ):
        model = getattr(eq.mechanics, name)().model()
        best = {"mechanics": np.inf, "table": np.inf}
        for _ in range(ROUNDS):
            for told, space in (("mechanics", model.told), ("table", model.space)):
                agent = eq.recommended(space, reward)
                eq.simulate(model, agent, SPEED_STEPS)  # past the many plans of the beginning
                began = time.process_time()
                eq.simulate(model, agent, SPEED_STEPS)
                best[told] = min(best[told], time.process_time() - began)
        million = {told: SPEED_STEPS / seconds / 1e6 for told, seconds in best.items()}
        ratio = million["table"] / million["mechanics"]
        rows.append([name, f"{million['mechanics']:.1f}", f"{million['table']:.1f}", f"{ratio:.2f}"])
    return table(["system", "mechanics, million steps/s", "table", "table / mechanics"], rows)


def growth() -> str:
    """Time of a sweep as supports grow."""
    rows: list[list[str]] = []
    for largest in (4, 9, 19, 39, 79):
        system = eq.mechanics.inventory(capacity=80, largest_demand=largest, orders=(0, 10, 20), lead_time=2)
        space, laws = system.space, system.space.laws
        assert laws is not None
        agent = eq.recommended(space, eq.rewards.TargetSquared([0.95, 0.75, 0.8]))
        eq.simulate(system.model(), agent, 5_000)
        region = region_of(agent.confidence, space, agent.machine.counts, agent.t, agent.delta)
        zero = np.zeros(space.n_states)
        best = np.inf
        for _ in range(ROUNDS):
            began = time.process_time()
            plan, _ = plan_over_laws(space.first_pair, laws.arrays, region, agent.theta, 1e-3, 0.9, zero)
            best = min(best, (time.process_time() - began) / plan.sweeps)
        parts = space.n_pairs * (largest + 1)
        rows.append([f"{largest + 1}", f"{space.n_pairs}", f"{best * 1e6:.0f}", f"{best * 1e9 / parts:.1f}"])
    return table(["values", "pairs", "a sweep, µs", "per pair and value, ns"], rows)


def measured(frame: pl.DataFrame, steps: int, seeds: int) -> str:
    """The measured part of the page."""
    fair = eq.rewards.ProportionalFairness(3, eps=0.05)
    served = eq.rewards.TargetSquared([0.45, 0.45])
    order = [nested("scheduler, 3 noises", eq.mechanics.scheduler(), fair, t) for t in (1_000, 10_000)]
    order += [nested("two lines, 2 noises", lines(), served, t) for t in (1_000, 10_000)]
    return "\n".join(
        [
            MARK,
            f"`make mechanics` measures all numbers below. The study `studies/mechanics.toml` has {seeds} seeds and "
            f"{steps:,} steps; an entry is mean regret / mean certified regret. *known* is told the model itself, and "
            "plans to the same tolerance.\n",
            regrets(frame),
            "\nThe same as ratios of mean regrets, where both are above 1e-4:\n",
            ratios(frame),
            "\n**The order of noises.** What optimism adds to the gain: with nested maxima, and with one law for each "
            "noise of a step (by a search that may stop at local maxima, so that the true ratio may be lower).\n",
            table(["system", "steps", "nested", "one law", "ratio"], order),
            "\n**Speed**, from step 300,000 to 600,000, process time, the best of 7 rounds in turn:\n",
            speeds(),
            "\n**A sweep** of the planner, as the support of the demand grows:\n",
            growth(),
            "",
        ]
    )


def main() -> None:
    """Run the study, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mechanics", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, help="in the place of the study's")
    parser.add_argument("--seeds", type=int, help="in the place of the study's")
    parser.add_argument("--jobs", type=int, help="processes; all cores by default")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "mechanics", help="where results are kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    study = changed(read_study(STUDY), chosen.steps, chosen.seeds)
    run_study(study, chosen.folder, jobs=chosen.jobs)
    frame = load_results(chosen.folder)
    prose = PAGE.read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n"
    text = prose + measured(frame, study.steps, len(study.seeds))
    write_bytes(chosen.out, text.encode())


if __name__ == "__main__":
    main()
