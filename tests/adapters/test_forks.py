"""Draws that fork: all answers, each with its probability; against frequencies of the generators they stand for."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.adapters.forks import (
    ForkingGenerator,
    ForkingRandom,
    ForkingState,
    Forks,
    GlobalDraws,
    Uniform,
    make_fork,
)
from equipoise.errors import AdapterError

CHANCES = st.floats(0.01, 0.99)


def law(draw, kind=ForkingGenerator):
    """The distribution of what a function of a generator returns."""
    forks = Forks()
    generator = kind(forks)
    total = {}
    for p, value in forks.each(lambda: draw(generator)):
        total[value] = total.get(value, 0.0) + p
    return total


@given(CHANCES)
def test_a_comparison_has_two_answers(p):
    assert law(lambda rng: rng.random() < p) == {True: pytest.approx(p), False: pytest.approx(1 - p)}
    assert law(lambda rng: rng.random() > p) == {True: pytest.approx(1 - p), False: pytest.approx(p)}
    assert law(lambda rng: p >= rng.random()) == {True: pytest.approx(p), False: pytest.approx(1 - p)}


@given(CHANCES, CHANCES)
def test_a_second_comparison_of_one_number_knows_of_the_first(p, q):
    def draw(rng):
        u = rng.random()
        return u < p, u < q

    low, high = sorted((p, q))
    answers = law(draw)
    assert sum(answers.values()) == pytest.approx(1.0)
    assert answers[True, True] == pytest.approx(low)
    assert answers[False, False] == pytest.approx(1 - high)
    assert all(mass == pytest.approx(high - low, abs=1e-9) for key, mass in answers.items() if key[0] != key[1])
    assert (p < q, q < p) not in answers or p == q


@given(st.lists(CHANCES, min_size=1, max_size=6))
def test_the_draw_of_gymnasiums_tables(weights):
    p = np.array(weights) / sum(weights)
    answers = law(lambda rng: int(np.argmax(np.cumsum(p) > rng.random())))
    assert [answers.get(i, 0.0) for i in range(p.size)] == pytest.approx(p.tolist(), abs=1e-9)


DRAWS = {
    "random, scaled": lambda rng: int(3 * rng.random() + 0.5),
    "random, from above": lambda rng: 1 - rng.random() < 0.3,
    "random, divided": lambda rng: rng.random() / 2 - 0.1 > 0.05,
    "random, floor": lambda rng: math.floor(rng.random() * -3),
    "random, several": lambda rng: tuple((rng.random(3) < 0.25).tolist()),
    "uniform": lambda rng: int(rng.uniform(-2.5, 1.5)),
    "integers": lambda rng: int(rng.integers(4)),
    "integers, from": lambda rng: int(rng.integers(2, 5, endpoint=True)),
    "integers, several": lambda rng: tuple(rng.integers(0, 2, size=(2, 2)).ravel().tolist()),
    "choice": lambda rng: int(rng.choice([1, 2, 2, 10])),
    "choice, weighted": lambda rng: str(rng.choice(["a", "b", "c"], p=[0.5, 0.125, 0.375])),
    "choice, without replacement": lambda rng: tuple(rng.choice(4, size=2, replace=False).tolist()),
    "choice, of rows": lambda rng: tuple(rng.choice([[1, 2], [3, 4]]).tolist()),
    "binomial": lambda rng: int(rng.binomial(3, 0.3)),
    "binomial, several": lambda rng: tuple(rng.binomial(1, 0.2, size=2).tolist()),
    "permutation": lambda rng: tuple(rng.permutation(3).tolist()),
    "one after the other": lambda rng: int(rng.integers(3)) if rng.random() < 0.5 else -1,
}


@pytest.mark.parametrize("name", DRAWS)
def test_probabilities_are_those_of_the_generator(name):
    draws, rng = 20_000, np.random.default_rng(5)
    answers = law(DRAWS[name])
    assert sum(answers.values()) == pytest.approx(1.0)
    found = {}
    for _ in range(draws):
        value = DRAWS[name](rng)
        found[value] = found.get(value, 0) + 1
    assert set(found) == set(answers)
    for value, p in answers.items():
        assert abs(found[value] / draws - p) < 5 * math.sqrt(p * (1 - p) / draws) + 1e-12


OF_RANDOM = {
    "random": lambda rng: rng.random() < 0.2,
    "uniform": lambda rng: rng.uniform(1, 3) < 2.5,
    "uniform, backwards": lambda rng: rng.uniform(3, 1) < 1.5,
    "randint": lambda rng: rng.randint(1, 3),
    "randrange": lambda rng: rng.randrange(1, 8, 3),
    "choice": lambda rng: rng.choice("aab"),
    "choices": lambda rng: tuple(rng.choices("ab", weights=[1, 3], k=2)),
    "choices, cumulative": lambda rng: tuple(rng.choices("ab", cum_weights=[1, 4])),
    "sample": lambda rng: tuple(rng.sample(range(4), 2)),
}


@pytest.mark.parametrize("name", OF_RANDOM)
def test_probabilities_are_those_of_the_standard_library(name):
    draws, rng = 20_000, random.Random(5)
    answers = law(OF_RANDOM[name], ForkingRandom)
    found = {}
    for _ in range(draws):
        value = OF_RANDOM[name](rng)
        found[value] = found.get(value, 0) + 1
    assert set(found) == set(answers)
    for value, p in answers.items():
        assert abs(found[value] / draws - p) < 5 * math.sqrt(p * (1 - p) / draws) + 1e-12


def test_lists_are_shuffled_in_place():
    def draw(rng):
        cards = ["a", "b", "c"]
        rng.shuffle(cards)
        return "".join(cards)

    for kind in (ForkingGenerator, ForkingState, ForkingRandom):
        answers = law(draw, kind)
        assert len(answers) == 6
        assert list(answers.values()) == pytest.approx([1 / 6] * 6)


def test_legacy_generators():
    assert law(lambda rng: int(rng.randint(3)), ForkingState) == {k: pytest.approx(1 / 3) for k in range(3)}
    assert law(lambda rng: bool(rng.rand() < 0.25), ForkingState)[True] == 0.25
    assert law(lambda rng: tuple((rng.rand(2) < 0.5).tolist()), ForkingState)[True, False] == 0.25
    assert law(lambda rng: int(rng.choice([7, 8], p=[0.25, 0.75])), ForkingState) == {7: 0.25, 8: 0.75}


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda rng: rng.normal(), r"np_random\.normal: this draw cannot be enumerated"),
        (lambda rng: rng.exponential(), r"np_random\.exponential"),
        (lambda rng: rng.poisson(3), r"np_random\.poisson"),
        (lambda rng: float(rng.random()), r"np_random\.random: .* used as a number"),
        (lambda rng: math.sin(rng.uniform(0, 1)), r"np_random\.uniform: .* used as a number"),
        (lambda rng: rng.random() * rng.random() < 0.5, r"np_random\.random: .* combined with Uniform"),
        (lambda rng: rng.random() == 0.5, r"tested for equality"),
        (lambda rng: 1 if rng.random() else 0, r"truth value"),
        (lambda rng: rng.choice(4, 2, replace=False, p=[0.25] * 4), r"with p and without replacement"),
        (lambda rng: rng.permutation([[1, 2], [3, 4]], axis=1), r"with axis"),
        (lambda rng: next(x for x in iter(lambda: rng.integers(3), -1) if x == 2), r"more than 1000 times"),
    ],
)
def test_what_cannot_be_enumerated_is_refused_by_name(draw, message):
    with pytest.raises(AdapterError, match=message):
        law(draw)


def test_a_name_that_no_generator_has_is_no_attribute():
    assert not hasattr(ForkingGenerator(Forks()), "randint")
    assert hasattr(ForkingGenerator(Forks()), "normal")


def test_a_function_that_draws_differently_each_time_is_refused():
    forks, calls = Forks(), iter(range(10))
    with pytest.raises(AdapterError, match="not the same when it is run again"):
        list(forks.each(lambda: [forks.choose([0.5, 0.5]) for _ in range(3 - next(calls))]))


def test_make_forks_are_for_generators_only():
    kinds = [np.random.default_rng(0), np.random.RandomState(0), random.Random(0), "no generator", None]
    names = [type(make_fork(one, Forks())).__name__ for one in kinds]
    assert names == ["ForkingGenerator", "ForkingState", "ForkingRandom", "NoneType", "NoneType"]


def test_global_functions_fork_and_are_put_back():
    before = random.choice, np.random.randint, np.random.normal
    forks = Forks()
    fork = GlobalDraws(forks)
    with fork:
        assert len(list(forks.each(lambda: random.choice([1, 2, 3])))) == 3
        assert len(list(forks.each(lambda: np.random.randint(2)))) == 2  # noqa: NPY002
        with pytest.raises(AdapterError, match=r"random\.gauss"):
            random.gauss(0, 1)
    assert (random.choice, np.random.randint, np.random.normal) == before
    fork.check()


def test_a_draw_that_went_past_is_noticed():
    imported_by_name = random.random
    fork = GlobalDraws(Forks())
    with fork:
        imported_by_name()
    with pytest.raises(AdapterError, match="imported by name"):
        fork.check()


def test_a_uniform_number_has_no_other_attributes():
    with pytest.raises(AdapterError, match=r"used as a number \(\.astype\)"):
        Uniform(Forks(), "random").astype(int)
