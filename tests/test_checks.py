"""Checks of numbers: each limit is exact, and an error names the argument, what it was, and what is needed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from equipoise._checks import LARGEST, check_count, check_float, check_int, show_value, suggest
from equipoise.errors import ModelError, ParameterError


@pytest.mark.parametrize("x", [3, 4, 7, np.int64(3), np.uint8(7)])
def test_both_ends_of_a_range_are_in_it(x):
    value = check_int(x, "n", 3, 7, error=ModelError)
    assert type(value) is int
    assert value == x


@pytest.mark.parametrize("x", [2, 8, -3])
def test_what_is_outside_of_a_range_is_named(x):
    with pytest.raises(ModelError, match=f"^n: got {x}; a whole number from 3 to 7 is needed$"):
        check_int(x, "n", 3, 7, error=ModelError)


def test_a_range_without_a_limit_names_the_end_that_was_missed():
    assert check_int(2**62, "n", 1, error=ParameterError) == LARGEST == 2**62
    assert check_int(10**9 - 1, "n", 1, 10**9 - 1, error=ParameterError) == 10**9 - 1
    for x, low, high, needed in (
        (0, 1, LARGEST, ">= 1"),
        (2**62 + 1, 1, LARGEST, f"<= {2**62}"),
        (0, 1, 10**9, ">= 1"),
        (0, 1, 10**9 - 1, "from 1 to 999999999"),
    ):
        with pytest.raises(ParameterError, match=f"^n: got {x}; a whole number {needed} is needed$"):
            check_int(x, "n", low, high, error=ParameterError)


@pytest.mark.parametrize("x", [True, np.True_, 1.0, "1", None, np.array([1, 2])])
def test_what_is_no_whole_number(x):
    with pytest.raises(ParameterError, match=r"^n: got .*; a whole number is needed$"):
        check_int(x, "n", 0, 5, error=ParameterError)


def test_a_count_may_be_a_float_that_is_whole():
    assert check_count(1e5, "steps", 1, error=ParameterError) == 100_000
    assert check_count(np.float32(2.0), "steps", 1, error=ParameterError) == 2
    for x in (1.5, math.inf, math.nan, True, "3"):
        with pytest.raises(ParameterError, match=r"^steps: got .*; a whole number is needed$"):
            check_count(x, "steps", 1, error=ParameterError)


def test_a_float_is_any_number():
    assert check_float(3, "x", error=ParameterError) == 3.0
    assert type(check_float(np.float32(0.5), "x", error=ParameterError)) is float
    assert check_float(10**400, "x", error=ParameterError) == math.inf
    assert check_float(-(10**400), "x", error=ParameterError) == -math.inf
    for x in ("0.5", b"1", None, [1.0]):
        with pytest.raises(ParameterError, match=r"^x: got .*; a number is needed$"):
            check_float(x, "x", error=ParameterError)


def test_numbers_of_many_digits_can_be_shown():
    assert show_value(0.5) == "0.5"
    assert show_value(10**5000) == "a value with too many digits to show"


def test_a_suggestion_is_the_nearest_name_or_nothing():
    assert suggest("Quadratc", ["Linear", "Quadratic", "Quadrat"]) == " (did you mean 'Quadratic'?)"
    assert suggest("zzz", ["Linear", "Quadratic"]) == ""
    assert suggest(5, []) == ""
