r"""The rules that end an episode, checked on recorded runs by their definitions, and how far theta may move.

A run is stepped by hand, and after each step theta is noted. From the path alone, with sums and norms written out here,
an episode that starts at tau(m) and ends with step t = tau(m+1) - 1 must have

    Psi(t)     = sum over q from tau to t of ||theta_{q+1} - theta_tau||_*   >  Q     if Psi ended it,
    Psi(t - 1)                                                              <=  Q     always (B.19),
    nu(t)      = visits of a pair within the episode  =  N+                           if visits ended it,
    nu         <  N+   before every step, of the pair that is taken;

an end needs one of the two reasons; theta itself must be what the oracle's formula makes of the path; and the compiled
loop must have had the same episodes.

The proofs then bound how far theta moves within an episode, with ||x|| <= ||1|| for the difference x of two points of
the box, where the paper has 2 ||1||:

    FW   ||theta_t - theta_tau||_*  <=  beta ||1|| (t - tau)/(t - 1)                  half of (4.9)
    TGD                             <=  L sum of q^{-2/3}, q from tau to t - 1        half of (C.11)
    TMD                             <=  L' (t - tau) / T^{2/3}                        half of (C.28)

**How near the lemmas are.** On one pair let the outcome be 0 or 1 throughout an episode, whichever is away from the
average, or from the side that theta is on. Theta then moves at half of the speed above. An episode of n steps adds up
n^2/2 times that speed, so that n is 2 sqrt(Q tau / beta), 2 sqrt(Q/L) tau^{1/3} or 2 sqrt(Q/L') T^{1/3}; the number
of episodes is the integral of 1/n,

    sqrt(beta T/Q) = M/sqrt(32),     (3/4) sqrt(L/Q) T^{2/3} = M/4,     (1/2) sqrt(L'/Q) T^{2/3} = M/2,

with M the leading term of the lemma. These are the best factors found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Vector
from equipoise.agents.episodes import BY_GRADIENT, BY_VISITS
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError
from equipoise.models.world import World
from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import TunedGradientDescent, TunedMirrorDescent
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.mirror_maps import Box, EntropicMap, EuclideanBall
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones
from paper.findings import Finding
from paper.random_cases import ADVERSARY, Case

_ROUNDING: Final = 1e-9  # relative: sums of a few thousand numbers, in another order


class Path(NamedTuple):
    """A run, step by step: states, pairs, outcomes, and theta from theta_1 to theta_{T+1}."""

    states: NDArray[np.int64]
    pairs: NDArray[np.int64]
    outcomes: Vector
    theta: Vector
    starts: NDArray[np.int64]
    ended: NDArray[np.int64]


class Kept(NamedTuple):
    """How well the rules were kept: shares of Q, counts of slips, errors, and the share of the movement allowed."""

    before: float
    after: float
    visits: int
    reasons: int
    theta: float
    movement: float
    unlike: int


def follow(case: Case) -> Path:
    """Step a case by hand in its own world."""
    agent, world = case.agent(), World(case.model, case.seed)
    theta = [agent.theta.copy()]
    states, pairs, outcomes = [], [], []
    for _ in range(case.steps):
        state = world.state
        action = agent.act(state)
        outcome, after = world.step(action)
        agent.observe(outcome, after)
        states.append(state)
        pairs.append(case.model.pair(state, action))
        outcomes.append(np.array(outcome))
        theta.append(agent.theta.copy())
    states.append(world.state)
    record = agent.episode_record
    return Path(np.array(states), np.array(pairs), np.array(outcomes), np.array(theta), record.start, record.ended)


def kept(case: Case) -> Kept:
    """Follow a case, and hold its path against the definitions."""
    path, compiled = follow(case), case.episodes()
    Q, dual = case.threshold, {1.0: math.inf, 2.0: 2.0, math.inf: 1.0}[case.reward.norm]
    counts = np.zeros(case.model.n_pairs, dtype=np.int64)
    before, after, movement = 0.0, math.inf, 0.0
    visits = reasons = 0
    ends = [*path.starts[1:].tolist(), case.steps + 1]
    for start, end, ended in zip(path.starts.tolist(), ends, path.ended.tolist(), strict=True):
        reference = path.theta[start - 1]
        gaps = np.linalg.norm(path.theta[start:end] - reference, ord=dual, axis=1)
        psi = np.cumsum(gaps)
        if psi.size > 1:
            before = max(before, float(psi[-2]) / Q)
        movement = max(movement, float((gaps / _reach(case, start, end)).max()))
        fresh = np.zeros_like(counts)
        least = np.maximum(1, counts)
        for pair in path.pairs[start - 1 : end - 1].tolist():
            visits += int(fresh[pair] >= least[pair])
            fresh[pair] += 1
        here = set(path.pairs[start - 1 : end - 1][path.states[start - 1 : end - 1] == path.states[end - 1]].tolist())
        full = any(fresh[pair] == least[pair] for pair in here)
        if ended & BY_GRADIENT:
            after = min(after, float(psi[-1]) / Q)
        if ended & BY_VISITS:
            visits += int(not full)
        elif end <= case.steps:  # the open episode may be full after its last step
            visits += int(full)
        if end <= case.steps:
            reasons += int(not ended & (BY_GRADIENT | BY_VISITS))
            before = before if ended & BY_GRADIENT else max(before, float(psi[-1]) / Q)
        counts += fresh
    size = min(path.starts.size, compiled.start.size)
    unlike = abs(path.starts.size - compiled.start.size) + int(
        ((path.starts[:size] != compiled.start[:size]) | (path.ended[:size] != compiled.ended[:size])).sum()
    )
    return Kept(before, after, visits, reasons, _off(case.reward, case.oracle, path), movement, unlike)


def findings(cases: Iterable[Case]) -> list[Finding]:
    """The rules over all cases."""
    seen = [kept(case) for case in cases if case.kind != ADVERSARY]
    name = f"{len(seen)} recorded runs"
    return [
        Finding(f"{name}: Ψ before an end, over Q", max(k.before for k in seen), 1.0, error=_ROUNDING),
        Finding(f"{name}: Ψ at an end by Ψ, over Q", min(k.after for k in seen), 1.0, ">=", error=_ROUNDING),
        Finding(f"{name}: ν ≥ N⁺ before a step, or ν ≠ N⁺ at an end by visits", sum(k.visits for k in seen), 0.0),
        Finding(f"{name}: ends without a reason", sum(k.reasons for k in seen), 0.0),
        Finding(f"{name}: how far θ is off its formula", max(k.theta for k in seen), 0.0, error=_ROUNDING),
        Finding(f"{name}: how far θ moves, over its bound", max(k.movement for k in seen), 1.0, error=_ROUNDING),
        Finding(f"{name}: episodes unlike those of the compiled loop", sum(k.unlike for k in seen), 0.0),
    ]


def provoked(agent: TocUCRL2, steps: int) -> int:
    """How many episodes Psi ends on one pair with one outcome, 0 or 1 throughout an episode, away from the average."""
    outcome = np.zeros(1)
    for _ in range(steps):
        agent.act(0)
        if agent.drift == 0.0:
            # under Frank-Wolfe theta follows the average; a descent is to be turned back when it has passed the centre
            up = agent.average[0] < 0.5 if isinstance(agent.oracle, FrankWolfe) else agent.theta[0] < 0.0
            outcome = np.array([float(up)])
        agent.observe(outcome, 0)
    return int((agent.episode_record.ended & BY_GRADIENT > 0).sum())


def nearness(label: str, case: Case, bound: float, factor: float) -> list[Finding]:
    """The share of a lemma's bound that the adversary uses, and that it is no less than the closed form says.

    An episode is at most one step longer than it need be, one in twenty; the integral is exact to the length of one
    episode at each end. So at least nine tenths of the closed form must be seen.
    """
    count = provoked(case.agent(), case.steps)
    share = count / bound
    note = f"{count} episodes by Ψ, T = {case.steps}; the closed form is {factor:.3g}"
    return [
        Finding(f"{label}, the best adversary: share of the bound", share, 1.0, note=note),
        Finding(f"{label}, the best adversary: share of the bound, at least", share, 0.9 * factor, ">="),
        Finding(f"{label}, the best adversary: share of the bound, at most", share, 1.1 * factor),
    ]


def _reach(case: Case, start: int, end: int) -> Vector:
    """How far theta may be from theta_tau at times tau + 1 to tau(m+1)."""
    reward, oracle = case.reward, case.oracle
    t = np.arange(start + 1, end + 1, dtype=np.float64)
    if isinstance(oracle, FrankWolfe):
        reach: Vector = (reward.smoothness or 0.0) * ones(reward.n_outcomes, reward.norm) * (t - start) / (t - 1.0)
    elif isinstance(oracle, TunedGradientDescent):
        reach = reward.lipschitz * np.cumsum((t - 1.0) ** (-2.0 / 3.0))
    elif isinstance(oracle, TunedMirrorDescent):
        reach = oracle.mirror_map.radius(reward) * (t - start) / oracle.horizon ** (2.0 / 3.0)
    else:
        raise ParameterError(f"oracle: got {oracle!r}; its lemma is not among the three")
    return reach


def _off(reward: Reward, oracle: Oracle, path: Path) -> float:
    """The largest distance of a theta from what the oracle's formula makes of the path before it, in units of L."""
    T, K = path.outcomes.shape
    made = np.zeros((T, K))
    L, one = reward.lipschitz, ones(K, reward.norm)
    if isinstance(oracle, FrankWolfe):
        averages = np.cumsum(path.outcomes, axis=0) / np.arange(1, T + 1)[:, None]
        made = -np.array([reward.gradient(np.clip(average, 0.0, 1.0)) for average in averages])
    else:
        z = np.array([reward.conjugate_argmax(theta) for theta in path.theta[:-1]]) - path.outcomes
        if isinstance(oracle, TunedGradientDescent):
            rates = L / (one * np.arange(1.0, T + 1.0) ** (2.0 / 3.0))
            made = _in_ball(path.theta[:-1] - rates[:, None] * z, L)
        elif isinstance(oracle, TunedMirrorDescent):
            made = _mirrored(reward, oracle, np.cumsum(z, axis=0))
    return float(np.abs(made - path.theta[1:]).max() / L)


def _mirrored(reward: Reward, oracle: TunedMirrorDescent, total: Vector) -> Vector:
    """The maximiser of -theta.(eta Z) - F(theta), for each Z."""
    mirror, L = oracle.mirror_map, reward.lipschitz
    rate = mirror.radius(reward) / (ones(reward.n_outcomes, reward.norm) * oracle.horizon ** (2.0 / 3.0))
    if isinstance(mirror, EuclideanBall):
        return _in_ball(-rate * total, L)
    if isinstance(mirror, Box):
        clipped: Vector = np.clip(-rate * total, -L, L)
        return clipped
    if not isinstance(mirror, EntropicMap):
        raise ParameterError(f"mirror_map: got {mirror!r}; its formula is not among the three")
    base, coordinate, scale = mirror.vertices(reward)
    slopes: Vector = (rate / np.abs(scale).max() ** 2) * total[:, coordinate] * scale
    weights = np.exp(slopes - slopes.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    theta: Vector = np.tile(-base, (total.shape[0], 1))
    for j, k in enumerate(coordinate.tolist()):
        theta[:, k] -= weights[:, j] * scale[j]
    return theta


def _in_ball(x: Vector, radius: float) -> Vector:
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    shrunk: Vector = x * np.minimum(1.0, radius / np.maximum(lengths, radius))
    return shrunk
