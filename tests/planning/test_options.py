"""The options of the planner: what they take, and how they are told."""

from __future__ import annotations

import pytest

import equipoise as eq
from equipoise.planning import Planner


@pytest.mark.parametrize("value", [True, False, "visits"])
def test_when_plans_start_from_the_last_bias(value):
    assert Planner(warm_start=value).arguments()["warm_start"] == value
    assert Planner(warm_start=value) != Planner(warm_start=not value)


@pytest.mark.parametrize("value", ["gradient", "", "true"])
def test_another_word_is_refused(value):
    with pytest.raises(eq.EquipoiseError, match=r'warm_start: got .*; True, False or "visits" is needed'):
        Planner(warm_start=value)
