"""The contract of rewards, tried at random points of the box and at its faces and vertices.

A reward that changes with time is checked through ``at(t)``, at several t.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from equipoise._runtime.compiler import Entry, invoke
from equipoise._types import Vector
from equipoise.errors import ContractError, EquipoiseError, RewardError
from equipoise.rewards import audit
from equipoise.rewards.base import Reward
from equipoise.testing._shared import name_clauses

_TIMES: Final = (1, 100, 10**6)
_FEW: Final = 40  # points where each costs a cvxpy expression or a maximisation


class Sampling(NamedTuple):
    """Where a clause looks, and how exactly."""

    samples: int = 200
    seed: int = 0
    slack: float = audit.SLACK


def check_reward(reward: Reward, samples: int = 200, seed: int = 0, slack: float = audit.SLACK) -> None:
    """Check that a reward keeps its contract; a `ContractError` names the clause, the point and the numbers.

    Parameters
    ----------
    reward : Reward
        The one to check.
    samples, seed : int
        How many points of the box are tried, and the seed of the random ones.
    slack : float
        The allowance for rounding, relative to the size of the numbers compared.

    Examples
    --------
    >>> from equipoise.rewards import Quadratic
    >>> check_reward(Quadratic([0.5, 0.2]))
    """
    for clause in REWARD_CLAUSES.values():
        clause(reward, Sampling(samples, seed, slack))


def declares_itself(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: ARG001, B008
    """Its constants, its parameters and its kernels are there, and of the right kind."""
    if not isinstance(reward, Reward):
        raise ContractError(f"declares_itself: got {type(reward).__name__}; a Reward is needed")
    _demand("declares_itself", "", audit.not_declared(reward))
    if not reward.lipschitz > 0:
        raise ContractError(f"declares_itself: lipschitz: got {reward.lipschitz!r}; a float > 0 is needed")


def can_be_made_again(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """A copy is the same reward; so is one made from its arguments, unless it says that it cannot be."""
    _demand_same("a deep copy", reward, copy.deepcopy(reward), sampling)
    try:
        arguments = reward.arguments()
    except RewardError:
        return
    try:
        twin = type(reward)(**arguments)
    except (TypeError, EquipoiseError) as error:
        raise ContractError(f"can_be_made_again: arguments: it cannot be made from {arguments!r} ({error})") from error
    if repr(twin) != repr(reward):
        raise ContractError(f"can_be_made_again: arguments: {reward!r} made from them again is another, {twin!r}")
    _demand_same("made from its arguments again, it", reward, twin, sampling)


def is_finite(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """The value and the gradient are finite on the whole box, faces and vertices among it."""
    for when, fixed in _fixed(reward):
        try:
            fault = audit.not_finite(audit.sample_points(fixed, sampling.samples, sampling.seed))
        except RewardError as error:
            fault = str(error)
        _demand("is_finite", when, fault)


def has_kernels_that_only_answer(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """Kernels leave their arguments alone, write nothing beyond their output, and say the same thing twice."""
    for when, fixed in _fixed(reward):
        points, thetas = _points(fixed, sampling)
        _demand("has_kernels_that_only_answer", when, audit.not_a_function(fixed, points, thetas))


def is_concave(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """No chord lies above g, and no tangent below it: each gradient lies between the differences to both sides."""
    for when, fixed in _fixed(reward):
        points, _ = _points(fixed, sampling)
        fault = audit.not_concave(fixed, points, sampling.slack)
        w, K = points.w[:_FEW], fixed.n_outcomes
        moves = math.sqrt(sampling.slack) * np.concatenate((np.eye(K), -np.eye(K)))  # along each axis, to both sides
        near = np.clip(w[:, None, :] + moves, 0.0, 1.0).reshape(-1, K)
        # where a tangent comes closest to g
        touching = [np.clip(fixed.conjugate_argmax(-x), 0.0, 1.0) for x in points.gradients[:_FEW]]
        others = np.concatenate((near, touching))
        _demand("is_concave", when, fault or audit.not_a_supergradient(fixed, points, others, sampling.slack))


def is_lipschitz(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """`|g(u) - g(w)| <= L ||u - w||`, and no supergradient is longer than L in the dual norm."""
    for when, fixed in _fixed(reward):
        points, _ = _points(fixed, sampling)
        _demand("is_lipschitz", when, audit.too_steep(fixed, points, sampling.slack))


def is_smooth(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """If it declares beta: ||grad g(u) - grad g(w)||_* <= beta ||u - w||."""
    for when, fixed in _fixed(reward):
        points, _ = _points(fixed, sampling)
        _demand("is_smooth", when, audit.too_curved(fixed, points, sampling.slack))


def maximises_its_conjugate(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """Fenchel-Young: g*(theta) >= g(w) + theta.w for every w, the maximiser in the box and equality there."""
    for when, fixed in _fixed(reward):
        points, thetas = _points(fixed, sampling)
        _demand("maximises_its_conjugate", when, audit.not_the_argmax(fixed, points, thetas, sampling.slack))
        theta = thetas[0]
        best = fixed.conjugate_argmax(theta)
        direct = fixed.value(best) + float(theta @ best)
        if fixed.conjugate(theta) != direct:
            shown = f"at theta = {audit.show(theta)} it is {fixed.conjugate(theta)}, g(w) + theta.w at its maximiser"
            _demand("maximises_its_conjugate", when, f"conjugate: {shown} {direct}")


def equals_its_expression(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """Its cvxpy expression, if it has one, is concave by cvxpy's rules and has its values."""
    import cvxpy

    for when, fixed in _fixed(reward):
        try:
            expression = fixed.concave_expression(cvxpy.Variable(fixed.n_outcomes))
        except RewardError:
            continue
        fault = None
        if not expression.is_scalar() or not expression.is_concave():
            fault = f"concave_expression: {expression} is not a concave scalar by cvxpy's rules"
        elif fixed.piecewise_linear and not (-expression).is_pwl():
            fault = f"piecewise_linear: got True, but {expression} is not, by cvxpy's rules"
        _demand("equals_its_expression", when, fault)
        points, _ = _points(fixed, sampling)
        for w, value in zip(points.w[:_FEW], points.values, strict=False):
            there = float(fixed.concave_expression(cvxpy.Constant(w)).value)
            if not abs(there - value) <= sampling.slack * max(1.0, abs(value), fixed.lipschitz):
                fault = f"concave_expression: at w = {audit.show(w)} it is {there:.12g}, and the value {value:.12g}"
                _demand("equals_its_expression", when, fault)


def keeps_to_its_vertices(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """If it states a simplex, that holds every supergradient."""
    for when, fixed in _fixed(reward):
        points, _ = _points(fixed, sampling)
        _demand("keeps_to_its_vertices", when, audit.outside_the_simplex(fixed.vertices, points, sampling.slack))


def agrees_with_itself_in_time(reward: Reward, sampling: Sampling = Sampling()) -> None:  # noqa: B008
    """At time t its kernels are those of ``at(t)``, which is fixed; L is constant, or a kernel writes it."""
    for t in _TIMES:
        fixed = reward.at(t)
        points, thetas = _points(fixed, sampling)
        same = (fixed.n_outcomes, fixed.norm) == (reward.n_outcomes, reward.norm)
        if not same or not fixed.lipschitz < np.inf:
            raise ContractError(f"agrees_with_itself_in_time: at({t}) is {fixed!r}, of other outcomes or norm, or no L")
        _demand_same(
            f"at({t}), asked for another time,", fixed, fixed.at(t + 1), sampling, "agrees_with_itself_in_time"
        )
        kernels, K = reward.kernels, reward.n_outcomes
        for name, x, size in (("value", points.w, 1), ("gradient", points.w, K), ("conjugate_argmax", thetas, K)):
            for row in x[:_FEW]:
                here = _at_time(getattr(kernels, name), reward, t, row, size)
                there = np.atleast_1d(getattr(fixed, name)(row))
                allowed = sampling.slack * max(1.0, float(np.abs(there).max()))
                if not np.all(np.abs(here - there) <= allowed):
                    raise ContractError(
                        f"agrees_with_itself_in_time: {name}: at t = {t} and {audit.show(row)} the kernel gives "
                        f"{audit.show(here)}, and at({t}) {audit.show(there)}"
                    )
        constant = reward.lipschitz
        if kernels.lipschitz is not None:
            constant = float(_at_time(kernels.lipschitz, reward, t, points.w[0], 1)[0])
        if not abs(constant - fixed.lipschitz) <= sampling.slack * fixed.lipschitz:
            raise ContractError(
                f"agrees_with_itself_in_time: lipschitz: at t = {t} it is {constant:.9g}, and that of at({t}) "
                f"{fixed.lipschitz:.9g}; a reward that changes with time has the kernel RewardKernels.lipschitz"
            )


REWARD_CLAUSES: Final[dict[str, Callable[..., None]]] = name_clauses(
    declares_itself,
    is_finite,
    has_kernels_that_only_answer,
    can_be_made_again,
    is_concave,
    is_lipschitz,
    is_smooth,
    maximises_its_conjugate,
    equals_its_expression,
    keeps_to_its_vertices,
    agrees_with_itself_in_time,
)


def _fixed(reward: Reward) -> Iterator[tuple[str, Reward]]:
    """The reward; or, if it changes with time, what it is at several times."""
    if reward.at(_TIMES[0]) is reward:
        yield "", reward
    else:
        yield from ((f"at({t}): ", reward.at(t)) for t in _TIMES)


def _points(reward: Reward, sampling: Sampling) -> tuple[audit.Samples, Vector]:
    """Samples at which the reward is finite, and some theta."""
    points = audit.finite_part(audit.sample_points(reward, sampling.samples, sampling.seed))
    few = audit.Samples(*(part[: 2 * _FEW] for part in points))
    return points, audit.sample_thetas(reward, few, sampling.seed)


def _demand(clause: str, when: str, fault: str | None) -> None:
    if fault is not None:
        raise ContractError(f"{clause}: {when}{fault}")


def _demand_same(
    what: str, reward: Reward, other: Reward, sampling: Sampling, clause: str = "can_be_made_again"
) -> None:
    for name in audit.CONSTANTS:
        one, two = getattr(reward, name), getattr(other, name)
        if one != two:
            raise ContractError(f"{clause}: {what} has {name} = {two!r} instead of {one!r}")
    if not np.array_equal(reward.params, other.params):
        raise ContractError(f"{clause}: {what} has params {other.params.tolist()} instead of {reward.params.tolist()}")
    for w in audit.box_points(np.random.default_rng(sampling.seed), 4, reward.n_outcomes):
        one, two = reward.value(w), other.value(w)
        if not np.array_equal(one, two, equal_nan=True):
            raise ContractError(f"{clause}: {what} has the value {two} instead of {one} at w = {audit.show(w)}")


def _at_time(kernel: Entry, reward: Reward, t: int, x: Vector, size: int) -> Vector:
    out = np.empty(size)
    invoke(kernel.address, t, x.copy(), reward.params, out)
    return out
