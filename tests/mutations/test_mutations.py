"""Every mutation fits the sources, every check has one aimed at it, and a sample is noticed."""

from __future__ import annotations

import pytest

from paper.catalogue import CHECKS
from tests.mutations.catalogue import PACKAGE, Mutation, mutations
from tests.mutations.running import verdicts
from tests.mutations.table import table

LISTED = mutations()
AT_LEAST = 40


def test_there_are_enough_and_they_are_told_apart():
    assert len(LISTED) >= AT_LEAST
    assert len({mutation.name for mutation in LISTED}) == len(LISTED)
    assert len({(mutation.file, mutation.old, mutation.new) for mutation in LISTED}) == len(LISTED)


@pytest.mark.parametrize("mutation", LISTED, ids=lambda mutation: mutation.name)
def test_it_fits_the_sources(mutation):
    assert mutation.fits(), f"{mutation.file} does not have {mutation.old!r} once"
    assert mutation.old != mutation.new
    assert not mutation.file.startswith("paper/"), "a check is broken by what it checks, not by itself"
    assert mutation.aimed
    assert set(mutation.aimed) <= set(CHECKS)


def test_every_check_has_one_aimed_at_it():
    aimed = {name for mutation in LISTED for name in mutation.aimed}
    assert not set(CHECKS) - aimed


def test_a_mutation_is_applied_to_a_copy(tmp_path):
    mutation = LISTED[0]
    copy = mutation.apply(tmp_path) / PACKAGE / mutation.file
    assert mutation.new in copy.read_text()
    assert mutation.fits()


def test_the_table():
    listed = [Mutation("a", "a sign", "x.py", "+", "-", ("growth",)), Mutation("b", "b", "y.py", "1", "2", ("delays",))]
    listed.append(Mutation("c", "c", "z.py", "1", "2", ("delays",)))
    text = table(listed, {"a": ["delays", "growth"], "b": []}, ["growth", "delays"])
    assert "| c | `z.py` | not run |" in text
    assert "| a sign | `x.py` | **`growth`**, `delays` |" in text
    assert "| b | `y.py` | none |" in text
    assert "| `growth` | 1 | 1 | 1 |" in text
    assert "| `delays` | 1 | 0 | 1 |" in text


SAMPLE = {  # of those that a mutation is aimed at, some that are soon done
    "pessimism": ("linear-rewards",),
    "half-radii": ("coverage", "decomposition"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_is_noticed(name):
    mutation = next(mutation for mutation in LISTED if mutation.name == name)
    assert set(SAMPLE[name]) <= set(mutation.aimed)
    usual = verdicts(None, SAMPLE[name])
    assert {verdict.verdict for verdict in usual} <= {"holds", "holds as corrected"}
    for before, after in zip(usual, verdicts(mutation, SAMPLE[name]), strict=True):
        assert after.verdict not in (before.verdict, "error", "no answer"), after
