"""The certified optima of MO-Gymnasium's finite environments: writes the table of docs/gymnasium.md.

    python -m benchmarks.environments                               # some ten minutes, most of them for four-room
    python -m benchmarks.environments --only fishwood --out /tmp/page.md      # a try

Each environment is explored, and solved for each objective; a value is written only if its certificate closes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import equipoise as eq
from benchmarks.leaderboard import table
from equipoise._files import write_bytes
from equipoise.rewards.base import Reward

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "gymnasium.md"
MARK: Final = "## Certified optima\n"
GAP: Final = 1e-6  # of a certificate that closes, in outcomes of [0, 1]
EPS: Final = 0.01  # of proportional fairness, sum of log(w + eps)
DIGITS: Final = 4
FEW: Final = 3  # up to so many rewards are shown alone
HEAD: Final = ("environment", "objective", "value", "rewards of a step", "returns of an episode", "steps of an episode")

TEXT: Final = f"""
What can be had in the long run, in MO-Gymnasium's finite environments: the largest value of a concave function of the
average rewards of a step, over all policies that there are. `make environments` writes this table. Each value has a
certificate that closes to {GAP:g} ([how](optimum.md)); `eq.solve` checks it without the solver.

*Only* one reward and the *largest sum* of all are in the environment's own units. *Largest minimum* is the largest
least outcome, and *fairest* the largest sum of log(w + {EPS:g}), scaled to [0, 1]; both are of the outcomes, which are
rewards scaled to [0, 1] by the declared ranges. Returns are mean returns of an episode under the policy that is best
*by the step*; where several policies are best, those of the one that was found. Safety is -1 at a death, tidiness -1
when a bottle is dropped; the time of deep-sea-treasure and of breakable-bottles is -1 at every step, and is left out.

"""


class Case(NamedTuple):
    """An environment, what its rewards are called, what must be said to explore it, and which objectives; none: all."""

    name: str
    outcomes: tuple[str, ...]
    options: dict[str, Any]
    arguments: dict[str, Any]
    objectives: tuple[str, ...] = ()


def clipped(observation: dict[str, Any], _env: object) -> dict[str, Any]:
    """The observation of breakable-bottles in its own space: a place has a bottle or none."""
    return {**observation, "bottles_dropped": [min(1, count) for count in observation["bottles_dropped"]]}


NUTRIENTS: Final = ("protein", "carbs", "fats", "vitamins", "minerals", "water")
SEA: Final = ("treasure", "time")
CASES: Final = (
    Case("fishwood-v0", ("fish", "wood"), {}, {}),
    Case("deep-sea-treasure-v0", SEA, {"drop": ["time"]}, {}),
    Case("deep-sea-treasure-concave-v0", SEA, {"drop": ["time"]}, {}),
    Case("deep-sea-treasure-mirrored-v0", SEA, {"drop": ["time"]}, {}),
    Case("resource-gathering-v0", ("safety", "gold", "diamond"), {}, {}),
    Case("breakable-bottles-v0", ("time", "bottles", "tidiness"), {"drop": ["time"], "state": clipped}, {}),
    Case("fruit-tree-v0", NUTRIENTS, {}, {"depth": 5}),
    Case("fruit-tree-v0", NUTRIENTS, {}, {"depth": 6}),
    Case("fruit-tree-v0", NUTRIENTS, {}, {"depth": 7}),
    Case("four-room-v0", ("blue", "green", "red"), {"limit": 1_000_000}, {}),
)


def objectives(found: eq.adapters.Exploration) -> Iterator[tuple[str, Reward, Callable[[float], float]]]:
    """Names, rewards of the outcomes, and what a value is in the units that are shown."""
    scaling = found.scaling
    K = len(scaling.names) - 1  # the last is "episode ended"
    low, width = np.array(scaling.low), np.array(scaling.high) - np.array(scaling.low)

    def of_step(k: int) -> Callable[[float], float]:
        return lambda value: float(low[k] + width[k] * value)

    for k in range(K if K <= FEW else 0):
        yield f"only {scaling.names[k]}", eq.rewards.Linear(np.eye(K + 1)[k]), of_step(k)
    if K == 1:
        return
    most = float(width[:K].max())
    sums = np.append(width[:K] / most, 0.0)
    yield "largest sum", eq.rewards.Linear(sums), lambda value: float(low[:K].sum() + most * value)
    seen = np.eye(K, K + 1)
    yield "largest minimum", eq.rewards.BottomSum(K, kappa=1).of(seen), float
    yield "fairest", eq.rewards.ProportionalFairness(K, EPS).of(seen), float


def explored(case: Case) -> eq.adapters.Exploration:
    """The model of an environment, and how its rewards were scaled."""
    import mo_gymnasium

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered", category=UserWarning)
        env = mo_gymnasium.make(case.name, **case.arguments)
    return eq.adapters.explore(env, outcomes=case.outcomes, episodes=True, **case.options)


def solved(case: Case, found: eq.adapters.Exploration) -> Iterator[list[str]]:
    """The rows of one environment."""
    name = " ".join([f"`{case.name}`", *(f"{key} {value}" for key, value in case.arguments.items())])
    title = f"{name}, {found.model.n_states:,} states"
    for objective, reward, shown in objectives(found):
        if case.objectives and objective not in case.objectives:
            continue
        best = eq.solve(found.model, reward)
        if best.status != "optimal" or not best.gap <= GAP:
            raise SystemExit(f"{case.name}, {objective}: {best!r} is not certified")
        ends = best.outcomes[-1]
        returns = "never ends" if ends < GAP else _listed(found.scaling.returns(best.outcomes)[:-1])
        length = "" if ends < GAP else _number(1.0 / ends)
        averages = _listed(found.scaling.original(best.outcomes)[:-1])
        yield [title, objective, _number(shown(best.value)), averages, returns, length]
        title = ""


def _listed(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    return ", ".join(_number(x) for x in numbers.tolist())


def _number(x: float) -> str:
    """Four digits that count, without an exponent.

    >>> _number(2.7333333), _number(-0.0), _number(12.0), _number(0.000123456)
    ('2.733', '0', '12', '0.0001235')
    """
    if abs(x) < 10.0**-9:
        return "0"
    places = max(0, DIGITS - 1 - int(np.floor(np.log10(abs(x)))))
    text = f"{x:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main() -> None:
    """Solve all, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.environments", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="environments with that in their names")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    rows: list[list[str]] = []
    for case in CASES:
        if chosen.only in case.name:
            rows += solved(case, explored(case))
            print(f"{case.name} {case.arguments or ''}", flush=True)
    prose = PAGE.read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n"
    write_bytes(chosen.out, (prose + MARK + TEXT + table(HEAD, rows)).encode())


if __name__ == "__main__":
    main()
