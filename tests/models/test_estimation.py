"""A model from a log, and the states and actions that occur in it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import LogError
from equipoise.models.estimation import space_from_log

LOG = pl.DataFrame(
    {
        "t": [1, 2, 3, 4, 5],
        "state": ["off", "on", "on", "off", "off"],
        "action": ["start", "run", "stop", "start", "start"],
        "pay": [0.0, 1.0, 0.5, 0.0, 0.5],
        "note": ["a", "b", "c", "d", "e"],
        "next_state": ["on", "on", "off", "off", "broken"],
    }
)


def test_what_occurs():
    space = space_from_log(LOG)
    assert space.labels.states == ("broken", "off", "on")
    assert space.labels.actions == [["run", "start", "stop"], ["start"], ["run", "stop"]]  # of broken nothing is known
    assert space.labels.outcomes == ("pay",)
    assert space.start == 1
    numbers = LOG.with_columns(
        state=pl.Series([2, 10, 10, 2, 2]), next_state=pl.Series([10, 10, 2, 2, 100]), action=pl.Series([0] * 5)
    )
    assert space_from_log(numbers).labels.states == (2, 10, 100)


def test_frequencies_and_means(tmp_path):
    LOG.write_csv(tmp_path / "log.csv")
    for log in (LOG, tmp_path / "log.csv"):
        model = eq.Model.estimate(log)
        rows = model.transitions().toarray()
        space = model.space
        start = space.pair(1, 0)
        assert rows[start].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
        assert model.means[start].tolist() == pytest.approx([0.5 / 3])
        assert rows[space.pair(2, 1)].tolist() == [0, 1, 0]
        assert rows[space.pair(0, 2)].tolist() == [1, 0, 0]  # never taken: it stays, and brings nothing
        assert model.means[space.pair(0, 2)].tolist() == [0]


@pytest.mark.slow
def test_it_tends_to_the_truth_and_can_be_solved():
    model = eq.models.garnet(5, 2, 3, n_outcomes=2, seed=3)
    reward = eq.rewards.Quadratic([0.7, 0.7])
    old = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, old, 100_000, trace=True, progress=False).trace
    guess = eq.Model.estimate(log, model.space)
    assert abs(guess.transitions() - model.transitions()).max() < 0.02
    assert np.abs(guess.means - model.means).max() < 0.02
    assert eq.solve(guess, reward).value == pytest.approx(eq.solve(model, reward).value, abs=0.02)
    table = eq.confidence.intervals(model.space, log, delta=0.01)
    truth = dict(zip(map(tuple, table.select("state", "action").rows()), table["visits"], strict=False))
    assert len(truth) == 10
    rows = table.filter(pl.col("what").str.starts_with("→"))
    P = model.transitions().toarray()
    for state, action, what, _, _, low, high in rows.iter_rows():
        chance = P[model.space.pair(state, action), int(what[2:])]
        assert low <= chance <= high
    outcomes = table.filter(~pl.col("what").str.starts_with("→"))
    for state, action, what, _, _, low, high in outcomes.iter_rows():
        mean = model.means[model.space.pair(state, action), model.space.outcome_names().index(what)]
        assert low <= mean <= high


def test_refusals():
    with pytest.raises(LogError, match="there is no column 'action'"):
        space_from_log(LOG.drop("action"))
    with pytest.raises(LogError, match="no outcome"):
        space_from_log(LOG.drop("pay"))
    with pytest.raises(LogError, match="1 rows have no state"):
        space_from_log(LOG.with_columns(state=pl.Series(["off", None, "on", "off", "off"])))
