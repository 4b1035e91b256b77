"""Goals for averages and for shares: met exactly if the shares are, told as shares, and bad input with its culprit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import RewardError

NAMES = ["seen", "in time", "rest"]
UNIT = st.floats(0.0, 1.0)


def of(z=0.9, rest=0.5, usual=None) -> eq.rewards.Goals:
    return eq.rewards.Goals(NAMES, {("in time", "seen"): z, "rest": rest}, usual=usual)


@settings(deadline=None)
@given(seen=st.floats(0.01, 1.0), share=UNIT, rest=UNIT, z=UNIT, usual=st.floats(0.05, 1.0))
def test_all_is_well_exactly_if_every_share_is_reached(seen, share, rest, z, usual):
    assume(abs(share - z) > 1e-9)
    assume(abs(rest - 0.5) > 1e-9)
    goals = of(z, 0.5, {"seen": usual})
    value = goals.reward.value([seen, share * seen, rest])
    lacking = [max(0.0, (z - share) * seen / usual), max(0.0, 0.5 - rest)]
    assert value == pytest.approx(1.0 - np.mean(np.square(lacking)), abs=1e-12)
    assert (value == 1.0) == (lacking == [0.0, 0.0]) or max(lacking) < 1e-7
    assert goals.table([seen, share * seen, rest])["reached"].to_list() == pytest.approx([share, rest])


def test_what_is_missing_of_a_share_is_weighed_as_a_share_where_the_whole_is_as_usual():
    goals = of(0.9, 0.0, {"seen": 0.2})
    assert goals.reward.value([0.2, 0.2 * 0.7, 0.0]) == pytest.approx(1.0 - 0.2**2 / 2)
    assert repr(goals) == "Goals(in time / seen >= 0.9, rest >= 0)"


def test_of_nothing_there_is_no_share():
    assert math.isnan(of().table([0.0, 0.0, 0.0])["reached"][0])
    assert of(0.9, 0.0).reward.value([0.0, 0.0, 0.0]) == 1.0  # nobody came: nobody waited


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eq.rewards.Goals("seen", {"seen": 1.0}), r"^outcomes: got 'seen'"),
        (lambda: eq.rewards.Goals(NAMES, {}), r"^goals: got \{\}"),
        (lambda: eq.rewards.Goals(NAMES, {"sen": 1.0}), r"^goals: there is no outcome 'sen' \(did you mean 'seen'\?\)"),
        (lambda: eq.rewards.Goals(NAMES, {("in time", "sen"): 1.0}), r"^goals: there is no outcome 'sen'"),
        (lambda: eq.rewards.Goals(NAMES, {("in time",): 1.0}), r"^goals: got \('in time',\); a share is a pair"),
        (lambda: of(1.5), r"^goals, in time / seen: got 1\.5; it must lie in \[0, 1\]"),
        (lambda: of("x"), r"^goals, in time / seen"),
        (lambda: of(usual={"sen": 0.5}), r"^usual: there is no outcome 'sen'"),
        (lambda: of(usual={"seen": 0.0}), r"^usual, seen: got 0"),
        (lambda: of(usual={"seen": -1.0}), r"^usual, seen: got -1"),
        (lambda: of().table([0.5, 0.5]), r"^outcomes: got 2 entries; 3"),
    ],
)
def test_bad_goals_are_named(make, message):
    with pytest.raises(RewardError, match=message):
        make()
