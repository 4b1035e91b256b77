"""The contract of worlds: all of ours keep it, and whoever breaks a clause is found by that clause."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ContractError
from equipoise.models.outcome_rows import make_read_only
from equipoise.testing import MODEL_CLAUSES, check_model

pytestmark = pytest.mark.slow

M = eq.models
OURS = {
    "bandit": M.bandit,
    "ring": partial(M.ring, 5),
    "star": M.star,
    "hub": M.hub,
    "hub around a garnet": lambda: M.hub(3, centre=M.garnet(6, 2, 3)),
    "scalar_hub": M.scalar_hub,
    "riverswim": M.riverswim,
    "grid": partial(M.grid, 4, 5, walls=[(1, 1), (2, 3)]),
    "garnet": partial(M.garnet, 30, 3, 20, 2),
    "queue": M.queue,
    "inventory": partial(M.inventory, lead_time=2),
    "scheduler": M.scheduler,
    "scheduler, bernoulli": partial(M.scheduler, noise="bernoulli"),
    "patrol": M.patrol,
    "sites": M.sites,
    "bike_sharing": M.bike_sharing,
    "pricing": M.pricing,
    "bidding": M.bidding,
    "visits": lambda: M.riverswim().visits(),
}


def test_every_named_world_is_here():
    from equipoise.agents.vocabulary import worlds

    assert set(worlds()) <= set(OURS)


@pytest.mark.parametrize("clause", MODEL_CLAUSES.values(), ids=MODEL_CLAUSES)
@pytest.mark.parametrize("name", OURS)
def test_ours_keep_it(name, clause):
    clause(OURS[name])


def with_part(name, value):
    """A garnet with one of its arrays replaced behind its back."""
    model = M.garnet(5, 2, 3, 2, noise="bernoulli")
    return forged(model, **{name: make_read_only(np.array(value(getattr(model, name))))})


def forged(model, **parts):
    """A model with other fields, that nothing has checked."""
    other = object.__new__(eq.Model)
    other.__dict__.update({field.name: getattr(model, field.name) for field in dataclasses.fields(model)} | parts)
    return other


def swapped(p):
    """The two first of three probabilities of the first pair, exchanged."""
    return np.concatenate([p[[1, 0]], p[2:]])


class Fleeting:
    """A label that no file can hold."""


def counting():
    count = itertools.count(2)
    return lambda: M.bandit(next(count))


def relabelled():
    count = itertools.count()
    return lambda: eq.Model.from_arrays([[[1.0]]], [[[0.5]]], labels=eq.Labels(states=[next(count)]))


BROKEN = {
    "no world": (lambda: 3, "is_made_alike_each_time", "it made 3; a Model is needed"),
    "no function": (3, "is_made_alike_each_time", "got 3; a Model, or a function"),
    "arguments needed": (M.ring, "is_made_alike_each_time", "called without arguments, it raised TypeError"),
    "grows": (counting(), "is_made_alike_each_time", "the number of outcomes is 2 here and 3 there"),
    "renames": (relabelled(), "is_made_alike_each_time", "the labels differ"),
    "other laws": (
        lambda: M.garnet(4, 2, 2, seed=int(np.random.default_rng().integers(2**60))),
        "is_made_alike_each_time", "the laws differ",
    ),
    "sum": (
        with_part("transition_probability", lambda p: 1.01 * p), "has_proper_laws",
        "state 0, action 0: the probabilities",
    ),
    "other transitions": (
        with_part("transition_probability", swapped), "has_proper_laws",
        "state 0, action 0: its transitions are not those of its branches",
    ),
    "other means": (
        with_part("mean_rows", lambda v: v * 0.99),
        "has_proper_laws",
        "its mean outcomes are not those of its branches",
    ),
    "outside": (with_part("mean_rows", lambda v: v + 1.0), "has_proper_laws", "do not lie in"),
    "cut in two": (
        lambda: eq.Model.from_arrays([[[1, 0]], [[1, 0]]], [[[0]], [[0]]], labels=eq.Labels(states=["a", "b"])),
        "is_communicating", r'from state 0 \("a"\) no policy reaches state 1 \("b"\)',
    ),
    "sampled wrongly": (
        with_part("branch_cumulative", lambda c: np.where(c < 1.0, 0.5 * c, 1.0)), "is_sampled_as_it_is",
        "came next .* times of 2000",
    ),
    "paid wrongly": (
        with_part("outcome_rows", lambda rows: 0.8 * rows),
        "is_sampled_as_it_is",
        "outcome 0: its average over 2000 draws is",
    ),
    "labels for no file": (
        eq.Model.from_arrays([[[1.0]]], [[[0.5]]], labels=eq.Labels(states=[Fleeting()])), "is_the_same_elsewhere",
        "cannot be saved .* of type Fleeting",
    ),
    "too many labels": (
        forged(M.ring(3), labels=eq.Labels(states=["a", "b"])), "has_labels_that_fit",
        "labels, states: got 2; 3 are needed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_found_by_its_clause(name):
    made, clause, message = BROKEN[name]
    with pytest.raises(ContractError, match=f"{clause}: .*{message}"):
        MODEL_CLAUSES[clause](made)
    with pytest.raises(ContractError):
        check_model(made)


def test_laws_are_compared_up_to_rounding():
    """States are weighed by their numbers, so that what rounding leaves grows with their number."""
    model = M.garnet(5, 2, 3, 2, noise="bernoulli")
    p, states = model.transition_probability.copy(), model.transition_state[:3]
    p[0], p[2] = p[0] - 4e-10, p[2] + 4e-10
    assert 1e-9 / 5 < 4e-10 * abs(states[2] - states[0]) < 1e-9 * 5
    MODEL_CLAUSES["has_proper_laws"](forged(model, transition_probability=make_read_only(p)))


def test_agents_are_told_what_is_true():
    model = eq.Model.from_arrays([[[1.0]]], [[[0.5]]], known=[(0, 0)])
    MODEL_CLAUSES["tells_its_agents_the_truth"](model)
    lied = forged(model)
    lied.__dict__["space"] = eq.Space([1], 1, known={(0, 0): [0.25]})
    with pytest.raises(ContractError, match=r"state 0, action 0: agents are told \[0.25\]; the means are \[0.5\]"):
        MODEL_CLAUSES["tells_its_agents_the_truth"](lied)
