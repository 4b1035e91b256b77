r"""Playing the optimum of a known model: the occupancy that `solve` found, with its recurrent classes in turns.

The policy of an optimal occupancy does not have that occupancy if it splits into several recurrent classes: it stays in
one. So each class is played for its share of a round of R = 2 sqrt(n D t) steps (`rounds`), and between two of them a
plan leads from one to the other. In every class the action that is furthest behind its share is taken, so no random
number is drawn.

The regret is at most of the order sqrt(n D / T) for every Lipschitz g: docs/mixtures.md. `MixtureUCRL2` with
``Known(model)`` makes up for chance on the way, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._types import Vector
from equipoise.agents.base import Agent
from equipoise.agents.mixture_state import restored_rounds, stored_rounds
from equipoise.agents.phase import check_kind
from equipoise.agents.rounds import NO_SHARE, RARE, Slot, distances, follow_rounds, next_action, no_rounds, rounds_of
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import empty_counts
from equipoise.confidence.known import Known
from equipoise.errors import ParameterError
from equipoise.models.labels import as_column
from equipoise.models.model import Model, Space
from equipoise.models.world import get_sampling
from equipoise.offline.chains import long_run, occupancy_policy
from equipoise.offline.export import write_table
from equipoise.planning.mixture import MixturePlanner, PlannedPolicy
from equipoise.rewards.base import Reward

if TYPE_CHECKING:
    import polars

_RULE: Final = (
    "Play the turns one after the other, again and again. Begin each round at time t with R = max(n D, 2 sqrt(n D t)),"
    " n turns, D = distance. A turn lasts until share * R steps were taken in states that are inside of it."
)
_LEAST: Final = 1e-6  # of the time in a class, and of that of a pair
_SUM: Final = 1e-6  # by which the sum of an occupancy may differ from 1
_EVERY: Final = 0.02  # of the time so far passes until the length of rounds is looked at again
_LEAST_STEPS: Final = 10


@final
class Optimum(Agent):
    """An agent that plays an occupancy of a known model, such as that of `solve`.

    Parameters
    ----------
    space : Space
        The model's.
    reward : Reward
        What its outcomes are judged by.
    model : Model
        The model.
    occupancy : array of float
        How often each pair is to be taken; it sums to 1, and its flow is balanced (`Benchmark.occupancy`).
    theta : array of float
        Minus the value of each outcome on the ways between classes (`Benchmark.theta`).

    See Also
    --------
    equipoise.solve : Where occupancies come from; ``solve(model, reward).agent(space)`` makes this agent.
    equipoise.MixtureUCRL2 : With ``Known(model)``, an agent that plans again as it goes.

    Examples
    --------
    >>> import equipoise as eq
    >>> model, reward = eq.models.star(branches=3, diameter=4), eq.rewards.Balance([0.5, 0.25, 0.25])
    >>> best = eq.solve(model, reward)
    >>> agent = Optimum(model.space, reward, model, best.occupancy, best.theta)  # or best.agent(model.space)
    >>> run = eq.simulate(model, agent, 100_000)
    >>> bool(run.regret(best)[-1] < 0.02)
    True
    """

    def __init__(self, space: Space, reward: Reward, model: Model, occupancy: ArrayLike, theta: ArrayLike) -> None:
        super().__init__(space, reward)
        check_kind(model, Model, "model", "eq.models.star()")
        known = Known(model)
        known.check(space)
        self.model = model
        self.occupancy = _checked(occupancy, "occupancy", model.n_pairs)
        self.theta = _checked(theta, "theta", model.n_outcomes)
        if self.occupancy.min() < -_SUM or abs(self.occupancy.sum() - 1.0) > _SUM:
            raise ParameterError(
                f"occupancy: its least entry is {self.occupancy.min():g} and the sum {self.occupancy.sum():g}; entries "
                "of at least 0 that sum to 1 are needed, such as Benchmark.occupancy"
            )
        self._counts = counts = empty_counts(model.space, known)  # which stays so
        planner = MixturePlanner(model.space, reward, known.relaxation)
        planner.enter(counts, build_region(known, model.space, counts, 1, 0.5))
        own = np.where(self.occupancy > _LEAST, self.occupancy, 0.0)  # less is a solver's rounding
        state_of, first_pair = model.state_of, model.first_pair
        self._slots: list[Slot] = []
        self._ways: list[PlannedPolicy] = []
        nothing = np.zeros(model.n_states)
        plan = PlannedPolicy(self.theta, nothing.astype(np.int64), nothing, 0.0, nothing, nothing, 0)
        self._unit = planner.unit(plan)
        for states, settled in long_run(model, occupancy_policy(model, own)):
            weight = float(own[np.isin(state_of, states)].sum())
            if weight > _LEAST:
                way = planner.way(np.flatnonzero(settled > _LEAST), plan)
                self._slots.append(Slot(weight, settled, np.add.reduceat(settled, first_pair[:-1])))
                self._ways.append(way)
        self._rounds = no_rounds(space.n_states, space.n_pairs)

    def choose(self, state: int) -> int:
        """The next action of the round."""
        first_pair = self.space.first_pair
        while (pair := int(next_action(None, self._rounds, first_pair, self._counts, False, 1.0, state, self.t))) < 0:
            self._begin_round()
        return pair - int(first_pair[state])

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled within a round."""
        world, last = get_sampling(model), self.t + steps
        outcome = np.zeros(self.space.n_outcomes)
        while self.t < last:
            follow_rounds(
                self._rounds, self.space.first_pair, self._clock, self._total, outcome, last - self.t, rng, world
            )
            if self.t < last:
                self._begin_round()

    def frame(self) -> polars.DataFrame:
        """Return what is played as a table, one row per turn, state and action that is taken there.

        The columns are turn (its number), share (of the steps), distance (the expected number of steps from the other
        turns to this one), inside (whether a step in this state counts as one of the turn), state, action (their
        labels, or else their numbers) and probability.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.star(branches=2, diameter=4)
        >>> agent = eq.solve(model, eq.rewards.Balance([0.75, 0.25])).agent(model.space)
        >>> agent.frame().filter(agent.frame()["inside"]).select("share", "state", "action").rows()
        [(0.75, 'end 0', 'loop'), (0.25, 'end 1', 'loop')]
        """
        import polars

        model, columns = self.model, []
        first_pair, labels, state_of = model.first_pair, model.labels, model.state_of
        for turn, (slot, way, distance) in enumerate(zip(self._slots, self._ways, self._distances(), strict=True)):
            inside = slot.states > RARE
            probability = np.where(inside[state_of], slot.occupancy / np.where(inside, slot.states, 1.0)[state_of], 0.0)
            probability[probability < NO_SHARE] = 0.0
            probability /= np.where(inside, np.add.reduceat(probability, first_pair[:-1]), 1.0)[state_of]
            probability[(first_pair[:-1] + way.policy)[~inside]] = 1.0
            for pair in np.flatnonzero(probability).tolist():
                state = int(state_of[pair])
                action = labels.action(state, pair - int(first_pair[state]))
                row = (turn, slot.weight, distance, bool(inside[state]), labels.state(state), action)
                columns.append((*row, float(probability[pair])))
        numbers, shares, distances, insides, states, actions, probabilities = zip(*columns, strict=True)
        return polars.DataFrame(
            {
                "turn": numbers,
                "share": shares,
                "distance": distances,
                "inside": insides,
                "state": as_column(states),
                "action": as_column(actions),
                "probability": probabilities,
            }
        )

    def save_policy(self, path: str | os.PathLike[str]) -> Path:
        """Write `frame`, to be followed elsewhere; a JSON file also says how.

        Play the turns one after the other, again and again: in a round of R steps that begins at time t, each turn
        lasts until `share` R steps were taken in states that are inside of it, R = 2 sqrt(n D t), where n is the number
        of turns and D the mean of `distance`, and at least n D.

        Parameters
        ----------
        path : path
            The file; its ending determines the format: .parquet, .csv or .json.

        Examples
        --------
        >>> import tempfile
        >>> import equipoise as eq
        >>> model = eq.models.star(branches=2, diameter=4)
        >>> agent = eq.solve(model, eq.rewards.Balance([0.75, 0.25])).agent(model.space)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = agent.save_policy(f"{folder}/policy.csv")
        ...     print(file.read_text().splitlines()[0])
        turn,share,distance,inside,state,action,probability
        """
        distance, n = self._distances(), len(self._slots)
        return write_table(path, self.frame(), lambda: {"turns": n, "distance": float(distance.mean()), "rule": _RULE})

    def memory(self) -> dict[str, NDArray[Any]]:
        """The round that is being played."""
        return stored_rounds(self._rounds)

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with it."""
        self._rounds = restored_rounds(self._rounds, memory, self.space)

    def _distances(self) -> Vector:
        """The mean number of steps to each turn from the others; 1 at least, and if there are none."""
        n = len(self._slots)
        total = distances(self._slots, self._ways, self._unit).sum(axis=1)
        return np.asarray(np.maximum(1.0, total / max(1, n - 1)))

    def _begin_round(self) -> None:
        length, now = max(_LEAST_STEPS, math.ceil(_EVERY * (self.t - 1))), (self.state, self.t)
        self._rounds = rounds_of(
            self.space.first_pair, self._slots, self._ways, self._unit, now, length, self._rounds.credit
        )


def _checked(x: ArrayLike, name: str, size: int) -> Vector:
    try:
        vector = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}: not a vector of numbers ({error})") from None
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise ParameterError(f"{name}: got shape {vector.shape}; {size} finite numbers are needed")
    return vector
