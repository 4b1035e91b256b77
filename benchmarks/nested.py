"""What nested maxima cost: plans that may choose the law of a later noise anew for each value of an earlier one.

Optimism adds more to the gain of such a plan than it need. It is compared with plans in which every noise of a step has
one law. These are searched for law by law, from several starts; a search that stops at a local maximum makes nested
maxima look dearer than they are, never cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.validate import true_laws
from equipoise.planning.evi import plan_over_laws
from equipoise.planning.laws import LawWork

STARTS: Final = 3  # of the search for one law a noise
MOST_SWEEPS: Final = 400
CLOSE: Final = 1e-5


def lines() -> eq.Mechanics:
    """Two lines with room for three, and one server; whether somebody comes to either is unknown."""

    def step(waiting: tuple[int, int], serve: int, first: int, second: int) -> tuple[tuple[int, int], list[float]]:
        served = [float(serve == k and waiting[k] > 0) for k in range(2)]
        left = [waiting[k] - int(served[k]) for k in range(2)]
        return (min(3, left[0] + first), min(3, left[1] + second)), served

    usual = {"first": [0.5, 0.5], "second": [0.6, 0.4]}
    return eq.Mechanics(step, (0, 0), [0, 1], ["first", "second"], {"first": [0, 1], "second": [0, 1]}, usual=usual)


def matching() -> eq.Mechanics:
    """Two coins, and a prize if they fall alike: what is best for one depends on the other."""

    def step(_state: int, _action: int, first: int, second: int) -> tuple[int, list[float]]:
        return 0, [float(first == second)]

    usual = {"first": [0.5, 0.5], "second": [0.5, 0.5]}
    return eq.Mechanics(step, 0, [0], ["alike"], {"first": [0, 1], "second": [0, 1]}, usual=usual)


class Step(NamedTuple):
    """A pair of mechanics: the laws of its noises, and what follows each combination."""

    laws: tuple[int, ...]
    next: np.ndarray
    row: np.ndarray


def _steps(laws: Laws, n_pairs: int) -> list[Step]:
    """Of mechanics whose noises are all seen; at most one law may be given."""
    sizes, arrays = tuple(len(support) for support in laws.supports), laws.arrays
    learnt = [any(name.split(" (")[0] == noise for name in laws.names) for noise in laws.noises]
    if arrays.first_value.size - 1 - arrays.learnt > 1 or laws.hidden:
        raise ValueError("mechanics with hidden noises, or several given laws, are not taken apart here")
    steps: list[Step] = []
    for pair in range(n_pairs):
        cases = np.arange(laws.first_case[pair], laws.first_case[pair + 1])
        seen = iter(arrays.seen_unit[arrays.seen_first[cases[0]] : arrays.seen_first[cases[0] + 1]].tolist())
        units = tuple(next(seen) if one else arrays.learnt for one in learnt)
        steps.append(Step(units, laws.case_next[cases].reshape(sizes), laws.case_row[cases].reshape(sizes)))
    return steps


def _best(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The probabilities within bounds at which the mean of x is largest."""
    order = np.argsort(-x, kind="stable")
    mass = low.copy()
    room = np.minimum(np.cumsum((high - low)[order]), max(0.0, 1.0 - low.sum()))
    mass[order] += np.diff(room, prepend=0.0)
    return mass


def _improved(x: np.ndarray, laws: list[np.ndarray], bounds: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """The mean of x, after each law has been made the best for the others, one after the other."""
    for j, (low, high) in enumerate(bounds):
        inner = x
        for i in range(len(bounds) - 1, -1, -1):
            if i != j:
                inner = np.tensordot(inner, laws[i], axes=([i], [0]))
        laws[j] = _best(inner, low, high)
        value = float(inner @ laws[j])
    return value


def nested(name: str, system: eq.Mechanics, reward: eq.rewards.Reward, steps: int) -> list[str]:
    """What optimism adds to the gain with nested maxima, and with one law for each noise of a step."""
    model = system.model()
    agent = eq.TocUCRL2(system.space, reward, confidence=eq.confidence.Adaptive())
    eq.simulate(model, agent, steps)
    space, laws = system.space, system.space.laws
    assert laws is not None
    region = build_region(agent.confidence, space, agent.loop.arrays.counts, agent.t, agent.delta)
    theta, zero = agent.theta, np.zeros(space.n_states)
    plan, work = plan_over_laws(space.first_pair, laws.arrays, region, theta, 1e-6, 0.9, zero)
    single = _single_gain(space, laws, work, -laws.arrays.rows @ theta, plan.bias)
    true, _ = plan_over_laws(space.first_pair, laws.arrays, _point(model, region), theta, 1e-6, 0.9, zero)
    slack, without = plan.gain - true.gain, single - true.gain
    return [name, f"{steps:,}", f"{slack:.3g}", f"{without:.3g}", f"{slack / without:.2f}"]


def _single_gain(space: eq.Space, laws: Laws, work: LawWork, reward: np.ndarray, u: np.ndarray) -> float:
    """Value iteration in which every noise of a step has one law: from below, as the maxima are local ones."""
    first = laws.arrays.first_value
    bounds = [(work.lo[first[i] : first[i + 1]], work.hi[first[i] : first[i + 1]]) for i in range(first.size - 1)]
    steps = _steps(laws, space.n_pairs)
    rng = np.random.default_rng(0)
    tried = [  # each pair goes on from what was best for it in the sweep before, from several starts
        [[_best(rng.random(bounds[law][0].size), *bounds[law]) for law in step.laws] for _ in range(STARTS)]
        for step in steps
    ]
    for _ in range(MOST_SWEEPS):
        values = np.array([
            max(_improved(reward[step.row] + u[step.next], one, [bounds[law] for law in step.laws]) for one in starts)
            for step, starts in zip(steps, tried, strict=True)
        ])  # fmt: skip
        difference = np.maximum.reduceat(values, space.first_pair[:-1]) - u
        u = u + 0.9 * difference
        if difference.max() - difference.min() < CLOSE:
            break
    return float(difference.min())


def _point(model: eq.Model, region: eq.confidence.Region) -> eq.confidence.Region:
    """The region that is the truth."""
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
