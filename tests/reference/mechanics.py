"""The agent that is told the mechanics of its system and not the laws, dense and plain.

`Mechanics` calls the step function by itself, and works out by itself what is seen of a hidden noise: the cells of each
pair as a closure of "some observation is possible under both", the sets that such cells make of a law as families in
which no two cross, and a unit for every set that falls into smaller ones. `Reference` counts the units, has the regions
of `confidence` and `regions` for them, and backs up a pair by nested maxima in the order of the noises. A maximum over
a law is the least of its upper bounds by duality, where the library moves mass about.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.reference.confidence import transition_region
from tests.reference.oracles import Oracle
from tests.reference.planner import argmax_with_ties
from tests.reference.regions import (
    Dense,
    Facts,
    region_of_adaptive,
    region_of_balls,
    region_of_empirical_bernstein,
)
from tests.reference.rewards import dual_norm

Array = NDArray[np.float64]
Law = tuple[str, Hashable]  # a noise, and the label of the law that it has
Cell = frozenset[int]
Family = tuple[Cell, ...]
Unit = tuple[str, Hashable, Cell, tuple[Cell, ...]]  # the same, the set in which the value lies, and what it falls into
Drawn = tuple[int, ...]  # the number of the value of each noise


# --- what is known ---


class Mechanics:
    """A step function with everything that can happen, by brute force.

    Parameters
    ----------
    step, start, actions, n_outcomes
        As one would write them down; `actions` is a function of the state.
    noises
        The values of each, in the order in which they are drawn.
    law
        ``law(noise, state, action)``, a label.
    given
        Laws that are known, by noise and label.
    hidden
        Noises that are not seen.
    """

    def __init__(
        self,
        step: Callable[..., tuple[Any, Sequence[float]]],
        start: Hashable,
        actions: Callable[[Any], Sequence[Any]],
        n_outcomes: int,
        noises: Mapping[str, Sequence[Any]],
        law: Callable[[str, Any, Any], Hashable] | None = None,
        given: Mapping[Law, Sequence[float]] | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        self.names = list(noises)
        self.supports = [list(values) for values in noises.values()]
        self.n_outcomes = n_outcomes
        self.hidden = set(hidden)
        self.given = {key: np.asarray(chances, dtype=float) for key, chances in (given or {}).items()}
        self.combinations: list[Drawn] = list(itertools.product(*(range(len(values)) for values in self.supports)))
        self.states: list[Any] = [start]
        self.n_actions: list[int] = []
        self.pairs: list[tuple[int, Any]] = []
        self.follows: list[dict[Drawn, tuple[int, Array]]] = []
        for state in self.states:
            offered = list(actions(state))
            self.n_actions.append(len(offered))
            for action in offered:
                row: dict[Drawn, tuple[int, Array]] = {}
                for drawn in self.combinations:
                    noise = {name: self.supports[j][drawn[j]] for j, name in enumerate(self.names)}
                    after, outcomes = step(state, action, **noise)
                    if after not in self.states:
                        self.states.append(after)
                    row[drawn] = (self.states.index(after), np.asarray(outcomes, dtype=float))
                self.pairs.append((len(self.n_actions) - 1, action))
                self.follows.append(row)
        choose = law or (lambda noise, state, action: None)
        self.law_of: list[list[Law]] = [
            [(name, choose(name, self.states[s], action)) for name in self.names] for s, action in self.pairs
        ]
        shown = list(dict.fromkeys(self._shown(drawn) for drawn in self.combinations))
        self.cells = [
            [{what: self._cells(pair, j, what) for what in shown} for j in range(len(self.names))]
            for pair in range(len(self.pairs))
        ]
        self.families: dict[Law, dict[int, Family]] = {
            key: self._families(key)
            for key in {key for laws in self.law_of for key in laws}
            if key not in self.given and len(self.supports[self.names.index(key[0])]) > 1
        }  # of each law to be learnt, that of each pair
        self.units: list[Unit] = list(dict.fromkeys(
            self.unit(key, family, inside)
            for key, by_pair in self.families.items() for family in by_pair.values() for inside in family
            if len(inside) > 1
        ))  # fmt: skip
        self.n_values = max([1, *(len(unit[3]) for unit in self.units)])

    # -- what of it is seen --

    def _shown(self, drawn: Drawn) -> tuple[int, ...]:
        return tuple(drawn[j] for j, name in enumerate(self.names) if name not in self.hidden)

    def _observation(self, pair: int, drawn: Drawn) -> tuple[Any, ...]:
        after, outcomes = self.follows[pair][drawn]
        return (after, tuple(outcomes.tolist()))

    def _cells(self, pair: int, j: int, shown: tuple[int, ...]) -> list[frozenset[int]]:
        """The values of noise j that no observation tells apart, given those that are shown: a closure."""
        size = len(self.supports[j])
        alike = np.eye(size, dtype=bool)
        if self.names[j] in self.hidden:
            possible = [drawn for drawn in self.combinations if self._shown(drawn) == shown]
            for one, other in itertools.product(possible, repeat=2):
                if self._observation(pair, one) == self._observation(pair, other):
                    alike[one[j], other[j]] = True
        for _ in range(size):
            alike = alike @ alike
        return [frozenset(np.flatnonzero(row).tolist()) for row in np.unique(alike, axis=0)]

    def _families(self, key: Law) -> dict[int, Family]:
        """For each pair that draws from a law, the family that its cells are in.

        A pair joins the first family that none of its cells crosses, those that show what most pairs show first.
        """
        j = self.names.index(key[0])
        size = len(self.supports[j])
        shows: dict[tuple[tuple[tuple[int, ...], ...], ...], list[int]] = {}
        for pair, laws in enumerate(self.law_of):
            if laws[j] == key:
                partitions = tuple(tuple(sorted(map(tuple, map(sorted, c)))) for c in self.cells[pair][j].values())
                shows.setdefault(partitions, []).append(pair)
        groups: list[list[int]] = []
        for partitions in sorted(shows, key=lambda one: (-len(shows[one]), one)):
            mine = {frozenset(cell) for partition in partitions for cell in partition}
            for group in groups:
                theirs = {cell for pair in group for partition in self.cells[pair][j].values() for cell in partition}
                if all(one & other in (frozenset(), one, other) for one in mine for other in theirs):
                    group.extend(shows[partitions])
                    break
            else:
                groups.append(list(shows[partitions]))
        return {pair: self._family(j, size, group) for group in groups for pair in group}

    def _family(self, j: int, size: int, pairs: Sequence[int]) -> Family:
        """The whole support, single values, and all cells of these pairs between, none across another.

        Where those of one pair cross, those of more pairs stay; then larger ones, then those that come first.
        """
        cells = [cell for pair in pairs for partition in self.cells[pair][j].values() for cell in partition]
        between = [cell for cell in dict.fromkeys(cells) if 1 < len(cell) < size]
        between.sort(key=lambda cell: (-cells.count(cell), -len(cell), sorted(cell)))
        family = [frozenset(range(size)), *(frozenset([value]) for value in range(size))]
        for cell in between:
            if all(cell & other in (frozenset(), cell, other) for other in family):
                family.append(cell)
        return tuple(family)

    @staticmethod
    def unit(key: Law, family: Family, inside: Cell) -> Unit:
        """It falls into the largest sets of the family strictly within one, by their least values."""
        within = [cell for cell in family if cell < inside]
        largest = [cell for cell in within if not any(cell < other for other in within)]
        return (*key, inside, tuple(sorted(largest, key=min)))

    def seen(self, pair: int, drawn: Drawn) -> list[tuple[Unit, int]]:
        """The units that are seen when this is drawn, in whichever family, with the number of the child."""
        steps: list[tuple[Unit, int]] = []
        for j, key in enumerate(self.law_of[pair]):
            for family in dict.fromkeys(self.families.get(key, {}).values()):
                inside = frozenset(range(len(self.supports[j])))
                while len(inside) > 1:
                    unit = self.unit(key, family, inside)
                    if any(
                        sum(bool(cell & part) for part in unit[3]) > 1
                        for cell in self.cells[pair][j][self._shown(drawn)]
                    ):
                        break
                    number = next(i for i, part in enumerate(unit[3]) if drawn[j] in part)
                    steps.append((unit, number))
                    inside = unit[3][number]
        return list(dict.fromkeys(steps))

    def seen_at_all(self, pair: int) -> set[Unit]:
        """The units that can be seen in a pair."""
        return {unit for drawn in self.combinations for unit, _ in self.seen(pair, drawn)}


# --- the maximum over a law ---


@dataclass(frozen=True)
class Bounds:
    """The region of one law: a box with a bound on the values never seen ``together``, or a ball if radius > 0."""

    lo: Array
    hi: Array
    unseen: NDArray[np.bool_]
    together: float
    centre: Array
    radius: float

    def maximum(self, x: Array) -> float:
        """max q.x over the region, as the least of the upper bounds by duality."""
        return self._over_ball(x) if self.radius > 0 else self._over_box(x)

    def _over_box(self, x: Array) -> float:
        """Prices for the whole and for the values never seen: at the least both are entries of x."""
        least = math.inf
        for alone in x:
            for grouped in x[x >= alone] if self.unseen.any() else [alone]:
                gain = x - np.where(self.unseen, grouped, alone)
                bound = alone + (grouped - alone) * self.together + gain @ np.where(gain > 0, self.hi, self.lo)
                least = min(least, float(bound))
        return least

    def _over_ball(self, x: Array) -> float:
        """With x + y = max, what is left is linear between the entries of x."""
        top, lacking = float(x.max()), 1 - float(self.centre.sum())
        return min(
            float(self.centre @ np.maximum(x, z)) + (top + z) / 2 * lacking + (top - z) / 2 * self.radius for z in x
        )


def regions(rule: str, facts: Facts, tau: int, delta: float) -> Dense:
    """By the name of the rule."""
    if rule == "adaptive":
        return region_of_adaptive(facts, delta)
    if rule == "empirical":
        return region_of_empirical_bernstein(facts, delta)
    if rule in ("jaksch", "laplace"):
        return region_of_balls(facts, tau, delta, rule)
    box = transition_region(facts.successors, facts.visits, tau, delta)
    n = facts.visits.size
    return Dense(box.lo, box.hi, np.ones(n), facts.successors * 0, np.zeros(n), facts.sums, facts.sums)


# --- the agent ---


class Reference:
    """TOC-UCRL2 over the laws: ``act(state)``, then ``observe(outcomes, next_state, noise)``, in turns.

    Parameters
    ----------
    mechanics
        What it knows.
    reward, oracle, Q, delta
        As for `toc_ucrl2.Reference`.
    rule
        "paper", "empirical", "adaptive", "jaksch" or "laplace".
    relaxation
        Of value iteration.
    growth
        The factor by which the visits of a unit grow until an episode ends.
    """

    def __init__(
        self,
        mechanics: Mechanics,
        reward: Any,
        oracle: Oracle,
        Q: float,
        rule: str = "paper",
        delta: float = 0.05,
        relaxation: float = 1.0,
        growth: float = 1.0,
    ) -> None:
        self.mechanics, self.oracle, self.Q, self.rule, self.delta = mechanics, oracle, Q, rule, delta
        self.norm, self.relaxation, self.growth = float(reward.norm), relaxation, growth
        self.history: dict[Unit, list[int]] = {unit: [] for unit in mechanics.units}  # the children, in order
        self.tested = [mechanics.seen_at_all(pair) for pair in range(len(mechanics.pairs))]
        self.first = np.concatenate([[0], np.cumsum(mechanics.n_actions)]).astype(int)
        self.t = 1
        self.state = 0
        self.episode_starts: list[int] = []
        self.triggers: list[str] = []
        self.gains: list[float] = []
        self.bias_spans: list[float] = []
        self.sweeps: list[int] = []
        self.thetas: list[Array] = []
        self.action = -1

    def act(self, state: int) -> int:
        assert state == self.state
        reason = self._why_the_loop_ends() if self.t > 1 else "start"
        if reason is not None:
            self._begin_episode(reason)
        self.thetas.append(self.oracle.theta.copy())
        self.action = int(self.policy[state])
        return self.action

    def observe(self, outcomes: ArrayLike, next_state: int, noise: Mapping[str, Any]) -> None:
        """``noise`` has the values of those that are seen; everything that fits must prove the same."""
        pair = int(self.first[self.state]) + self.action
        proofs = {tuple(self.mechanics.seen(pair, drawn)) for drawn in self._fitting(pair, outcomes, next_state, noise)}
        assert len(proofs) == 1
        for unit, number in proofs.pop():
            self.history[unit].append(number)
        self.drift += dual_norm(self.oracle.update(np.asarray(outcomes, dtype=float)) - self.theta_ref, self.norm)
        self.t += 1
        self.state = next_state

    def _fitting(self, pair: int, outcomes: ArrayLike, next_state: int, noise: Mapping[str, Any]) -> Iterator[Drawn]:
        mechanics = self.mechanics
        for drawn, (after, row) in mechanics.follows[pair].items():
            values = {name: mechanics.supports[j][drawn[j]] for j, name in enumerate(mechanics.names)}
            if after == next_state and np.array_equal(row, outcomes) and noise.items() <= values.items():
                yield drawn

    def _why_the_loop_ends(self) -> str | None:
        pair = int(self.first[self.state]) + int(self.policy[self.state])
        fresh = {unit: len(self.history[unit]) - self.known[unit] for unit in self.tested[pair]}
        doubled = any(number >= max(1, self.growth * self.known[unit]) for unit, number in fresh.items())
        if not self.drift <= self.Q:
            return "both" if doubled else "gradient"
        return "visits" if doubled else None

    def _begin_episode(self, reason: str) -> None:
        self.known = {unit: len(history) for unit, history in self.history.items()}
        self.bounds = self._bounds()
        self._plan(1 / math.sqrt(self.t))
        self.theta_ref = self.oracle.theta.copy()
        self.drift = 0.0
        self.episode_starts.append(self.t)
        self.triggers.append(reason)

    def facts(self) -> Facts:
        """A table whose pairs are the units and whose states are the values."""
        units, n_values, n_outcomes = self.mechanics.units, self.mechanics.n_values, self.mechanics.n_outcomes
        table = np.zeros((len(units), n_values))
        since = np.zeros(len(units))
        for i, unit in enumerate(units):
            history = self.history[unit]
            for number in history:
                table[i, number] += 1
            since[i] = len(history) - max([0, *(history.index(number) + 1 for number in set(history))])
        nothing = np.zeros((len(units), n_outcomes))
        return Facts(table, nothing, nothing, since, {i: nothing[i] for i in range(len(units))})

    def _bounds(self) -> dict[Unit, Bounds]:
        units, facts = self.mechanics.units, self.facts()
        if not units:
            return {}
        dense = regions(self.rule, facts, self.t, self.delta)
        found: dict[Unit, Bounds] = {}
        for i, unit in enumerate(units):
            size = len(unit[3])
            found[unit] = Bounds(
                dense.lo[i, :size],
                dense.hi[i, :size],
                facts.successors[i, :size] == 0,
                float(dense.together[i]),
                dense.centre[i, :size],
                float(dense.radius[i]),
            )
        return found

    def value(self, pair: int, u: Array) -> float:
        """The optimistic value of a pair: nested maxima, in the order of the noises."""
        mechanics, theta = self.mechanics, self.oracle.theta

        def after(drawn: Drawn) -> float:
            j = len(drawn)
            if j == len(mechanics.names):
                following, outcomes = mechanics.follows[pair][drawn]
                return float(-theta @ outcomes + u[following])
            x = np.array([after((*drawn, value)) for value in range(len(mechanics.supports[j]))])
            key = mechanics.law_of[pair][j]
            if key not in mechanics.families:
                return float(mechanics.given.get(key, np.ones(1)) @ x)

            def best(inside: frozenset[int]) -> float:
                if len(inside) == 1:
                    return float(x[min(inside)])
                unit = mechanics.unit(key, mechanics.families[key][pair], inside)
                return self.bounds[unit].maximum(np.array([best(part) for part in unit[3]]))

            return best(frozenset(range(len(x))))

        return after(())

    def _plan(self, epsilon: float) -> None:
        """Value iteration from zero; the least entry of u is made zero at every sweep."""
        n_states = len(self.mechanics.states)
        u = np.zeros(n_states)
        for sweep in range(1, 100_000):
            values = [
                np.array([self.value(pair, u) for pair in range(self.first[s], self.first[s + 1])])
                for s in range(n_states)
            ]
            difference = np.array([value.max() for value in values]) - u
            if np.ptp(difference) <= epsilon:
                self.policy = np.array([argmax_with_ties(value) for value in values])
                self.gains.append(float(difference.max()))
                self.bias_spans.append(float(np.ptp(u)))
                self.sweeps.append(sweep)
                return
            u = u + self.relaxation * difference
            u = u - u.min()
        raise ArithmeticError("no convergence")
