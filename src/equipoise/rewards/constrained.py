"""Maximise g(w) subject to h_j(w) >= level_j with concave h_j, for an agent and for `solve`.

Any reward serves as h: `Linear` for a service level or a cost, `BottomSum` for a floor on every outcome,
`TargetDistance` for several targets, `Entropy` for diversity, and `reward.of(matrix)` for sums and shares.

An agent maximises a concave function and knows no constraints. It is given the penalised reward

    g(w) - sum_j price_j phi(level_j - h_j(w)),

phi(s) = max(0, s), or that function smoothed over a width mu (`Shortfall`), which makes the whole smooth if g and all
h_j are. `solve` solves the constrained program itself and ignores the prices; `MixtureUCRL2` raises its own.

Which price is high enough. Let opt be the constrained optimum and lambda_j >= 0 its multipliers, so that every long-run
average w has g(w) <= opt + sum_j lambda_j s_j, s_j = max(0, level_j - h_j(w)) (`solve` proves it). If opt less the
penalised reward of w is rho, then

    opt - g(w) <= rho      and      sum_j price_j phi(s_j) - lambda_j s_j <= rho.

So with every price above its multiplier the violations vanish with rho, at the rate 1 / (price_j - lambda_j) without
smoothing: the penalty is exact. With smoothing, constraint j is violated by at most the largest s with

    price_j phi(s) - lambda_j s  <=  rho + sum over i != j of mu lambda_i^2 / (2 price_i)

(`violation_at_most`); for one constraint and rho = 0 that is 2 mu lambda / price.

The average of a finite run may exceed long-run averages, by chance and by its initial state: then
g(w) <= opt + sum_j lambda_j s_j + surplus. With probability 1 - delta the surplus is at most
``Benchmark.surplus_at_most(steps, delta)``, at all times together, and it is added to rho. For any w in the box,
g(w) <= opt + L ||1_K||, so sum_j price_j phi(s_j) <= rho + L ||1_K|| whatever the multipliers are.

Prices. If some policy meets every constraint with `slack` to spare, then slack sum_j lambda_j <= L ||1_K||:
`exact_price`. With a model, twice the largest multiplier of `solve` is a good price. The default is ten times the
largest difference of g over that of h_j, as bounded by their Lipschitz constants: above the multiplier if some policy
has a tenth of the largest difference of h_j to spare. A higher price makes L and beta larger, and so learning slower.

The certificate of an agent bounds the optimum of the penalised reward, which is at least opt: the regret in g is at
most what it states, and the violations at most `violation_at_most` of that and of the surplus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import check_int, suggest
from equipoise._spec import Component, plain
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.models.model import Model
from equipoise.models.space import Space
from equipoise.rewards.base import (
    Reward,
    RewardKernels,
    checked_number,
    checked_positive,
    checked_unit_number,
    read_only,
)
from equipoise.rewards.combinations import Sum
from equipoise.rewards.composed import fixed_reward
from equipoise.rewards.norms import ones
from equipoise.rewards.penalties import Shortfall, largest_shortfall
from equipoise.rewards.separable import Linear

if TYPE_CHECKING:
    import cvxpy


@final
class Constraint(Component):
    """A lower limit on a concave function of the average outcomes.

    Parameters
    ----------
    function : Reward
        h, concave; it may not change with time.
    at_least : float
        The level: h(w) >= at_least.
    name : str, optional
        Its name in multipliers, violations and reports; by default its number among the constraints.

    Examples
    --------
    No outcome may be below 0.25 on average.

    >>> from equipoise.rewards import BottomSum
    >>> fair = Constraint(BottomSum(3, kappa=1), at_least=0.25, name="fair")
    >>> fair.violation([0.5, 0.125, 0.5]), fair.violation([0.5, 0.5, 0.5])
    (0.125, 0.0)
    """

    def __init__(self, function: Reward, at_least: float, name: str | None = None) -> None:
        self.function = fixed_reward(function, "function")
        self.at_least = checked_number(at_least, "at_least")
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise RewardError(f"name: got {name!r}; a few words are needed, or None")
        self.name = name

    def violation(self, w: Sequence[float] | np.ndarray) -> float:
        """How far h(w) is below the level: max(0, at_least - h(w)).

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        return max(0.0, self.at_least - self.function.value(w))


def at_least(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None = None
) -> Constraint:
    """The average of one outcome must reach a level.

    Parameters
    ----------
    outcome : int or str
        Its number or its label.
    level : float
        The level, in [0, 1].
    outcomes : Model, Space or sequence of str
        A model, its space, or the labels of all outcomes.
    name : str, optional
        Of the constraint; by default such as "fill rate at least 0.9".

    Returns
    -------
    Constraint
        For `Constrained`.

    Examples
    --------
    >>> from equipoise.models import inventory
    >>> constraint = at_least("fill rate", 0.9, inventory())
    >>> constraint.name, constraint.at_least, constraint.function.weights.tolist()
    ('fill rate at least 0.9', 0.9, [1.0, 0.0, 0.0])
    """
    return _bounded(outcome, level, outcomes, name, 1.0)


def at_most(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None = None
) -> Constraint:
    """The average of one outcome must not exceed a level.

    Parameters
    ----------
    outcome : int or str
        Its number or its label.
    level : float
        The level, in [0, 1].
    outcomes : Model, Space or sequence of str
        A model, its space, or the labels of all outcomes.
    name : str, optional
        Of the constraint; by default such as "waste at most 0.1".

    Returns
    -------
    Constraint
        For `Constrained`.

    Examples
    --------
    >>> constraint = at_most(1, 0.25, ["work", "waste"])
    >>> constraint.name, constraint.violation([0.5, 0.375])
    ('waste at most 0.25', 0.125)
    """
    return _bounded(outcome, level, outcomes, name, -1.0)


def _bounded(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None, sign: float
) -> Constraint:
    if isinstance(outcomes, Model | Space):
        space = outcomes if isinstance(outcomes, Space) else outcomes.space
        names = list(space.outcome_names())
    elif isinstance(outcomes, Sequence) and not isinstance(outcomes, str) and outcomes:
        names = [str(one) for one in outcomes]
    else:
        raise RewardError(f"outcomes: got {outcomes!r}; a model, its space, or the labels of all outcomes are needed")
    if isinstance(outcome, str):
        if outcome not in names:
            listed = ", ".join(repr(one) for one in names)
            raise RewardError(f"outcome: there is no {outcome!r}{suggest(outcome, names)}; there are {listed}")
        index = names.index(outcome)
    else:
        index = check_int(outcome, "outcome", 0, len(names) - 1, error=RewardError)
    number = checked_unit_number(level, "level")
    weights = np.zeros(len(names))
    weights[index] = sign
    words = f"{names[index]} {'at least' if sign > 0 else 'at most'} {number:g}"
    return Constraint(Linear(weights), sign * number, words if name is None else name)


_SMOOTHING: Final = 0.01
_DEAR: Final = 10.0


@final
class Constrained(Reward):
    """A reward to be maximised while the average outcomes meet constraints.

    Parameters
    ----------
    reward : Reward
        g; it may not change with time.
    constraints : sequence of Constraint
        All of the same outcomes; their names must differ.
    price : float or array_like
        The penalty per unit of violation, in units of g: one number for all constraints, or one for each. It is exact
        above the multipliers; see `exact_price`. By default ten times L ||1_K|| of the reward, over that of each
        constraint's function. `solve` and `MixtureUCRL2` do not use it.
    smoothing : float, optional
        mu: violations below it cost less, by their square; up to `violation_at_most` remains at the optimum. 0 is the
        plain penalty, which is not smooth. By default 0.01 if that makes the whole smooth; else 0.
    norm : float, optional
        As for `Sum`.

    Examples
    --------
    As much as possible of the first outcome, with at least 0.25 of the second.

    >>> from equipoise.rewards import Linear, at_least
    >>> goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, ["work", "rest"])], price=2.0, smoothing=0.0)
    >>> goal.value([0.75, 0.25]), goal.value([1.0, 0.0]), goal.violations([1.0, 0.0]).tolist()
    (0.75, 0.5, [0.25])
    >>> import equipoise as eq
    >>> best = eq.solve(eq.models.bandit(2), goal)
    >>> round(best.value, 6), best.multipliers, goal.is_exact(best.multipliers)
    (0.75, {'rest at least 0.25': 1.0}, True)
    """

    def __init__(
        self,
        reward: Reward,
        constraints: Sequence[Constraint],
        price: ArrayLike | None = None,
        smoothing: float | None = None,
        norm: float | None = None,
    ) -> None:
        if isinstance(reward, Constrained):
            raise RewardError("reward: it has constraints already; give all of them in one list")
        self.reward = fixed_reward(reward, "reward")
        self.constraints = _checked_constraints(constraints, reward.n_outcomes)
        self.names = constraint_names(self.constraints)
        functions = [one.function for one in self.constraints]
        if price is None:
            most, *each = [one.lipschitz * ones(one.n_outcomes, one.norm) or 1.0 for one in (reward, *functions)]
            prices = _DEAR * most / np.array(each)
        else:
            given: Any = price if isinstance(price, Sequence) or np.ndim(price) else [price] * len(functions)
            prices = checked_positive(given, "price", len(functions), "constraint")
        self.price = read_only(prices)
        self._given_price = None if price is None else self.price
        if smoothing is None:
            smoothing = _SMOOTHING if all(part.smoothness is not None for part in (reward, *functions)) else 0.0
        shortfalls = [Shortfall(one.function, one.at_least, smoothing) for one in self.constraints]
        self.smoothing = shortfalls[0].smoothing
        self._penalised = Sum([reward, *shortfalls], [1.0, *self.price], norm)
        self.n_outcomes = reward.n_outcomes
        self.norm = self._penalised.norm
        self.lipschitz = self._penalised.lipschitz
        self.smoothness = self._penalised.smoothness
        self.piecewise_linear = self._penalised.piecewise_linear
        self.vertices = self._penalised.vertices
        self.exact_conjugate = self._penalised.exact_conjugate

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments; `price` is None if none was given."""
        return super().arguments() | {"price": plain(self._given_price)}

    @property
    def objective(self) -> Reward:
        """The reward without the penalty, in which values and regrets are reported."""
        return self.reward

    @property
    def penalised(self) -> Sum:
        """What an agent maximises, as a `Sum` of the reward and the shortfalls; `solve` takes it as a plain reward."""
        return self._penalised

    @property
    def params(self) -> Vector:  # type: ignore[override]
        """What the kernels read: those of a `Sum`."""
        return self._penalised.params

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries: those of a `Sum`."""
        return self._penalised.kernels

    def violations(self, w: ArrayLike) -> Vector:
        """The violation of each constraint at w: max(0, level_j - h_j(w)).

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        point = self._vector(w, "w")
        return np.array([one.violation(point) for one in self.constraints])

    def is_exact(self, multipliers: Mapping[str, float]) -> bool:
        """Whether every price is above its multiplier: the optimum of the penalised reward is then feasible.

        With smoothing it is feasible up to `violation_at_most`.

        Parameters
        ----------
        multipliers : mapping
            By the names of the constraints, as in ``solve(model, goal).multipliers``.

        Examples
        --------
        >>> from equipoise.rewards import Linear, at_least
        >>> goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, ["work", "rest"])], price=2.0)
        >>> goal.is_exact({"rest at least 0.25": 1.0}), goal.is_exact({"rest at least 0.25": 3.0})
        (True, False)
        """
        return bool(np.all(self.price > self._multipliers(multipliers)))

    def violation_at_most(
        self, multipliers: Mapping[str, float], regret: float | None = None, surplus: float | None = None
    ) -> dict[str, float]:
        """A bound on each violation, at the optimum of the penalised reward or within a regret of it.

        It is by the names of the constraints, and infinity where no regret is given and the price is not above the
        multiplier. For averages that are known, `violations` is exact.

        Parameters
        ----------
        multipliers : mapping
            As for `is_exact`.
        regret : float, optional
            A bound on the optimum less the penalised reward of the average, such as `regret_at_most` of a certificate.
            None: the average that is best for the penalised reward in the long run.
        surplus : float, optional
            By how much the average may exceed long-run averages, in units of the reward: 0 for a long-run average, else
            ``best.surplus_at_most(steps, delta)`` with `best` the benchmark of the multipliers. None: nothing is known,
            and the bound is that of the largest reward in [0,1]^K.

        Examples
        --------
        >>> from equipoise.rewards import Linear, at_least
        >>> goal = Constrained(Linear([1.0]), [at_least(0, 0.25, ["rest"])], price=3.0, smoothing=0.0)
        >>> goal.violation_at_most({"rest at least 0.25": 1.0}, regret=0.5, surplus=0.0)
        {'rest at least 0.25': 0.25}
        >>> goal.violation_at_most({"rest at least 0.25": 1.0}, regret=0.5)
        {'rest at least 0.25': 0.5}
        """
        given, mu = self._multipliers(multipliers), self.smoothing
        rho = 0.0 if regret is None else checked_number(regret, "regret")
        beyond = 0.0 if surplus is None else checked_number(surplus, "surplus")
        if beyond < 0.0 or (regret is None and surplus is not None):
            raise RewardError(f"surplus: got {surplus}; a number >= 0 is needed, and a regret with it")
        gains = mu * given**2 / (2.0 * self.price)
        known = regret is None or surplus is not None
        anywhere = rho + self.reward.lipschitz * ones(self.n_outcomes, self.reward.norm)
        found: dict[str, float] = {}
        for name, price, multiplier, gain in zip(
            self.names, self.price.tolist(), given.tolist(), gains.tolist(), strict=True
        ):
            allowance = max(0.0, rho + beyond + float(gains.sum()) - gain)
            most = largest_shortfall(price, multiplier, mu, allowance) if known else math.inf
            least = math.inf if regret is None else largest_shortfall(price, 0.0, mu, max(0.0, anywhere))
            found[name] = min(most, least)
        return found

    def at_prices(self, price: ArrayLike, smoothing: float | None = None) -> Constrained:
        """The same problem at other prices.

        Parameters
        ----------
        price : float or array_like
            As in the constructor.
        smoothing : float, optional
            By default that of this one.
        """
        mu = self.smoothing if smoothing is None else smoothing
        return Constrained(self.reward, self.constraints, price, mu, self.norm)

    def is_same_problem(self, other: object) -> bool:
        """Whether the other has the same reward and constraints, at whatever prices.

        Parameters
        ----------
        other : object
            Anything.
        """
        return (
            isinstance(other, Constrained)
            and self.reward == other.reward
            and list(self.constraints) == list(other.constraints)
        )

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """That of the sum."""
        return self._penalised.lipschitz_on(low, high)

    def within(self, low: ArrayLike, high: ArrayLike) -> Constrained:
        """The same with the reward and the constraints within the box; see `Reward.within`."""
        return self._mapped(lambda function: function.within(low, high))

    def of(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> Constrained:
        """The same with the reward and the constraints of an affine image of the outcomes; see `Reward.of`.

        Examples
        --------
        >>> from equipoise.rewards import Linear, at_least
        >>> goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, ["work", "rest"])], price=2.0)
        >>> swapped = goal.of([[0.0, 1.0], [1.0, 0.0]])
        >>> swapped.names, swapped.violations([0.0, 1.0]).tolist()
        (('rest at least 0.25',), [0.25])
        """
        return self._mapped(lambda function: function.of(matrix, offset))

    def _mapped(self, change: Callable[[Reward], Reward]) -> Constrained:
        """The same of other functions."""
        changed = [Constraint(change(one.function), one.at_least, one.name) for one in self.constraints]
        return Constrained(change(self.reward), changed, self._given_price, self.smoothing, self.norm)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The penalised reward; `solve` takes the constraints as they are."""
        return self._penalised.concave_expression(w)

    def failure(self) -> RewardError | None:
        """What went wrong inside a part."""
        return self._penalised.failure()

    def _multipliers(self, multipliers: Mapping[str, float]) -> Vector:
        missing = [name for name in self.names if name not in multipliers]
        if missing:
            raise RewardError(f"multipliers: none for {missing[0]!r}; one for each constraint is needed")
        return np.array([checked_number(multipliers[name], f"multipliers[{name!r}]") for name in self.names])


def exact_price(reward: Reward, slack: float) -> float:
    """A price that makes the penalty for constraints exact: L ||1_K|| / slack, an upper bound on every multiplier.

    Suppose that some policy meets every constraint with `slack` to spare. Its reward is at most L ||1_K|| below the
    best, and the multipliers sum to at most that difference over the slack. The bound is often large: if you have a
    model, even a rough one, use the multipliers of `solve` instead.

    Parameters
    ----------
    reward : Reward
        g.
    slack : float
        By how much all constraints can be met at the same time, above 0; you must be certain of it.

    Returns
    -------
    float
        For `Constrained`.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> exact_price(Linear([1.0]), slack=0.25)
    4.0
    """
    fixed = fixed_reward(reward, "reward")
    return fixed.lipschitz * ones(fixed.n_outcomes, fixed.norm) / checked_number(slack, "slack", 0.0)


def constraint_names(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The names of constraints; a constraint without a name is called by its number."""
    return tuple(f"constraint {j}" if one.name is None else one.name for j, one in enumerate(constraints))


def _checked_constraints(constraints: object, n_outcomes: int) -> tuple[Constraint, ...]:
    if isinstance(constraints, str) or not isinstance(constraints, Sequence) or not constraints:
        raise RewardError(f"constraints: got {constraints!r}; a list of constraints is needed")
    for j, one in enumerate(constraints):
        if not isinstance(one, Constraint):
            raise RewardError(f"constraints[{j}]: got {one!r}; a Constraint is needed")
        if one.function.n_outcomes != n_outcomes:
            raise RewardError(
                f"constraints[{j}]: it is for {one.function.n_outcomes} outcomes, and the reward for {n_outcomes}"
            )
    names = constraint_names(constraints)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        last = len(names) - 1 - names[::-1].index(twice[0])
        raise RewardError(f"constraints[{last}]: a second one called {twice[0]!r}; names must differ")
    return tuple(constraints)
