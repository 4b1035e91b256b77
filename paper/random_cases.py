"""Random runs for the statements that hold with certainty: worlds, rewards, thresholds, seeds, and their episodes.

A case is drawn from a stream of its own, so that it can be run again alone. The kinds, one in six each but for the
first:

- "random worlds": Garnets of 1 to 8 states, their outcomes noisy or not, K from 1 to 4;
- "worlds of the paper": bandit, ring, star, hub;
- "one pair": nothing to choose, where the doubling of visits alone sets the pace;
- "an adversary": one pair again, with outcomes that are no law's: 0 or 1 throughout an episode, each outcome to
  the side away from its average, or at random. A statement with certainty must bear these as well.

Q is L times a power of ten from -3 to 3, log-uniform; delta is log-uniform from 0.001 to 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Vector
from equipoise.agents.episodes import BY_GRADIENT, BY_VISITS, Episodes
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.models.paper_instances import bandit, hub, ring, star
from equipoise.models.standard import garnet
from equipoise.oracles.base import Oracle
from equipoise.oracles.mirror_maps import Box, CrossPolytope, EuclideanBall, MirrorMap, SignedSimplex, SlackSimplex
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance, TargetDistance
from equipoise.rewards.entropy import Entropy, RelativeEntropy
from equipoise.rewards.ordered import BottomSum, GeneralisedGini
from equipoise.rewards.penalties import Knapsack
from equipoise.rewards.separable import CrossEntropy, ProportionalFairness, Quadratic, TargetSquared
from equipoise.simulation import simulate
from equipoise.theory import bounds
from paper.findings import Checked, Finding, Picture, Statement

Times = NDArray[np.int64]
Rng = np.random.Generator
Draw = Callable[[Rng, int, int], tuple[Reward, Oracle]]
"""A reward and its oracle, from a stream, K and the number of steps."""
Bound = Callable[["Case", Vector], Vector]
"""What a count must not exceed at each of the times T."""
Count = Callable[[Episodes, int], tuple[Times, Vector]]
"""The times at which a count grows, and what it has grown to."""

ADVERSARY: Final = "an adversary"
ONE_PAIR: Final = "one pair"
_BY_HAND: Final = 400  # steps against an adversary, which are not compiled
KINDS: Final = ("random worlds", "random worlds", "random worlds", "worlds of the paper", ONE_PAIR, ADVERSARY)


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A run that is still to be made."""

    kind: str
    model: Model
    reward: Reward
    oracle: Oracle
    threshold: float
    delta: float
    steps: int
    seed: int

    def agent(self) -> TocUCRL2:
        """The agent at time 1."""
        return TocUCRL2(self.model.space, self.reward, self.oracle, self.threshold, self.delta)

    def episodes(self) -> Episodes:
        """Run it, and give the record of its episodes."""
        agent = self.agent()
        if self.kind == ADVERSARY:
            _provoke(agent, self.steps, np.random.default_rng(self.seed))
        else:
            simulate(self.model, agent, self.steps, self.seed, progress=False)
        return agent.episode_record


def cases(draw: Draw, count: int, steps: int, stream: int) -> Iterator[Case]:
    """So many of them; the same numbers give the same cases."""
    for index in range(count):
        rng = np.random.default_rng([stream, index])
        kind = KINDS[index % len(KINDS)]
        model = _world(kind, rng)
        taken = min(steps, _BY_HAND) if kind == ADVERSARY else steps
        reward, oracle = draw(rng, model.n_outcomes, taken)
        yield Case(
            kind=kind,
            model=model,
            reward=reward,
            oracle=oracle,
            threshold=reward.lipschitz * 10 ** rng.uniform(-3, 3),
            delta=10 ** rng.uniform(-3, math.log10(0.5)),
            steps=taken,
            seed=int(rng.integers(2**31)),
        )


def smooth(rng: Rng, K: int) -> Reward:
    """A smooth reward of K outcomes: for Frank-Wolfe."""
    target = rng.random(K)
    choice = int(rng.integers(6 if K > 1 else 3))
    if choice == 0:
        return Quadratic(target)
    if choice == 1:
        return TargetSquared(target)
    if choice == 2:
        return ProportionalFairness(K, 10 ** rng.uniform(-2, 0))
    mu = 10 ** rng.uniform(-2, 0)
    if choice == 3:
        return Entropy(K, mu)
    shares = rng.dirichlet(np.ones(K))
    return RelativeEntropy(shares, mu) if choice == 4 else CrossEntropy(shares, mu)


def euclidean(rng: Rng, K: int) -> Reward:
    """A reward that is Lipschitz in the 2-norm, smooth or not."""
    target = rng.random(K)
    choice = int(rng.integers(5))
    if choice == 0:
        return Balance(target)
    if choice == 1:
        return TargetDistance(target)
    if choice == 2:
        return Quadratic(target)
    return TargetSquared(target) if choice == 3 else ProportionalFairness(K, 10 ** rng.uniform(-2, 0))


def mirrored(rng: Rng, K: int) -> tuple[Reward, MirrorMap]:
    """A reward in any of the three norms, with a mirror map that fits it."""
    choice = int(rng.integers(7))
    if choice == 0:
        return euclidean(rng, K), EuclideanBall()
    if choice == 1:
        return TargetDistance(rng.random(K), 1.0), Box()
    if choice == 2:
        return TargetDistance(rng.random(K), math.inf), SlackSimplex()
    if choice == 3:
        return GeneralisedGini(np.sort(rng.random(K))[::-1]), CrossPolytope()
    if choice == 4 and K > 1:
        return Knapsack(K, rng.uniform(0.05, 0.95)), SlackSimplex()
    return BottomSum(K, int(rng.integers(1, K + 1))), CrossPolytope() if choice == 5 or K == 1 else SignedSimplex()


def begun(episodes: Episodes, _steps: int) -> tuple[Times, Vector]:
    """m(T): all that begin by T."""
    return episodes.start, np.arange(1.0, episodes.start.size + 1.0)


def by_gradient(episodes: Episodes, _steps: int) -> tuple[Times, Vector]:
    """M_Psi(T): those that begin by T and end, at whatever time, because Psi > Q."""
    times = episodes.start[(episodes.ended & BY_GRADIENT) > 0]
    return times, np.arange(1.0, times.size + 1.0)


def by_visits(episodes: Episodes, _steps: int) -> tuple[Times, Vector]:
    """M_nu(T) as it is written: those that begin by T and end, at whatever time, by the visits rule."""
    times = episodes.start[(episodes.ended & BY_VISITS) > 0]
    return times, np.arange(1.0, times.size + 1.0)


def ended_by_visits(episodes: Episodes, steps: int) -> tuple[Times, Vector]:
    """M_nu(T) as it must be: those that have ended by T, by the visits rule."""
    last = np.append(episodes.start[1:] - 1, steps)
    times = last[(episodes.ended & BY_VISITS) > 0]
    return times, np.arange(1.0, times.size + 1.0)


def visits_bound(case: Case, T: Vector) -> Vector:
    """SA (1 + log2 T)."""
    return case.model.n_pairs * (1.0 + np.log2(T))


class _Worst(NamedTuple):
    ratio: float
    measured: float
    bound: float
    T: int


def findings(runs: Iterable[tuple[Case, Episodes]], label: str, count: Count, bound: Bound) -> list[Finding]:
    """One for each kind of case: where, of all its runs and all T, the count comes closest to its bound."""
    worst_of: dict[str, tuple[int, _Worst]] = {}
    for case, episodes in runs:
        times, counts = count(episodes, case.steps)
        made, worst = worst_of.get(case.kind, (0, _Worst(0.0, 0.0, 1.0, 1)))
        if times.size:
            limits = bound(case, times.astype(np.float64))
            at = int(np.argmax(counts / limits))
            here = _Worst(float(counts[at] / limits[at]), float(counts[at]), float(limits[at]), int(times[at]))
            worst = max(worst, here)
        worst_of[case.kind] = made + 1, worst
    return [
        Finding(f"{label}, {kind}, T = {worst.T}", worst.measured, worst.bound, note=f"closest in {made} runs, all T")
        for kind, (made, worst) in worst_of.items()
    ]


def lemma(
    statement: Statement,
    gradient: str,
    visits: str,
    drawn: Sequence[Case],
    limits: tuple[Bound, ...],
    rules: Sequence[Finding],
    drawing: Picture,
) -> Checked:
    """Both parts of a lemma and their sum over the cases drawn, with what else was found of its rules."""
    runs = [(case, case.episodes()) for case in drawn]
    refuted = findings([run for run in runs if run[0].kind == ONE_PAIR], visits, by_visits, visits_bound)
    true = findings(runs, f"{visits}, ended by T", ended_by_visits, visits_bound)
    for name, limit in zip(
        ("", ", as the library has it", ", sharper"), (limits[0], _library, *limits[1:]), strict=False
    ):
        true += findings(runs, gradient + name, by_gradient, limit)

        def both(case: Case, T: Vector, limit: Bound = limit) -> Vector:
            return limit(case, T) + visits_bound(case, T)

        true += findings(runs, f"both{name}", begun, both)
    return Checked(statement, tuple(refuted), (*true, *rules), (drawing,))


def _library(case: Case, T: Vector) -> Vector:
    """The bound of `theory.bounds`."""
    return np.array([bounds.gradient_episodes(case.reward, case.oracle, case.threshold, int(t)) for t in T])


def picture(model: Model, reward: Reward, oracle: Oracle, steps: int, bound: Bound) -> Picture:
    """The episodes of one agent at three thresholds, with their bounds."""
    rows: list[dict[str, object]] = []
    for share, name in ((0.01, "Q = L/100"), (1.0, "Q = L"), (100.0, "Q = 100 L")):
        case = Case("", model, reward, oracle, share * reward.lipschitz, 0.05, steps, 0)
        starts = case.episodes().start
        T = np.unique(np.geomspace(1, steps, 40).astype(np.int64))
        counts = np.searchsorted(starts, T, side="right")
        for t, count, limit in zip(
            T.tolist(), counts.tolist(), bound(case, T.astype(np.float64)).tolist(), strict=True
        ):
            rows += [
                {"T": t, "episodes": count, "Q": name, "line": "episodes"},
                {"T": t, "episodes": limit, "Q": name, "line": "bound"},
            ]
    axes = {
        "x": {"field": "T", "type": "quantitative", "scale": {"type": "log"}},
        "y": {"field": "episodes", "type": "quantitative", "scale": {"type": "log"}},
        "color": {"field": "Q", "type": "nominal", "title": None},
        "strokeDash": {"field": "line", "type": "nominal", "title": None, "sort": ["episodes", "bound"]},
    }
    return Picture(
        "Episodes, and their bound",
        f"{model.n_states} states, {model.n_pairs} pairs, {reward!r}. The smaller Q, the more episodes it ends.",
        {"data": {"values": rows}, "mark": "line", "encoding": axes},
    )


def _world(kind: str, rng: Rng) -> Model:
    K = int(rng.integers(1, 5))
    noise = "bernoulli" if rng.random() < 0.5 else "none"
    if kind == "random worlds":
        S, A = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        return garnet(S, A, min(S, int(rng.integers(1, 4))), K, int(rng.integers(2**31)), noise)
    if kind == "worlds of the paper":
        several = max(2, K)
        choices = (
            bandit(several),
            ring(int(rng.integers(1, 7))),
            star(several, 2 * int(rng.integers(1, 3))),
            hub(several),
        )
        return choices[int(rng.integers(4))]
    return garnet(1, 1, 1, K, int(rng.integers(2**31)), noise)


def _provoke(agent: TocUCRL2, steps: int, rng: Rng) -> None:
    """Step by hand through a world of one pair whose outcomes try to make theta move."""
    away, outcome = rng.random() < 0.5, np.zeros(agent.space.n_outcomes)
    for _ in range(steps):
        agent.act(0)
        if agent.drift == 0.0:  # an episode begins, or theta has not moved yet
            outcome = ((agent.average if away else rng.random(outcome.size)) < 0.5).astype(np.float64)
        agent.observe(outcome, 0)
