"""Any learner of scalar rewards, steered to a concave goal by the gradient threshold: tabular Q-learning, DQN and PPO.

    python examples/scalar_learners.py                 # within five minutes on two cores
    python examples/scalar_learners.py --full          # every learner in every world
    python examples/scalar_learners.py --steps 500 --seeds 2 --only tabular

The worlds: the paper's star, whose three loops are to be shared evenly; the same with longer ways between the loops;
MO-Gymnasium's fishwood, with a service level for fish and one for wood, just out of reach together; and the star seen
as a picture with noise, where no observation ever comes twice. The threshold Q decides when the reward changes: at
every step (0), when theta has drifted by the Lipschitz constant of the goal (L), or never (infinity), which is to learn
with fixed weights.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import altair as alt
import gymnasium
import numpy as np
import polars as pl
from gymnasium.wrappers import TransformObservation
from numpy.typing import NDArray
from scipy.stats import t as student

import equipoise as eq

SIDE: Final = 15  # of the picture, in pixels
NOISE: Final = 0.1  # the share of its pixels that are wrong
STAR: Final = eq.models.star(branches=3, diameter=4)
LONG_STAR: Final = eq.models.star(branches=3, diameter=12)
EVENLY: Final = eq.rewards.Quadratic([1 / 3, 1 / 3, 1 / 3])
SERVICE: Final = eq.rewards.TargetSquared([0.8, 0.4]).of([[10.0, 0.0], [0.0, 1.0]])  # fish come in tenths


def star() -> gymnasium.Env:
    return eq.adapters.to_gymnasium(STAR)


def long_star() -> gymnasium.Env:
    return eq.adapters.to_gymnasium(LONG_STAR)


def fishwood() -> gymnasium.Env:
    """Its two states as numbers. It stops after 200 steps, but nothing ends there: a truncation."""
    import mo_gymnasium

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that its ranges are of single precision
        env = eq.adapters.Continuing(mo_gymnasium.make("fishwood-v0"))
    return TransformObservation(env, lambda observation: int(observation[0]), gymnasium.spaces.Discrete(2))


def picture() -> gymnasium.Env:
    """The star as a picture: a block of pixels shows where one is, and one pixel in ten is wrong."""
    rng, middle = np.random.default_rng(0), SIDE // 2
    plain = np.zeros((STAR.n_states, SIDE, SIDE), dtype=bool)
    ways = [(0, -1), (-1, 0), (0, 1)]
    places = [(middle, middle)] + [(middle + 3 * d * x, middle + 3 * d * y) for x, y in ways for d in (1, 2)]
    for drawing, (x, y) in zip(plain, places, strict=True):
        drawing[x - 1 : x + 2, y - 1 : y + 2] = True

    def seen(state: int) -> NDArray[np.float32]:
        wrong = rng.random(SIDE * SIDE) < NOISE
        pixels: NDArray[np.float32] = np.not_equal(plain[state].ravel(), wrong).astype(np.float32)
        return pixels

    return TransformObservation(star(), seen, gymnasium.spaces.Box(0.0, 1.0, (SIDE * SIDE,), np.float32))


class World(NamedTuple):
    """Where to learn, and to what end."""

    make: Callable[[], gymnasium.Env]
    goal: eq.rewards.Reward
    learners: tuple[str, ...]


FAST_MEAN: Final = "tabular, eta 0.05"  # in the place of 0.003, the default of `DifferentialQ`
FAR_SIGHTED: Final = "DQN, gamma 0.99"  # in the place of 0.95
WORLDS: Final = {
    "star": World(star, EVENLY, ("tabular", FAST_MEAN, "DQN", FAR_SIGHTED, "PPO")),
    "long star": World(long_star, EVENLY, ("tabular",)),
    "fishwood": World(fishwood, SERVICE, ("tabular", "DQN", "PPO")),
    "picture": World(picture, EVENLY, ("DQN", "PPO")),
}
SELECTION: Final = {("star", "tabular"), ("star", "DQN"), ("star", "PPO"), ("fishwood", "tabular"), ("picture", "DQN")}
STEPS: Final = {"tabular": 20_000, FAST_MEAN: 20_000, "DQN": 5_000, FAR_SIGHTED: 5_000, "PPO": 5_000}
SEEDS: Final = {"tabular": 10, FAST_MEAN: 10, "DQN": 5, FAR_SIGHTED: 5, "PPO": 5}
THRESHOLDS: Final[dict[str, float | None]] = {"Q = 0": 0.0, "Q = L": None, "Q = ∞": math.inf}
MID_ROLLOUT: Final = "Q = 0, within rollouts"  # for PPO alone, on the star


class Case(NamedTuple):
    """One run."""

    world: str
    learner: str
    way: str
    seed: int
    steps: int


def optimum(world: str) -> float:
    if world == "fishwood":
        import mo_gymnasium

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            env = mo_gymnasium.make("fishwood-v0")
        model = eq.adapters.model_from(env, ends=lambda terminated, truncated: terminated and not truncated)
    else:
        model = LONG_STAR if world == "long star" else STAR
    return eq.solve(model, WORLDS[world].goal).value


class Marks(gymnasium.Wrapper):  # type: ignore[misc]
    """Keeps the goal's value and the number of changes at some times."""

    def __init__(self, env: gymnasium.Env, goal: eq.rewards.Reward, steps: int) -> None:
        super().__init__(env)
        self.goal, self.kept = goal, list[tuple[int, float, int]]()
        self.steering = env.get_wrapper_attr("steering")
        self.times = {max(1, round(steps * 10 ** (-0.1 * i))) for i in range(21)}

    def step(self, action: Any) -> Any:
        """Take a step, and look at the time."""
        answer = self.env.step(action)
        taken = self.steering.t - 1
        if taken in self.times:
            self.kept.append((taken, self.goal.value(self.steering.average), self.steering.changes))
        return answer


def run(case: Case) -> list[dict[str, Any]]:
    """One run: the value of the goal and the changes of theta_ref at some times."""
    world, began = WORLDS[case.world], time.process_time()
    threshold = THRESHOLDS.get(case.way, 0.0)
    steered = eq.adapters.GradientThreshold(world.make(), world.goal, threshold=threshold)
    env = Marks(steered, world.goal, case.steps)
    if case.learner == "tabular":
        eq.adapters.DifferentialQ(env, seed=case.seed).run(case.steps)
    elif case.learner == FAST_MEAN:
        eq.adapters.DifferentialQ(env, mean_step=0.05, seed=case.seed).run(case.steps)
    else:
        learn_deeply(case, eq.adapters.ThetaAwareObservation(env))
    seconds = time.process_time() - began
    return [
        {**case._asdict(), "t": t, "value": value, "changes": changes, "seconds": seconds}
        for t, value, changes in env.kept
    ]


def learn_deeply(case: Case, env: gymnasium.Env) -> None:
    import torch
    from stable_baselines3 import DQN, PPO

    from equipoise.adapters.deep import BetweenRollouts, relabelling

    torch.set_num_threads(1)
    if case.learner != "PPO":
        gamma = 0.99 if case.learner == FAR_SIGHTED else 0.95
        dqn = DQN(
            "MlpPolicy", env, learning_rate=2e-3, buffer_size=case.steps, learning_starts=200, batch_size=64,
            gamma=gamma, train_freq=4, target_update_interval=200, exploration_fraction=0.2, exploration_final_eps=0.02,
            policy_kwargs={"net_arch": [64]}, seed=case.seed, device="cpu", **relabelling(env),
        )  # fmt: skip
        dqn.learn(case.steps)
        return
    ppo = PPO(
        "MlpPolicy", env, learning_rate=3e-3, n_steps=64, batch_size=64, n_epochs=4, gamma=0.95, gae_lambda=0.9,
        ent_coef=0.01, policy_kwargs={"net_arch": [32]}, seed=case.seed, device="cpu",
    )  # fmt: skip
    ppo.learn(case.steps, callback=None if case.way == MID_ROLLOUT else BetweenRollouts())


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """All runs, in the order of the table."""
    deep = find_spec("stable_baselines3") is not None
    for name, world in WORLDS.items():
        for learner in world.learners:
            wanted = options.full or (name, learner) in SELECTION
            if (
                not wanted
                or (options.only and learner not in options.only)
                or (not learner.startswith("tabular") and not deep)
            ):
                continue
            ways = [*THRESHOLDS, *([MID_ROLLOUT] if (name, learner) == ("star", "PPO") else [])]
            steps, seeds = options.steps or STEPS[learner], options.seeds or SEEDS[learner]
            yield from (Case(name, learner, way, seed, steps) for way in ways for seed in range(seeds))


def summary(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Mean regret at the end with its interval, and the mean number of changes, for each world, learner and way."""
    last = frame.filter(pl.col("t") == pl.col("steps"))
    rows = []
    for (world, learner, way), part in last.group_by("world", "learner", "way", maintain_order=True):
        regrets = part["regret"].to_numpy()
        mean, count = float(regrets.mean()), regrets.size
        half = student.ppf(0.975, count - 1) * regrets.std(ddof=1) / math.sqrt(count) if count > 1 else math.nan
        changes, steps, seconds = part["changes"].mean(), part["steps"][0], part["seconds"].mean()
        rows.append(
            {
                "world": world, "learner": learner, "way": way, "steps": steps, "seeds": count,
                "regret": mean, "low": mean - half, "high": mean + half, "worst": float(regrets.max()),
                "changes": changes, "seconds": seconds,
            }
        )  # fmt: skip
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The summary in Markdown."""
    lines = ["| world | learner | Q | changes | regret | worst |", "|---|---|---|---:|---:|---:|"]
    lines += [
        f"| {row['world']} | {row['learner']}, {row['steps']:,} steps, {row['seeds']} seeds | {row['way']} | "
        f"{row['changes']:,.0f} | {row['regret']:.4f} ({row['low']:.4f} to {row['high']:.4f}) | {row['worst']:.4f} |"
        for row in rows
    ]
    return "\n".join(lines)


def draw(frame: pl.DataFrame, path: Path) -> None:
    """Mean regret over time, one panel a world and learner."""
    means = frame.group_by("world", "learner", "way", "t", maintain_order=True).agg(pl.col("regret").mean())
    means = means.with_columns(panel=pl.col("world") + ", " + pl.col("learner"), regret=pl.col("regret").clip(1e-3))
    panels = means["panel"].unique(maintain_order=True).to_list()
    tenths = alt.Axis(values=[10.0**i for i in range(-3, 6)], format="~g")
    alt.Chart(means).mark_line(clip=True).encode(
        x=alt.X("t:Q", title="steps", axis=tenths).scale(type="log", domainMin=100),
        y=alt.Y("regret:Q", title="mean regret", axis=tenths).scale(type="log", domain=[1e-3, 0.4]),
        color=alt.Color("way:N", title="theta_ref moves", sort=[*THRESHOLDS, MID_ROLLOUT]),
        facet=alt.Facet("panel:N", title=None, columns=4, sort=panels),
    ).properties(width=190, height=140).save(path, ppi=110)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every learner in every world")
    parser.add_argument("--steps", type=int, help="of every run, in the place of 20,000 and 5,000")
    parser.add_argument("--seeds", type=int, help="of every learner, in the place of 10 and 5")
    parser.add_argument("--only", action="append", choices=list(STEPS), help="one learner")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if find_spec("stable_baselines3") is None:
        print("Stable-Baselines3 is not installed, so DQN and PPO are left out: pip install 'equipoise[deep]'")

    began, plan = time.perf_counter(), list(cases(options))
    best = {world: optimum(world) for world in {case.world for case in plan}}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = [row for answer in pool.map(run, plan) for row in answer]
    frame = pl.DataFrame(rows).with_columns(regret=pl.col("world").replace_strict(best) - pl.col("value"))
    results = summary(frame)
    print(table(results))
    (options.out / "scalar_learners.json").write_text(json.dumps(results, indent=1, ensure_ascii=False))
    draw(frame, options.out / "scalar_learners.png")
    print(
        f"{len(plan)} runs in {time.perf_counter() - began:.0f} s; the picture: {options.out / 'scalar_learners.png'}"
    )


if __name__ == "__main__":
    main()
