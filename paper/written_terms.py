r"""The five terms of (4.13) to (4.15), and what their proofs split them into, written out for a path.

    v~        the maximiser of (-theta_tau).v over H^v: the upper end where -theta_k > 0, else the lower
    p~        the maximiser of p.bias over H^p: begin with the lower ends, give what is left to the best states first
    club      (theta_t - theta_tau).V_t                diamond   (-theta_tau).(v~ - V_t)
    heart     (theta_tau - theta_t).v*                 spade     p~.bias - bias(s_t)
    P         1/sqrt(tau)

and, with p and v the truth,

    diamond = (-theta_tau).(v~ - v)  +  (-theta_tau).(v - V_t)                      learning, noise            (B.22)
    spade   = (p~ - p).bias + p.bias - bias(s_{t+1}) + bias(s_{t+1}) - bias(s_t)    learning, chance, motion   (B.28)

The regions and p~ are those of `tests.reference`; nothing here is taken from `theory` or `planning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Vector
from paper.paths import Path
from paper.written_regions import Regions, regions
from tests.reference.planner import best_distributions

Flags = NDArray[np.bool_]


class Five(NamedTuple):
    """The terms of every step."""

    club: Vector
    diamond: Vector
    heart: Vector
    spade: Vector
    P: Vector


@final
@dataclass(frozen=True, eq=False)
class Terms:
    """A path, its regions, and v*."""

    path: Path
    target: Vector
    regions: Regions

    @cached_property
    def optimistic(self) -> Vector:
        """v~, episode by pair by outcome."""
        v = self.regions.v
        ends: Vector = np.where(-self.path.reference[:, None, :] > 0, v.hi, v.lo)
        return ends

    @cached_property
    def rewards(self) -> Vector:
        """r~ = (-theta_tau).v~, episode by pair."""
        rewards: Vector = -np.einsum("msk,mk->ms", self.optimistic, self.path.reference)
        return rewards

    @cached_property
    def best(self) -> Vector:
        """The maximum of p.bias over H^p, episode by pair."""
        return np.array(
            [
                best_mean(bias, lo, hi)
                for bias, lo, hi in zip(self.path.bias, self.regions.p.lo, self.regions.p.hi, strict=True)
            ]
        )

    @property
    def differences(self) -> Vector:
        """r~(s,a) + max p.bias - bias(s), episode by pair: what the last sweep of the plan compared."""
        return self.rewards + self.best - self.path.bias[:, self.path.model.state_of]

    @cached_property
    def left(self) -> Vector:
        """(-theta_t).(v* - V_t)."""
        return _dot(-self.path.theta, self.target - self.path.outcome)

    @cached_property
    def five(self) -> Five:
        """The terms of the lemma."""
        path, row = self.path, self.path.row
        theta, reference, V = path.theta, path.reference[row], path.outcome
        here = np.arange(path.pair.size)
        return Five(
            club=_dot(theta - reference, V),
            diamond=self.rewards[row, path.pair] + _dot(reference, V),
            heart=(reference - theta) @ self.target,
            spade=self.best[row, path.pair] - path.bias[row, path.state[here]],
            P=1.0 / np.sqrt(path.tau[row]),
        )

    @cached_property
    def learning_outcomes(self) -> Vector:
        """(-theta_tau).(v~ - v) at the pair of each step."""
        path = self.path
        gap = self.optimistic[path.row, path.pair] - path.model.means[path.pair]
        return _dot(-path.reference[path.row], gap)

    @cached_property
    def noise(self) -> Vector:
        """(-theta_tau).(v - V_t)."""
        path = self.path
        return _dot(-path.reference[path.row], path.model.means[path.pair] - path.outcome)

    @cached_property
    def expected(self) -> Vector:
        """p.bias at the pair of each step, p the truth."""
        path = self.path
        return _dot(path.model.transitions().toarray()[path.pair], path.bias[path.row])

    @cached_property
    def learning_transitions(self) -> Vector:
        """(p~ - p).bias."""
        return self.best[self.path.row, self.path.pair] - self.expected

    @cached_property
    def chance(self) -> Vector:
        """p.bias - bias(s_{t+1})."""
        return self.expected - self.path.bias[self.path.row, self.path.state[1:]]

    @cached_property
    def motion(self) -> Vector:
        """bias(s_{t+1}) - bias(s_t), which telescopes within an episode."""
        path = self.path
        return path.bias[path.row, path.state[1:]] - path.bias[path.row, path.state[:-1]]

    @property
    def v_held(self) -> Flags:
        """Whether v lies in H^v, an entry an episode."""
        inside = np.abs(self.path.model.means - self.regions.v.centre) <= self.regions.v.radius
        return np.array(inside.all(axis=(1, 2)))

    @property
    def p_held(self) -> Flags:
        """Whether p lies in H^p, an entry an episode."""
        inside = np.abs(self.path.model.transitions().toarray() - self.regions.p.centre) <= self.regions.p.radius
        return np.array(inside.all(axis=(1, 2)))

    @property
    def counts(self) -> Vector:
        """N+_m(s_t, a_t) at each step."""
        return np.maximum(1.0, self.regions.visits[self.path.row, self.path.pair])


def terms(path: Path, target: Vector) -> Terms:
    """The terms of a path with the regions of the paper."""
    return Terms(path, target, regions(path))


def best_mean(values: Vector, lo: Vector, hi: Vector) -> Vector:
    """The largest mean of `values` under a distribution between the bounds; one for each row of bounds.

    >>> best_mean(np.array([0.0, 2.0, 1.0]), np.zeros((1, 3)), np.full((1, 3), 0.6)).round(9).tolist()
    [1.6]
    """
    mean: Vector = best_distributions(np.argsort(-values, kind="stable"), lo, hi) @ values
    return mean


def _dot(x: Vector, y: Vector) -> Vector:
    """Row by row."""
    products: Vector = np.einsum("tk,tk->t", x, y)
    return products
