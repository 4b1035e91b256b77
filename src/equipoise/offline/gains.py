r"""The best average score of a known model: a policy, its bias, and bounds from both sides.

For scores r, one per pair, T is the operator (Tu)(s) = max_a r(s,a) + sum_s' p(s'|s,a) u(s'). In a communicating model
the largest average score is the same from everywhere, and for *any* u

    min_s (Tu - u)(s)  <=  every gain of a greedy policy for u,   the best gain  <=  max_s (Tu - u)(s),

which is what is returned, whoever found u. Two ways to a u for which the two agree take turns:

**Sweeps** (modified policy iteration). A greedy sweep, then some of the policy that it found, which cost a fraction of
it. Each moves u by nine tenths of the way: full steps do not converge on periodic models. That is all that is needed
where chains forget within some hundred steps where they began, at any size.

**Factorisations** (Howard). Where the span of Tu - u falls so slowly that the sweeps to come would cost more, the
policy at hand is evaluated by a sparse factorisation (see `chains`), and the sweeps go on from its values. It waits
until sweeps no longer change the policy: on a line of n states n of them are needed to bring the news from one end to
the other, and they are cheap. Where many ways are all but as good as each other they never cease to change it; so it is
also tried whenever they have cost as much as that, and undone, and put off, if it brings the bounds no closer. Long
and thin worlds, lines, queues, grids, and those without chance mix slowly and are cheap to factorise; in random ones it
is the other way round. Where both are dear the sweeps go on, and the bounds are as far apart as they are then.

`policy_columns` has the stationary distributions of a policy's recurrent classes: by the power method, or factorised.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._runtime.compiler import kernel
from equipoise._runtime.threads import cut_states, parallel_map
from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline.chains import (
    AFFORDABLE,
    SMALL,
    Moves,
    discounted_values,
    empty_moves,
    factorisation_work,
    factorised_distribution,
    policy_moves,
    settle,
    stationary_distribution,
)

_TIE: Final = 1e-12  # a pair replaces the one in use if it is better by more than that, relative
_STEP: Final = 0.9  # of the way that a sweep goes
_FOLLOWED: Final = 6  # sweeps of the policy after each greedy one
_SHARE: Final = 0.1  # of the span at hand: to that the policy's own sweeps are worth going
_CHUNK: Final = 8  # greedy sweeps between two looks at how fast the span falls
_FREE_VISITS: Final = 5e6  # successors that sweeps visit before a factorisation is thought of
_VISITS_PER_STATE: Final = 300.0  # successors that could be visited while a state is brought into a factorisation
_SWEEPS_UNCHANGED: Final = 4  # greedy sweeps that leave the policy as it is: then it is evaluated
_MAX_FUTILE: Final = 20  # evaluations of one and the same policy: what is left between the bounds is rounding
_MAX_VISITS: Final = 2e10  # successors visited before the search ends, whatever it has reached
_LEAST_SWEEPS: Final = 400
_SMALLEST: Final = 1e-14  # epsilon of an evaluation
_ROUNDING: Final = 1e-15  # times the span of u: differences below are rounding
_SETTLED: Final = 1e-11  # 1-norm of the residual at which a distribution is taken
_POWER: Final = 4000  # steps of the power method, at most
_POWER_CHUNK: Final = 100
_FALLING: Final = 0.5  # a residual that does not fall by that factor in so many steps falls too slowly


class Gain(NamedTuple):
    """The best average score, from both sides, with its proof."""

    lower: float
    upper: float
    bias: Vector
    pairs: Index


class Column(NamedTuple):
    """A recurrent class of a policy, as a vertex of the occupancies."""

    pairs: Index
    weight: Vector
    outcomes: Vector


@final
class GainSearch:
    """Searches one model for the best average score, time after time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.evaluations = 0  # factorisations so far
        self._dynamics = (model.transition_first, model.transition_state, model.transition_probability)
        self._after = np.empty(model.n_states)
        self._room = empty_moves(model)
        self._round = model.transition_state.size * (1.0 + _FOLLOWED * model.n_states / model.n_pairs)
        successors = model.transition_state.size
        self._greedy_parts = cut_states(model.n_states, successors)
        self._parts = cut_states(model.n_states, successors * model.n_states // model.n_pairs)
        self._price = math.nan  # of a factorisation, in successors visited; not known yet

    def best(self, scores: Vector, tolerance: float, start: Gain | None = None) -> Gain:
        """Bound the best average score to within a tolerance, or as well as it can be done."""
        model = self.model
        if start is None:
            u, pairs = np.zeros(model.n_states), model.first_pair[:-1].copy()
        else:
            u, pairs = start.bias.copy(), start.pairs.copy()
        best: Gain | None = None
        before, still, since = math.inf, 0, 0
        epsilon, futile, moved, wait = math.nan, 0, True, 1.0
        for done in range(max(_LEAST_SWEEPS, int(_MAX_VISITS / self._round))):
            least, most, changes = self._improve(scores, u, pairs)
            span = most - least
            if span <= max(tolerance, _ROUNDING * float(np.ptp(u))):
                return Gain(least, most, u, pairs)
            if best is not None and span < best.upper - best.lower:
                best = Gain(least, most, u.copy(), pairs.copy())
            if changes or done == 0:
                policy_moves(model, pairs, self._room)
            still, since, moved = 0 if changes else still + 1, since + 1, moved or bool(changes)
            if since % _CHUNK == 0:
                to_come = _CHUNK * math.log(span / tolerance) / math.log(before / span) if span < before else math.inf
                before = span
                price, early = self._priced(done) / self._round, still < _SWEEPS_UNCHANGED
                if to_come > price and not (early and since <= wait * price):
                    best = best or Gain(least, most, u.copy(), pairs.copy())
                    futile = 0 if moved else futile + 1
                    if futile == _MAX_FUTILE:
                        break
                    if math.isnan(epsilon):
                        epsilon = tolerance / (4.0 * max(1.0, np.ptp(u)))
                    elif not moved:
                        epsilon = 0.1 * epsilon
                    kept = u.copy() if early else u
                    if not self._evaluate(scores, pairs, 0.5 * (least + most), max(epsilon, _SMALLEST), u):
                        continue
                    before, still, since, moved = math.inf, 0, 0, False
                    if early and self._span(scores, u, pairs) > span:
                        u[:], moved, wait = kept, True, 2.0 * wait
                    continue
            relax(_STEP, self._after, u)
            self._follow(scores, pairs, _SHARE * span, u)
        least, most, _ = self._improve(scores, u, pairs)
        last = Gain(least, most, u, pairs)
        return last if best is None or most - least < best.upper - best.lower else best

    def columns(self, pairs: Index) -> list[Column]:
        """The recurrent classes of a policy; see `policy_columns`."""
        return policy_columns(self.model, pairs, policy_moves(self.model, pairs, self._room))

    def _priced(self, done: int) -> float:
        """What a factorisation costs, in successors visited; more than anything while it is not worth a thought."""
        if math.isnan(self._price):
            if done * self._round < _FREE_VISITS:
                return math.inf
            work = factorisation_work(self._room.chain())
            self._price = (
                _FREE_VISITS + _VISITS_PER_STATE * self.model.n_states + work if work <= AFFORDABLE else math.inf
            )
        return self._price

    def _span(self, scores: Vector, u: Vector, pairs: Index) -> float:
        """Of Tu - u."""
        least, most, _ = self._improve(scores, u, pairs.copy())
        return most - least

    def _improve(self, scores: Vector, u: Vector, pairs: Index) -> tuple[float, float, int]:
        """A greedy sweep, see `improve`."""
        arrays = (self.model.first_pair, *self._dynamics, scores, u, pairs, self._after)
        said = parallel_map(lambda begin, end: improve(*arrays, begin, end), self._greedy_parts)
        least, most, changes = zip(*said, strict=True)
        return min(least), max(most), sum(changes)

    def _follow(self, scores: Vector, pairs: Index, enough: float, u: Vector) -> None:
        """Some sweeps of the policy alone, see `follow_on`."""
        if len(self._parts) == 1:
            follow_on(*self._room, scores, pairs, _STEP, _FOLLOWED, enough, u, self._after)
            return
        arrays = (*self._room, scores, pairs, u, self._after)
        for _ in range(_FOLLOWED):
            said = parallel_map(lambda begin, end: follow(*arrays, begin, end), self._parts)
            relax(_STEP, self._after, u)
            if max(most for _, most in said) - min(least for least, _ in said) <= enough:
                return

    def _evaluate(self, scores: Vector, pairs: Index, gain: float, epsilon: float, u: Vector) -> bool:
        """Put the policy's values into u; False, and never again, if that fails."""
        try:
            values = discounted_values(self._room.chain(), scores[pairs] - gain, epsilon)
        except SolverError:
            self._price = math.inf
            return False
        self.evaluations += 1
        u[:] = values - values.min()
        return True


def policy_columns(model: Model, pairs: Index, moves: Moves) -> list[Column]:
    """The recurrent classes of a policy with their stationary distributions."""
    columns = []
    for members, weight in stationary_distributions(moves):
        chosen = pairs[members]
        columns.append(Column(chosen, weight, np.clip(weight @ model.mean_rows[chosen], 0.0, 1.0)))
    return columns


def stationary_distributions(moves: Moves) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a policy, each as its states, with their stationary distributions."""
    classes, n_states = moves.classes(), moves.first.size - 1
    states, whole, after = np.concatenate(classes), np.zeros(n_states), np.empty(n_states)
    whole[states] = 1.0 / states.size
    residual, rate, done = math.inf, 0.0, 0
    while residual > _SETTLED and done < _POWER and rate < _FALLING:
        before = residual
        residual = settle(*moves, states, _STEP, _POWER_CHUNK, _SETTLED, whole, after)
        done, rate = done + _POWER_CHUNK, residual / before
    found = []
    for members in classes:
        weight = whole[members] / whole[members].sum()
        if residual > _SETTLED:  # too slow for the power method, in some class at least
            chain = csr_array(moves.chain()[members][:, members])
            thin = members.size > SMALL and factorisation_work(chain) <= AFFORDABLE
            weight = factorised_distribution(chain) if thin else stationary_distribution(chain)
        found.append((members, weight))
    return found


@kernel
def improve(first_pair, first, successor, probability, scores, u, pairs, after, begin, end):  # type: ignore[no-untyped-def]
    """Write Tu into `after` and a policy that attains it into `pairs`; return min (Tu - u), max (Tu - u), changes."""
    changes = 0
    least = np.inf
    most = -np.inf
    for s in range(begin, end):
        top = -np.inf
        used = -np.inf
        best = pairs[s]
        for pair in range(first_pair[s], first_pair[s + 1]):
            total = scores[pair]
            for i in range(first[pair], first[pair + 1]):
                total += probability[i] * u[successor[i]]
            if pair == pairs[s]:
                used = total
            if total > top:
                top = total
                best = pair
        if top > used + _TIE * max(1.0, abs(used)):
            pairs[s] = best
            changes += 1
        after[s] = top
        least = min(least, top - u[s])
        most = max(most, top - u[s])
    return least, most, changes


@kernel
def follow(first, successor, probability, scores, pairs, u, after, begin, end):  # type: ignore[no-untyped-def]
    """Write T_pi u into `after` for one policy; return min (T_pi u - u), max (T_pi u - u)."""
    least = np.inf
    most = -np.inf
    for s in range(begin, end):
        total = scores[pairs[s]]
        for i in range(first[s], first[s + 1]):
            total += probability[i] * u[successor[i]]
        after[s] = total
        least = min(least, total - u[s])
        most = max(most, total - u[s])
    return least, most


@kernel
def follow_on(first, successor, probability, scores, pairs, step, count, enough, u, after):  # type: ignore[no-untyped-def]
    """Up to `count` relaxed sweeps of one policy, u += step (T_pi u - u), until the span of T_pi u - u is `enough`."""
    for _ in range(count):
        least, most = follow(first, successor, probability, scores, pairs, u, after, 0, u.shape[0])
        relax(step, after, u)
        if most - least <= enough:
            return


@kernel
def relax(step, after, u):  # type: ignore[no-untyped-def]
    """U += step (after - u), with the smallest entry made zero."""
    base = np.inf
    for s in range(u.shape[0]):
        u[s] += step * (after[s] - u[s])
        base = min(base, u[s])
    for s in range(u.shape[0]):
        u[s] -= base
