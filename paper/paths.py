"""A run of the agent stepped by hand, with all that the analysis of section 4 speaks of written down.

At every step: s_t, the pair, theta_t, V_t and the episode. At every episode: tau(m), the gain and the bias of its plan.
From these the terms of the proofs follow by the paper's formulas (`written_regions`, `written_terms`), without the
package's own recording (`theory.decompose`), which they are compared with.

Under the doubling trick with fresh counts, mega-episode h = 1, 2, ... takes 2^h steps, forgets the counts, starts its
own clock, and has delta / 2^h (Algorithm 4, erratum 7). Elsewhere there is one clock and one delta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.oracles.descent import Doubling


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Path:
    """What happened, one row a step or one row an episode.

    Attributes
    ----------
    model : Model
        The world.
    delta : float
        The level of the regions.
    doubling : bool
        Whether counts are forgotten at the powers of two.
    state : int array, T + 1 entries
        s_1 to s_{T+1}.
    pair : int array, T entries
        The number of (s_t, a_t).
    theta, outcome : float arrays, T by K
        theta_t and V_t.
    row : int array, T entries
        The episode of each step, from 0.
    start : int array, M entries
        tau(m) on the agent's clock.
    gain : float array, M entries
        Of the plan.
    bias : float array, M by S
        Of the plan.
    """

    model: Model
    delta: float
    doubling: bool
    state: Index
    pair: Index
    theta: Vector
    outcome: Vector
    row: Index
    start: Index
    gain: Vector
    bias: Vector

    @property
    def reference(self) -> Vector:
        """theta_tau(m), one row an episode."""
        return self.theta[self.start - 1]

    @property
    def mega(self) -> Index:
        """The mega-episode of each episode: h = 1, 2, ...; 0 without doubling."""
        if not self.doubling:
            return np.zeros(self.start.size, np.int64)
        doublings: Index = np.floor(np.log2(self.start + 1.0)).astype(np.int64)
        return doublings

    @property
    def tau(self) -> Index:
        """tau(m) on the clock of the regions."""
        before: Index = 2**self.mega - 2 if self.doubling else np.zeros(self.start.size, np.int64)
        return self.start - before

    @property
    def level(self) -> Vector:
        """Delta of each episode."""
        return np.array(self.delta * 0.5**self.mega, np.float64)


def stepped(
    model: Model, agent: TocUCRL2, steps: int, seed: int, begun: Callable[[TocUCRL2], None] | None = None
) -> Path:
    """Take so many steps by `act` and `observe`; the same seed gives the trajectory of `simulate`.

    `begun` is called with the agent whenever an episode has been planned.
    """
    world = model.world(seed=seed)
    state, pair, row = np.zeros(steps + 1, np.int64), np.zeros(steps, np.int64), np.zeros(steps, np.int64)
    theta, outcome = np.zeros((steps, model.n_outcomes)), np.zeros((steps, model.n_outcomes))
    starts: list[int] = []
    gains: list[float] = []
    biases: list[Vector] = []
    for t in range(steps):
        state[t] = world.state
        action = agent.act(world.state)
        known = agent.episode_starts
        if known.size > len(starts):
            starts.append(int(known[-1]))
            gains.append(agent.gain)
            biases.append(agent.bias)
            if begun is not None:
                begun(agent)
        row[t] = len(starts) - 1
        theta[t] = agent.theta
        pair[t] = model.pair(world.state, action)
        V, after = world.step(action)
        agent.observe(V, after)
        outcome[t] = V
    state[steps] = world.state
    oracle = agent.oracle
    return Path(
        model=model,
        delta=agent.delta,
        doubling=isinstance(oracle, Doubling) and not oracle.inherit,
        state=state,
        pair=pair,
        theta=theta,
        outcome=outcome,
        row=row,
        start=np.array(starts),
        gain=np.array(gains),
        bias=np.array(biases),
    )
