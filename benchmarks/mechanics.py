"""What it is worth to tell an agent the mechanics of its system: writes the measured part of docs/mechanics.md.

    python -m benchmarks.mechanics                                # the whole study: 20 seeds, 10^6 steps
    python -m benchmarks.mechanics --steps 10000 --seeds 2 --out /tmp/mechanics.md   # a try

The study is studies/mechanics.toml; its results are kept in out/mechanics, so that it can be interrupted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import equipoise as eq
from benchmarks.leaderboard import table
from benchmarks.nested import lines, matching, nested
from equipoise._files import write_bytes
from equipoise.confidence.base import build_region
from equipoise.planning.evi import plan_over_laws
from equipoise.studies import load_results, read_study, run_study
from equipoise.studies.spec import Problem, Study, override
from equipoise.studies.vocabulary import make_reward

ROOT: Final = Path(__file__).parents[1]
STUDY: Final = ROOT / "studies" / "mechanics.toml"
PAGE: Final = ROOT / "docs" / "mechanics.md"
MARK: Final = "## Measured\n"
TIMES: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
NOISE: Final = 1e-4  # a regret below that is mostly chance, and no ratio is taken of it
ALLOWED: Final = 1.5  # how many times the regret of the known model is aimed at
ROUNDS: Final = 7
SPEED_STEPS: Final = 300_000
WEEKS: Final = (1, 2, 4, 8, 26, 52)  # of the department
WARDS: Final = 10  # how many of them
WEEK: Final = 7 * 144  # slots of ten minutes


def regrets(frame: pl.DataFrame) -> str:
    """Mean regret of each agent on each problem."""
    times = [t for t in TIMES if t in set(frame["t"].to_list())]
    rows: list[list[str]] = []
    for (problem, agent), part in frame.group_by("problem", "agent", maintain_order=True):
        means = part.group_by("t").agg(pl.col("regret").mean(), pl.col("certified").mean())
        by_time = {t: (regret, certified) for t, regret, certified in means.rows()}
        cells = [_cell(*by_time[t]) for t in times]
        rows.append([str(problem), str(agent), *cells])
    return table(["problem", "told", *(f"{t:,}" for t in times)], rows, names=2)


def _cell(regret: float, certified: float | None) -> str:
    return f"{regret:.2g}" if certified is None else f"{regret:.2g} / {certified:.2g}"


def ratios(frame: pl.DataFrame) -> str:
    """How far from the known model, and how much below the table."""
    rows: list[list[str]] = []
    for problem in frame["problem"].unique(maintain_order=True).to_list():
        part = frame.filter(pl.col("problem") == problem).sort("seed")
        told, known, plain = (_by_time(part, agent) for agent in ("mechanics", "known", "table"))
        cells = [_times(told[t], known[t]) for t in TIMES[1:] if t in told]
        missed = [f"{t:,}" for t in sorted(told) if t >= TIMES[1] and _exceeds(told[t] - ALLOWED * known[t])]
        at = min(max(told), 10_000)
        below = plain[at].mean() / max(told[at].mean(), NOISE)
        least = "at least " if told[at].mean() < NOISE else ""
        rows.append([problem, *cells, ", ".join(missed) or "never", f"{least}{below:.1f}"])
    times = [f"{t:,}" for t in TIMES[1:] if t in told]
    return table(["problem", *times, f"above {ALLOWED} times at", "table / mechanics at 10,000"], rows)


def _by_time(part: pl.DataFrame, agent: str) -> dict[int, np.ndarray]:
    """The regret of every seed at every time."""
    own = part.filter(pl.col("agent") == agent)
    return {t: own.filter(pl.col("t") == t)["regret"].to_numpy() for t in own["t"].unique().to_list()}


def _times(told: np.ndarray, known: np.ndarray) -> str:
    """The ratio of two means, if both are more than chance."""
    means = [x.mean() for x in (told, known)]
    if min(means) < NOISE or not all(_exceeds(x) for x in (told, known)):
        return f"{means[0]:.1g} : {means[1]:.1g}"
    return f"{means[0] / means[1]:.2f}"


def _exceeds(x: np.ndarray) -> bool:
    """Whether a mean over seeds is above zero by more than two standard errors."""
    return bool(x.mean() > max(NOISE, 2.0 * x.std(ddof=1) / x.size**0.5))


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
            for told, space in (("mechanics", model.mechanics_space), ("table", model.space)):
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
        assert isinstance(agent, eq.TocUCRL2)
        eq.simulate(system.model(), agent, 5_000)
        region = build_region(agent.confidence, space, agent.loop.arrays.counts, agent.t, agent.delta)
        zero = np.zeros(space.n_states)
        best = np.inf
        for _ in range(ROUNDS):
            began = time.process_time()
            plan, _ = plan_over_laws(space.first_pair, laws.arrays, region, agent.theta, 1e-3, 0.9, zero)
            best = min(best, (time.process_time() - began) / plan.sweeps)
        parts = space.n_pairs * (largest + 1)
        rows.append([f"{largest + 1}", f"{space.n_pairs}", f"{best * 1e6:.0f}", f"{best * 1e9 / parts:.1f}"])
    return table(["values", "pairs", "a sweep, µs", "per pair and value, ns"], rows)


def department(problem: Problem, seeds: int = WARDS) -> str:
    """Of the department week by week: what is lost, what is proven to be lost at most, and the rule of thumb."""
    ward = eq.mechanics.department()
    world = ward.model()
    reward = make_reward(problem.reward, world, "reward")
    best = eq.solve(world, reward).value
    lost = {name: np.zeros((seeds, len(WEEKS))) for name in ("told", "proven", "table", "rule")}
    unattainable = np.zeros(len(WEEKS), dtype=np.int64)
    for seed in range(seeds):
        told, plain = eq.recommended(ward.space, reward), eq.recommended(world.space, reward)
        thumb = eq.agents.baselines.Rule(ward.space, reward, rule_of_thumb)
        for i, week in enumerate(WEEKS):
            for name, agent in (("told", told), ("table", plain), ("rule", thumb)):
                lost[name][seed, i] = best - eq.simulate(world, agent, week * WEEK + 1 - agent.t, seed=seed).values[-1]
            certificate = told.certificate(effort=20)
            lost["proven"][seed, i] = certificate.regret_at_most
            unattainable[i] += certificate.best_possible < 1.0
    rows = [
        [
            f"{week}",
            *(f"{lost[name][:, i].mean():.2g}" for name in ("rule", "table", "told", "proven")),
            f"{lost['proven'][:, i].max():.2g}",
            f"{unattainable[i]} of {seeds}",
        ]
        for i, week in enumerate(WEEKS)
    ]
    names = [
        "weeks",
        "rule of thumb",
        "table",
        "mechanics",
        "certified",
        "certified, at most",
        "goals proven out of reach",
    ]
    return table(names, rows)


def rule_of_thumb(state: tuple[str, tuple[int, ...], tuple[int, ...]]) -> str:
    """Call a second doctor when two patients wait."""
    return "2 doctors, urgent first" if len(state[1]) + len(state[2]) >= 2 else "1 doctor, urgent first"


def measured(frame: pl.DataFrame, study: Study) -> str:
    """The measured part of the page."""
    fair = eq.rewards.ProportionalFairness(3, eps=0.05)
    problems = {problem.name: problem for problem in study.problems}
    ward, battery = eq.mechanics.department(), eq.mechanics.battery()
    systems = (
        ("two coins that should fall alike", matching(), eq.rewards.Linear([1.0])),
        ("two lines, 2 noises", lines(), eq.rewards.TargetSquared([0.45, 0.45])),
        ("scheduler, 3 noises", eq.mechanics.scheduler(), fair),
        ("battery, 3 noises", battery, make_reward(problems["battery"].reward, battery.model(), "reward")),
        ("department, 4 noises", ward, make_reward(problems["department"].reward, ward.model(), "reward")),
    )
    order = [nested(name, system, reward, steps) for name, system, reward in systems for steps in (1_000, 10_000)]
    seeds = len(study.seeds)
    return "\n".join(
        [
            MARK,
            f"`make mechanics` measures all numbers below. The study `studies/mechanics.toml` has {seeds} seeds and "
            f"{study.steps:,} steps; an entry is mean regret / mean certified regret. *known* is told the model, and "
            "plans to the same tolerance.\n",
            regrets(frame),
            "\nThe mean regret of the agent that is told the mechanics, as a multiple of the known model's; where "
            "one of the two is below 1e-4 or within two standard errors of zero, both are shown. The next column says "
            f"when it was above {ALLOWED} times that of the known model by more than two standard errors.\n",
            ratios(frame),
            f"\n**The department, week by week**, over {WARDS} seeds: what is lost by calling a second doctor when two "
            "patients wait, by an agent that is told the table, and by one that is told the mechanics; what the latter "
            "proves to be lost at most (`certificate(effort=20)`), in the mean and in the worst of the seeds; and in "
            "how many of them it has proven that no policy meets all goals.\n",
            department(problems["department"]),
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
    study = override(read_study(STUDY), chosen.steps, chosen.seeds)
    run_study(study, chosen.folder, jobs=chosen.jobs)
    frame = load_results(chosen.folder)
    prose = PAGE.read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n"
    text = prose + measured(frame, study)
    write_bytes(chosen.out, text.encode())


if __name__ == "__main__":
    main()
