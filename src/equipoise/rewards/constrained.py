r"""max g(w) subject to h_j(w) >= level_j: a reward with constraints, as an agent works on it and as `solve` solves it.

An agent maximises a concave function and knows no constraints. It is given the penalised reward

    g(w) - sum_j price_j phi(level_j - h_j(w)),

phi(s) = max(0, s), or that function smoothed over a width mu (`Shortfall`), which makes the whole smooth if g and all
h_j are, so that the Frank-Wolfe oracle applies. `solve` solves the constrained program itself and has no use for the
prices.

Which price is high enough. Let opt be the constrained optimum and lambda_j >= 0 its multipliers, so that every average
w that the world allows has g(w) <= opt + sum_j lambda_j s_j, s_j = max(0, level_j - h_j(w)) (`solve` proves it). If
what the agent reached is w, and opt less the penalised reward of w is rho, then

    opt - g(w) <= rho      and      sum_j price_j phi(s_j) - lambda_j s_j <= rho.

So with every price above its multiplier the violations vanish with rho, at the rate 1 / (price_j - lambda_j) without
smoothing: the penalty is exact. With smoothing, the constraint j is violated by no more than the largest s with

    price_j phi(s) - lambda_j s  <=  rho + sum over i != j of mu lambda_i^2 / (2 price_i)

(each other term is at least minus what is written here): `violation_at_most`. For one constraint and rho = 0 that is
2 mu lambda / price.

How to have a price above the multipliers without the model. If some policy meets every constraint with `slack` to
spare, then slack sum_j lambda_j <= opt - g(that policy) <= L ||1_K||: `exact_price`. With a model at hand `solve` gives
the multipliers; twice the largest is a good price. A price that is higher than necessary makes L and beta larger, and
so learning slower; it never makes the answer wrong.

A certificate of an agent (`Certificate`) bounds the optimum of the penalised reward, which is at least opt: what is
lost of g is at most what it says, and what is violated at most is `violation_at_most` of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._composed import fixed_reward
from equipoise.rewards.base import Reward, RewardKernels, checked_number, read_only
from equipoise.rewards.constraint import Constraint
from equipoise.rewards.norms import ones
from equipoise.rewards.shortfall import Shortfall, largest_shortfall
from equipoise.rewards.sum import Sum

if TYPE_CHECKING:
    import cvxpy

_SMOOTHING: Final = 0.01


@final
class Constrained(Reward):
    """A reward to be maximised while the average outcomes meet constraints.

    Parameters
    ----------
    reward : Reward
        g; it may not change with time.
    constraints : sequence of Constraint
        What is to be met, each of the same outcomes; their names must differ.
    price : float or array_like
        What a unit of each violation costs an agent, in units of g: one number for all constraints, or one for each.
        The penalty is exact if it is above the multipliers of the constrained problem; see `exact_price`. `solve` does
        not use it.
    smoothing : float, optional
        mu: violations below it cost less, by their square, and what `violation_at_most` says remains at the optimum. 0
        for the plain penalty, which is not smooth. By default 0.01 if that makes the whole smooth, which is where it
        helps: the Frank-Wolfe oracle then applies, which needs no conjugate; else 0.
    norm : float, optional
        As for `Sum`.

    Raises
    ------
    RewardError
        Naming what will not do; without a price, how to find one.

    See Also
    --------
    equipoise.rewards.at_least : A limit from below on one outcome.
    equipoise.rewards.at_most : A limit from above on one outcome.
    equipoise.rewards.exact_price : A price at which constraints are worth keeping.

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
        self.reward = fixed_reward(reward, "reward")
        if isinstance(self.reward, Constrained):
            raise RewardError("reward: it has constraints already; give all of them in one list")
        self.constraints = _checked_constraints(constraints, reward.n_outcomes)
        self._price = _checked_price(price, len(self.constraints))
        if smoothing is None:
            parts = [reward, *(one.function for one in self.constraints)]
            smoothing = _SMOOTHING if all(part.smoothness is not None for part in parts) else 0.0
        shortfalls = [Shortfall(one.function, one.at_least, smoothing) for one in self.constraints]
        self.smoothing = shortfalls[0].smoothing
        self._penalised = Sum([reward, *shortfalls], [1.0, *self._price], norm)
        self.n_outcomes = reward.n_outcomes
        self.norm = self._penalised.norm
        self.lipschitz = self._penalised.lipschitz
        self.smoothness = self._penalised.smoothness
        self.piecewise_linear = self._penalised.piecewise_linear
        self.vertices = self._penalised.vertices
        self.exact_conjugate = self._penalised.exact_conjugate

    @property
    def price(self) -> Vector:
        """What a unit of each violation costs."""
        return read_only(self._price)

    @property
    def names(self) -> tuple[str, ...]:
        """What the constraints are called."""
        return names_of(self.constraints)

    @property
    def objective(self) -> Reward:
        """The reward without the penalty: what values and regrets are told in."""
        return self.reward

    @property
    def penalised(self) -> Sum:
        """What an agent maximises, as a sum of the reward and the shortfalls; to `solve` it is a reward like others."""
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
        """What each constraint lacks at w: max(0, level_j - h_j(w)).

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        point = self._vector(w, "w")
        return np.array([one.violation(point) for one in self.constraints])

    def is_exact(self, multipliers: Mapping[str, float]) -> bool:
        """Whether every price is above its multiplier, so that the optimum of the penalised reward is feasible.

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
        return bool(np.all(self._price > self._multipliers(multipliers)))

    def violation_at_most(self, multipliers: Mapping[str, float], regret: float = 0.0) -> dict[str, float]:
        """What each constraint is violated by at most, where the penalised reward is that close to the optimum.

        Parameters
        ----------
        multipliers : mapping
            As for `is_exact`.
        regret : float
            The constrained optimum less the penalised reward that was reached; 0 for the best that an agent can do.
            What a certificate calls `regret_at_most` will do.

        Returns
        -------
        dict
            By the names of the constraints; infinity where the price is not above the multiplier.

        Examples
        --------
        >>> from equipoise.rewards import Linear, at_least
        >>> goal = Constrained(Linear([1.0, 0.0]), [at_least(1, 0.25, ["work", "rest"])], price=3.0, smoothing=0.0)
        >>> goal.violation_at_most({"rest at least 0.25": 1.0}, regret=0.5)
        {'rest at least 0.25': 0.25}
        """
        given, mu = self._multipliers(multipliers), self.smoothing
        rho = checked_number(regret, "regret")
        gains = mu * given**2 / (2.0 * self._price)
        return {
            name: largest_shortfall(price, multiplier, mu, max(0.0, rho + float(gains.sum()) - gain))
            for name, price, multiplier, gain in zip(
                self.names, self._price.tolist(), given.tolist(), gains.tolist(), strict=True
            )
        }

    def at_prices(self, price: ArrayLike, smoothing: float | None = None) -> Constrained:
        """The same problem at other prices, for which an agent may be made anew.

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
        """That of the sum.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self._penalised.lipschitz_on(low, high)

    def within(self, low: ArrayLike, high: ArrayLike) -> Constrained:
        """The same with the reward and the constraints within the box; see `Reward.within`.

        Parameters
        ----------
        low, high : array_like
            The corners of the box.
        """
        inside = [Constraint(one.function.within(low, high), one.at_least, one.name) for one in self.constraints]
        return Constrained(self.reward.within(low, high), inside, self._price, self.smoothing, self.norm)

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
    """A price that makes the penalty for constraints exact: L ||1_K|| / slack, by which every multiplier is bounded.

    Let some policy meet every constraint with `slack` to spare. Its reward is at most L ||1_K|| below the best, and the
    multipliers sum to no more than that difference over the slack. As no reward differs by as much as L ||1_K||, but in
    opposite corners of [0,1]^K, it is an upper bound and often a large one: with a model, even a rough one, the
    multipliers of `solve` tell more.

    Parameters
    ----------
    reward : Reward
        g.
    slack : float
        By how much all constraints can be met at the same time, above 0: of this you must be sure.

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


def names_of(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The names of constraints; one without a name is called by its number.

    >>> from equipoise.rewards import Linear
    >>> names_of([Constraint(Linear([1.0]), 0.5), Constraint(Linear([1.0]), 0.5, "floor")])
    ('constraint 0', 'floor')
    """
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
    names = names_of(constraints)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        last = len(names) - 1 - names[::-1].index(twice[0])
        raise RewardError(f"constraints[{last}]: a second one called {twice[0]!r}; names must differ")
    return tuple(constraints)


def _checked_price(price: ArrayLike | None, size: int) -> Vector:
    if price is None:
        raise RewardError(
            "price: it is missing; a number above the multipliers of the constraints is needed. If some policy meets "
            "all of them with some slack, exact_price(reward, slack) is one; with a model, even a rough one, twice "
            "the largest multiplier that solve finds is a good one (solve itself takes any price)"
        )
    try:
        given = np.array(price, dtype=np.float64)
    except (TypeError, ValueError):
        raise RewardError(f"price: got {price!r}; a number, or one for each constraint, is needed") from None
    if given.shape not in ((), (size,)):
        raise RewardError(f"price: got shape {given.shape}; a number, or one for each of {size} constraints, is needed")
    prices = np.array(np.broadcast_to(given, (size,)))
    if not np.all((prices > 0.0) & np.isfinite(prices)):
        raise RewardError(f"price: got {given.tolist()!r}; positive numbers are needed")
    return prices
