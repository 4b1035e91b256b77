"""Functions of a user as entries: the same answers compiled and called back, and the first point that failed."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from equipoise._runtime.compiler import ENTRY_SIGNATURE, invoke
from equipoise._runtime.user_functions import CannotCompileError, UserFunction

PARAMS = np.array([9.0, 2.0, 3.0])  # those of the function begin at 1
EITHER = pytest.mark.parametrize("compiled", [True, False])


def total(x):
    return x[0] + 10.0 * x[1]


def scaled(x, params):
    return params[0] * x + params[1]


def halved(x, factor=0.5):
    return factor * x


def inverse(x):
    return 1.0 / x[0]


def inverses(x):
    return 1.0 / x


def raising(x):
    if x[0] > 0.5:
        raise ValueError("too far")
    return x[0]


def call(function: UserFunction, x, params=PARAMS) -> list[float]:
    """As a loop calls it, through the address."""
    out = np.full(2, 77.0)
    invoke(function.entry.address, 0, np.array(x, dtype=float), params, out)
    return out.tolist()


def user(function, *, scalar: bool, compiled: bool) -> UserFunction:
    return UserFunction(function, 2, PARAMS[1:], scalar=scalar, compiled=compiled, start=1 if compiled else 0)


@EITHER
def test_a_number_a_vector_and_parameters(compiled):
    assert call(user(total, scalar=True, compiled=compiled), [1.0, 2.0]) == [21.0, 77.0]  # one place is written
    assert call(user(scaled, scalar=False, compiled=compiled), [1.0, 2.0]) == [5.0, 7.0]
    assert call(user(halved, scalar=False, compiled=compiled), [1.0, 2.0]) == [0.5, 1.0]  # a default is no parameter
    for function in (total, scaled, halved):
        one = user(function, scalar=function is total, compiled=compiled)
        assert one.takes_params is (function is scaled)
        assert one.entry.has(ENTRY_SIGNATURE)
        assert one.failure() is None


def test_python_is_called_on_copies():
    def spoil(x, params):
        x[:], params[:] = 0.0, 0.0
        return x

    x = np.ones(2)
    assert user(spoil, scalar=False, compiled=False)(x).tolist() == [0.0, 0.0]
    assert x.tolist() == [1.0, 1.0]
    assert PARAMS.tolist() == [9.0, 2.0, 3.0]


@EITHER
@pytest.mark.parametrize("function", [inverse, inverses])
def test_the_first_point_without_a_finite_answer_is_noted_until_it_is_forgotten(compiled, function):
    one = user(function, scalar=function is inverse, compiled=compiled)
    with np.errstate(all="ignore"):
        call(one, [0.5, 1.0])
        assert one.failure() is None  # all is well there
        for x in ([0.0, 3.0], [0.0, 4.0]):
            assert call(one, x)[0] == np.inf
    point, error = one.failure()
    assert point.tolist() == [0.0, 3.0]
    assert error is None
    one.forget()
    assert one.failure() is None
    with np.errstate(all="ignore"):
        call(one, [0.0, 5.0])
    assert one.failure()[0].tolist() == [0.0, 5.0]


@EITHER
def test_an_entry_of_a_vector_that_is_not_finite_is_noted_wherever_it_is(compiled):
    one = user(inverses, scalar=False, compiled=compiled)
    with np.errstate(all="ignore"):
        assert call(one, [4.0, 0.0]) == [0.25, np.inf]
    assert one.failure()[0].tolist() == [4.0, 0.0]


@EITHER
def test_an_exception_is_nan_there_and_is_told_afterwards(compiled):
    one = user(raising, scalar=True, compiled=compiled)
    assert call(one, [0.25, 0.0])[0] == 0.25
    assert one.failure() is None
    assert np.isnan(call(one, [0.75, 0.0])[0])
    point, error = one.failure()
    assert point.tolist() == [0.75, 0.0]
    assert isinstance(error, ValueError)
    assert str(error) == "too far"


def test_an_answer_of_another_shape_is_told():
    one = user(lambda x: x[:1], scalar=False, compiled=False)
    assert np.isnan(call(one, [0.5, 0.5])).all()
    assert "it gives an array of shape (1,); (2,) is needed" in str(one.failure()[1])
    one = user(lambda x: x, scalar=True, compiled=False)
    assert np.isnan(call(one, [0.5, 0.5])[0])
    assert "it gives an array of shape (2,); a number is needed" in str(one.failure()[1])


def test_an_interrupt_is_raised_again_once():
    def interrupted(x):
        raise KeyboardInterrupt

    one = user(interrupted, scalar=True, compiled=False)
    call(one, [0.5, 0.5])
    with pytest.raises(KeyboardInterrupt):
        one.failure()
    assert one.failure() is None


def test_what_cannot_be_compiled_says_where():
    def unknown(x):
        return no_such_name(x)  # noqa: F821

    def words(x):
        return "a word"

    line = unknown.__code__.co_firstlineno + 1
    with pytest.raises(CannotCompileError) as failed:
        user(unknown, scalar=True, compiled=True)
    where, _, why = str(failed.value).partition("`: ")
    assert where.startswith(f"line {line} of test_user_functions.py, `return no_such_name(x)")
    assert "Failed in nopython" not in why  # the line before the reason
    assert "no_such_name" in why
    with pytest.raises(CannotCompileError, match=r"what it returns is of numba's type .*; a number is needed"):
        user(words, scalar=True, compiled=True)
    with pytest.raises(CannotCompileError, match="; a vector of numbers is needed"):
        user(total, scalar=False, compiled=True)
    with pytest.raises(CannotCompileError, match="is no Python function"):
        user(functools.partial(total), scalar=True, compiled=True)
