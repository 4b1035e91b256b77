r"""The best average score of a known model: a policy, its bias, and bounds from both sides.

For scores r, one a pair, T is the operator (Tu)(s) = max_a r(s,a) + sum_s' p(s'|s,a) u(s'). In a communicating model
the largest average score is the same from everywhere, and for *any* u

    min_s (Tu - u)(s)  <=  every gain of a greedy policy for u,   the best gain  <=  max_s (Tu - u)(s),

which is what is returned, whoever found u. Two ways to a u for which the two agree take turns:

**Sweeps** (modified policy iteration). A greedy sweep, then some of the policy that it found, which cost a fraction of
it. Each moves u by nine tenths of the way: full steps do not converge on periodic models. That is all that is needed
where chains forget within some hundred steps where they began, at any size.

**Factorisations** (Howard). Where the span of Tu - u falls so slowly that the sweeps to come would cost more, the
policy at hand is evaluated by a sparse factorisation (see `evaluation`), and the sweeps go on from its values. It waits
until sweeps no longer change the policy: on a line of n states n of them are needed to bring the news from one end to
the other, and they are cheap. Where many ways are all but as good as each other they never cease to change it; so it is
tried besides whenever they have cost as much as that, and undone, and put off, if it brings the bounds no closer. Long
and thin worlds, lines, queues, grids, and those without chance mix slowly and are cheap to factorise; in random ones it
is the other way round. Where both are dear the sweeps go on, and the bounds are as far apart as they are then.

`columns_of` has the stationary distributions of a policy's recurrent classes: by the power method, or by factorisation.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._threads import parts_of, side_by_side
from equipoise._types import Index, Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline import sweeps
from equipoise.offline.chains import SMALL, factorised_distribution, stationary_distribution
from equipoise.offline.evaluation import (
    AFFORDABLE,
    Moves,
    discounted_values,
    factorisation_work,
    moves_of,
    room_for_moves,
)

_STEP: Final = 0.9  # of the way that a sweep goes
_FOLLOWED: Final = 6  # sweeps of the policy after each greedy one
_SHARE: Final = 0.1  # of the span at hand: to that the policy's own sweeps are worth going
_CHUNK: Final = 8  # greedy sweeps between two looks at how fast the span falls
_PATIENCE: Final = 5e6  # successors that sweeps visit before a factorisation is thought of
_EACH: Final = 300.0  # successors that could be visited while a state is brought into a factorisation
_STILL: Final = 4  # greedy sweeps that leave the policy as it is: then it is evaluated
_FUTILE: Final = 20  # evaluations of one and the same policy: what is left between the bounds is rounding
_WORK: Final = 2e10  # successors visited before the search ends, whatever it has reached
_LEAST_SWEEPS: Final = 400
_SMALLEST: Final = 1e-14  # epsilon of an evaluation
_ROUNDING: Final = 1e-15  # times the span of u: differences below are rounding
_SETTLED: Final = 1e-11  # 1-norm of the residual at which a distribution is taken
_POWER: Final = 4000  # steps of the power method, at most
_POWER_CHUNK: Final = 100
_FALLING: Final = 0.5  # a residual that does not fall by that factor in so many steps falls too slowly


class Gain(NamedTuple):
    """The best average score, from both sides, with its proof.

    Attributes
    ----------
    lower : float
        Every recurrent class of the policy has at least this average score, up to rounding.
    upper : float
        No policy has a larger one: max (Tu - u) for u = `bias`.
    bias : float array
        u.
    pairs : int array
        The policy, one pair a state.
    """

    lower: float
    upper: float
    bias: Vector
    pairs: Index


class Column(NamedTuple):
    """A recurrent class of a policy, as a vertex of the occupancies.

    Attributes
    ----------
    pairs : int array
        What the policy does in the states of the class.
    weight : float array
        The share of the time in each of these states.
    outcomes : float array
        The average outcomes.
    """

    pairs: Index
    weight: Vector
    outcomes: Vector


@final
class GainSearch:
    """Searches one model for the best average score, time after time.

    Parameters
    ----------
    model : Model
        A communicating one.

    Examples
    --------
    >>> from equipoise.models import riverswim
    >>> model = riverswim(6)
    >>> found = GainSearch(model).best(model.means[:, 0].copy(), 1e-9)
    >>> round(found.upper, 4), found.upper - found.lower <= 1e-9, (found.pairs - model.first_pair[:-1]).tolist()
    (0.4286, True, [1, 1, 1, 1, 1, 1])
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.evaluations = 0  # factorisations so far
        self._dynamics = (model.transition_first, model.transition_state, model.transition_probability)
        self._after = np.empty(model.n_states)
        self._room = room_for_moves(model)
        self._round = model.transition_state.size * (1.0 + _FOLLOWED * model.n_states / model.n_pairs)
        successors = model.transition_state.size
        self._greedy_parts = parts_of(model.n_states, successors)
        self._parts = parts_of(model.n_states, successors * model.n_states // model.n_pairs)
        self._price = math.nan  # of a factorisation, in successors visited; not known yet

    def best(self, scores: Vector, tolerance: float, start: Gain | None = None) -> Gain:
        """Bound the best average score to within a tolerance, or as well as it can be done.

        Parameters
        ----------
        scores : float array
            One a pair.
        tolerance : float
            What the bounds may differ by; rounding may keep them farther apart.
        start : Gain, optional
            Found for similar scores: where to begin.
        """
        model = self.model
        if start is None:
            u, pairs = np.zeros(model.n_states), model.first_pair[:-1].copy()
        else:
            u, pairs = start.bias.copy(), start.pairs.copy()
        best: Gain | None = None
        before, still, since = math.inf, 0, 0
        epsilon, futile, moved, wait = math.nan, 0, True, 1.0
        for done in range(max(_LEAST_SWEEPS, int(_WORK / self._round))):
            least, most, changes = self._improve(scores, u, pairs)
            span = most - least
            if span <= max(tolerance, _ROUNDING * float(np.ptp(u))):
                return Gain(least, most, u, pairs)
            if best is not None and span < best.upper - best.lower:
                best = Gain(least, most, u.copy(), pairs.copy())
            if changes or done == 0:
                moves_of(model, pairs, self._room)
            still, since, moved = 0 if changes else still + 1, since + 1, moved or bool(changes)
            if since % _CHUNK == 0:
                to_come = _CHUNK * math.log(span / tolerance) / math.log(before / span) if span < before else math.inf
                before = span
                price, early = self._priced(done) / self._round, still < _STILL
                if to_come > price and not (early and since <= wait * price):
                    best = best or Gain(least, most, u.copy(), pairs.copy())
                    futile = 0 if moved else futile + 1
                    if futile == _FUTILE:
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
            sweeps.relax(_STEP, self._after, u)
            self._follow(scores, pairs, _SHARE * span, u)
        least, most, _ = self._improve(scores, u, pairs)
        last = Gain(least, most, u, pairs)
        return last if best is None or most - least < best.upper - best.lower else best

    def columns(self, pairs: Index) -> list[Column]:
        """The recurrent classes of a policy; see `columns_of`.

        Parameters
        ----------
        pairs : int array
            The policy, one pair a state.
        """
        return columns_of(self.model, pairs, moves_of(self.model, pairs, self._room))

    def _priced(self, done: int) -> float:
        """What a factorisation costs, in successors visited; more than anything while it is not worth a thought."""
        if math.isnan(self._price):
            if done * self._round < _PATIENCE:
                return math.inf
            work = factorisation_work(self._room.chain())
            self._price = _PATIENCE + _EACH * self.model.n_states + work if work <= AFFORDABLE else math.inf
        return self._price

    def _span(self, scores: Vector, u: Vector, pairs: Index) -> float:
        """Of Tu - u."""
        least, most, _ = self._improve(scores, u, pairs.copy())
        return most - least

    def _improve(self, scores: Vector, u: Vector, pairs: Index) -> tuple[float, float, int]:
        """A greedy sweep, see `sweeps.improve`."""
        arrays = (self.model.first_pair, *self._dynamics, scores, u, pairs, self._after)
        said = side_by_side(lambda begin, end: sweeps.improve(*arrays, begin, end), self._greedy_parts)
        least, most, changes = zip(*said, strict=True)
        return min(least), max(most), sum(changes)

    def _follow(self, scores: Vector, pairs: Index, enough: float, u: Vector) -> None:
        """Some sweeps of the policy alone, see `sweeps.follow_on`."""
        if len(self._parts) == 1:
            sweeps.follow_on(*self._room, scores, pairs, _STEP, _FOLLOWED, enough, u, self._after)
            return
        arrays = (*self._room, scores, pairs, u, self._after)
        for _ in range(_FOLLOWED):
            said = side_by_side(lambda begin, end: sweeps.follow(*arrays, begin, end), self._parts)
            sweeps.relax(_STEP, self._after, u)
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


def columns_of(model: Model, pairs: Index, moves: Moves) -> list[Column]:
    """The recurrent classes of a policy with their stationary distributions.

    Parameters
    ----------
    model : Model
        The world.
    pairs : int array
        The policy, one pair a state.
    moves : Moves
        Its transitions.

    Raises
    ------
    SolverError
        When a distribution could not be computed.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> policy = np.array([0, 1])
    >>> [column] = columns_of(ring(2), policy, moves_of(ring(2), policy))
    >>> column.weight.tolist(), column.outcomes.tolist()
    ([0.5, 0.5], [0.5])
    """
    columns = []
    for members, weight in distributions(moves):
        chosen = pairs[members]
        columns.append(Column(chosen, weight, np.clip(weight @ model.mean_rows[chosen], 0.0, 1.0)))
    return columns


def distributions(moves: Moves) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a policy, each as its states, with their stationary distributions.

    All at once by the power method; where that is too slow, one by one by elimination or by factorisation.

    Parameters
    ----------
    moves : Moves
        The transitions of the policy.

    Raises
    ------
    SolverError
        When a distribution could not be computed.
    """
    classes, n_states = moves.classes(), moves.first.size - 1
    states, whole, after = np.concatenate(classes), np.zeros(n_states), np.empty(n_states)
    whole[states] = 1.0 / states.size
    residual, rate, done = math.inf, 0.0, 0
    while residual > _SETTLED and done < _POWER and rate < _FALLING:
        before = residual
        residual = sweeps.settle(*moves, states, _STEP, _POWER_CHUNK, _SETTLED, whole, after)
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
