"""The contract of rewards: whoever breaks a clause is found by that clause, and by no other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cvxpy
import numpy as np
import pytest

from equipoise.errors import ContractError, RewardError
from equipoise.rewards.base import Reward, RewardKernels, Vertices, entry
from equipoise.testing import REWARD_CLAUSES, check_reward

# What the kernels of `Least` may do wrong; the number is params[0].
NOTHING, SIGN, SPILL, ARGUMENT, NAN, MEMORY, ARGMAX, OUTSIDE, CLOCK, CONVEX, PARAMETERS = range(11)


@entry
def _value(t, n, w, params, out):
    least = w[0]
    for k in range(n):
        least = min(least, w[k])
    out[0] = least
    if params[0] == CONVEX:
        out[0] = least * least - least
    if params[0] == ARGUMENT:
        w[0] = 0.5
    if params[0] == PARAMETERS:
        params[1] += 1.0
    if params[0] == NAN and w[0] + w[1] == 2.0:
        out[0] = np.nan
    if params[0] == CLOCK and t < 1000:
        out[0] += 1.0 / t


@entry
def _gradient(t, n, w, params, out):
    where = 0
    for k in range(n):
        if params[0] != MEMORY or out[k] == 0.0:
            out[k] = 0.0
        if w[k] < w[where]:
            where = k
    out[where] = 1.0
    if params[0] == SIGN:
        out[where] = 0.0
        out[n - 1 - where] = 1.0
    if params[0] == SPILL:
        out[n] = 0.0


@entry
def _argmax(t, n, theta, params, out):
    # on the ties w = (s, ..., s) the maximum is 0 or 1 + theta.1; a set A alone gains theta(A)
    total = 1.0
    alone = 0.0
    for k in range(n):
        total += theta[k]
        alone += max(0.0, theta[k])
    for k in range(n):
        out[k] = 1.0 if total > alone or theta[k] > 0.0 else 0.0
        if params[0] == ARGMAX:
            out[k] = 1.0 - out[k]
        if params[0] == OUTSIDE:
            out[k] = 2.0 * out[k]


class Least(Reward):
    """The smallest outcome, with one slip."""

    norm = math.inf
    lipschitz = 1.0
    smoothness: float | None = None
    piecewise_linear = True
    n_outcomes = 2

    def __init__(self, slip: int = NOTHING) -> None:
        self.slip = slip
        self.params = np.array([float(slip), 0.0])
        self.vertices = Vertices(np.zeros(2), np.arange(2), np.ones(2))

    @property
    def kernels(self) -> RewardKernels:
        return RewardKernels(_value, _gradient, _argmax)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        return cvxpy.min(w)

    def arguments(self) -> Mapping[str, Any]:
        return {"slip": self.slip}


class Flat(Least):
    lipschitz = 0.5


class Smooth(Least):
    smoothness = 1.0


class Wordy(Least):
    piecewise_linear = 1  # type: ignore[assignment]


class Forgetful(Least):
    def arguments(self) -> Mapping[str, Any]:
        return {"slip": CLOCK}


class Unmade(Least):
    def arguments(self) -> Mapping[str, Any]:
        return {"size": 2}


class Twin(Least):
    def __deepcopy__(self, memo: dict[int, Any]) -> Reward:
        return Least(CONVEX)


class Narrow(Least):
    def __init__(self, slip: int = NOTHING) -> None:
        super().__init__(slip)
        self.vertices = Vertices(np.zeros(2), np.arange(2), np.full(2, 0.5))


class Loose(Least):
    """Slack where every supergradient sums to 1: a larger set, which still holds them."""

    def __init__(self, slip: int = NOTHING) -> None:
        super().__init__(slip)
        self.vertices = Vertices(np.zeros(2), np.array([0, 1, 0]), np.array([1.5, 1.0, 0.0]))


class Other(Least):
    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        return 0.5 * cvxpy.sum(w)


class Convex(Least):
    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        return cvxpy.max(w)


class Curved(Least):
    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        return cvxpy.geo_mean(w)


class Wandering(Least):
    """Another reward from time 100 on, which its kernels know nothing of."""

    def at(self, t: int) -> Reward:
        return Least() if t < 100 else Flat()


BROKEN = [
    (Wordy(), "declares_itself", "piecewise_linear: got 1; True or False is needed"),
    (Least(NAN), "is_finite", r"value: at w = \[1, 1\] it is nan"),
    (Least(ARGUMENT), "has_kernels_that_only_answer", "value: .* it changes its argument in place"),
    (Forgetful(), "can_be_made_again", r"params \[8.0, 0.0\] instead of \[0.0, 0.0\]|made from them again is another"),
    (Unmade(), "can_be_made_again", "cannot be made from .*unexpected keyword argument 'size'"),
    (Least(SIGN), "is_concave", r"gradient: not a supergradient at w = \["),
    (Flat(), "is_lipschitz", r"lipschitz: got 0.5, but at w = .* has length 1 "),
    (Smooth(), "is_smooth", "smoothness: got 1, but between .* the gradient changes by"),
    (Least(ARGMAX), "maximises_its_conjugate", r"conjugate_argmax: at theta = .* is better, with"),
    (Other(), "equals_its_expression", r"concave_expression: at w = .* it is .* and the value"),
    (Convex(), "equals_its_expression", "is not a concave scalar"),
    (Curved(), "equals_its_expression", "piecewise_linear: got True"),
    (Narrow(), "keeps_to_its_vertices", "the supergradient .* is no point of their simplex"),
    (Least(CLOCK), "agrees_with_itself_in_time", "value: at t = 1 .* the kernel gives"),
]


@pytest.mark.parametrize(("reward", "clause", "message"), BROKEN, ids=lambda x: str(x)[:40])
def test_a_broken_clause_is_found_by_it_alone(reward: Reward, clause: str, message: str):
    with pytest.raises(ContractError, match=f"{clause}: .*({message})"):
        REWARD_CLAUSES[clause](reward)
    with pytest.raises(ContractError, match=clause):
        check_reward(reward)
    for name, other in REWARD_CLAUSES.items():
        if name != clause:
            other(reward)


def test_every_clause_has_a_broken_reward():
    assert {clause for _, clause, _ in BROKEN} == set(REWARD_CLAUSES)


@pytest.mark.parametrize(
    ("reward", "clause", "message"),
    [
        (Least(SPILL), "has_kernels_that_only_answer", "gradient: .* it writes beyond the 2 numbers of its output"),
        (Least(PARAMETERS), "has_kernels_that_only_answer", "value: .* it changes the parameters in place"),
        (Least(MEMORY), "has_kernels_that_only_answer", "gradient: .* and when called again"),
        (Least(CONVEX), "is_concave", "value: not concave: midway between"),
        (Least(OUTSIDE), "maximises_its_conjugate", r"conjugate_argmax: .* outside \[0, 1\]"),
        (Wandering(), "agrees_with_itself_in_time", "lipschitz: at t = 100 it is 1, and that of at.100. 0.5"),
        (Twin(), "can_be_made_again", r"a deep copy has params \[9.0, 0.0\]"),
    ],
    ids=lambda x: str(x)[:40],
)
def test_slips_that_spoil_more_than_one_thing(reward: Reward, clause: str, message: str):
    with pytest.raises(ContractError, match=f"{clause}: .*{message}"):
        REWARD_CLAUSES[clause](reward)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_outcomes", 0),
        ("norm", 3.0),
        ("lipschitz", 0.0),
        ("lipschitz", 1),
        ("smoothness", -1.0),
        ("params", [1.0]),
        ("params", np.zeros(2, dtype=np.float32)),
        ("kernels", (None, None)),
    ],
)
def test_what_is_declared_is_of_the_right_kind(name: str, value: object):
    odd = type("Odd", (Least,), {name: value, "__init__": lambda self: None} if name != "params" else {})()
    if name == "params":
        odd.params = value
    elif not hasattr(odd, "params"):
        odd.params = np.zeros(2)
    with pytest.raises(ContractError, match=f"declares_itself: {name}: got"):
        check_reward(odd)


def test_kernels_are_entries():
    odd = type("Odd", (Least,), {"kernels": RewardKernels(np.sqrt, _gradient, _argmax)})()  # type: ignore[arg-type]
    with pytest.raises(ContractError, match=r"kernels.value: got .*; declare it with @entry"):
        check_reward(odd)


def test_good_ones_pass():
    check_reward(Least())
    check_reward(Loose())


def test_anything_else_is_refused():
    with pytest.raises(ContractError, match="got str; a Reward is needed"):
        check_reward("Quadratic")  # type: ignore[arg-type]


class Failing(Least):
    def value(self, w: Any) -> float:
        raise RewardError("value: no such thing")


def test_an_error_of_the_reward_is_a_fault():
    with pytest.raises(ContractError, match="is_finite: value: no such thing"):
        check_reward(Failing())
