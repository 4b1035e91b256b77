"""A model from a log, and the states and actions that occur in it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import LogError
from equipoise.models.estimated_model import infer_space

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
REPAIR = pl.DataFrame(
    {"t": [6], "state": ["broken"], "action": ["stop"], "pay": [0.0], "note": ["f"], "next_state": ["off"]}
)
WHOLE = pl.concat([LOG, REPAIR])


def test_what_occurs():
    space = infer_space(LOG)
    assert space.labels.states == ("broken", "off", "on")
    assert space.labels.actions == [["run", "start", "stop"], ["start"], ["run", "stop"]]  # of broken nothing is known
    assert space.labels.outcomes == ("pay",)
    assert space.start == 1
    numbers = LOG.with_columns(
        state=pl.Series([2, 10, 10, 2, 2]), next_state=pl.Series([10, 10, 2, 2, 100]), action=pl.Series([0] * 5)
    )
    assert infer_space(numbers).labels.states == (2, 10, 100)


def test_frequencies_and_means(tmp_path):
    WHOLE.write_csv(tmp_path / "log.csv")
    for log in (WHOLE, tmp_path / "log.csv"):
        model = eq.Model.estimate(log)
        rows = model.transitions().toarray()
        space = model.space
        start = space.pair(1, 0)
        assert rows[start].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
        assert model.means[start].tolist() == pytest.approx([0.5 / 3])
        assert rows[space.pair(2, 1)].tolist() == [0, 1, 0]
        assert space.labels.actions == [["stop"], ["start"], ["run", "stop"]]


def test_what_was_never_tried_is_not_there():
    """No action that costs nothing because nobody knows what it costs, and no state in which nothing was done."""
    labels = eq.Labels(outcomes=["cost"])
    space = eq.Space([2, 2, 1, 3], 1, start=3, labels=labels)
    log = pl.DataFrame({"state": [1, 2] * 50, "action": [1, 0] * 50, "cost": [0.5] * 100, "next_state": [2, 1] * 50})
    model = eq.Model.estimate(log, space)
    assert model.n_actions == (1, 1)
    assert (model.labels.states, model.labels.actions, model.labels.outcomes) == ((1, 2), [[1], [0]], ("cost",))
    assert model.transitions().toarray().tolist() == [[0, 1], [1, 0]]
    assert model.start == 0  # where the log begins, as nothing was done where the space does
    for world in (model, model.restricted()):
        best = eq.solve(world, eq.rewards.Linear([-1.0]))
        assert (best.status, best.value) == ("optimal", pytest.approx(-0.5))


def test_a_state_in_which_nothing_was_done():
    """What follows there is unknown, so that there is no model, whatever is made of it afterwards."""
    for log, space in ((LOG, None), (LOG, infer_space(LOG))):
        with pytest.raises(LogError, match=r'nothing was done in state 0 \("broken"\), entered by 1 of 5 rows'):
            eq.Model.estimate(log, space)
    kept = eq.Model.estimate(LOG.filter(pl.col("next_state") != "broken"))
    assert kept.labels.states == ("off", "on")
    assert eq.certify(infer_space(LOG), eq.rewards.Linear([1.0]), LOG).best_possible == 1.0


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
        infer_space(LOG.drop("action"))
    with pytest.raises(LogError, match="no outcome"):
        infer_space(LOG.drop("pay"))
    for name in ("state", "action", "next_state"):
        with pytest.raises(LogError, match=r"1 of 5 rows cannot be taken in, and none was: row 2: .*None"):
            eq.Model.estimate(LOG.with_columns(pl.when(pl.col("t") == 2).then(None).otherwise(name).alias(name)))
    with pytest.raises(LogError, match="no row has a state"):
        eq.Model.estimate(LOG.with_columns(state=pl.lit(None, dtype=pl.String)))
    few = LOG.with_columns(pay=pl.Series(["0", "much", "0.5", "0", "0.5"]))
    with pytest.raises(LogError, match="1 of 5 rows cannot be taken in, and none was: row 2: pay: got 'much'"):
        eq.Model.estimate(few)


def test_columns_that_are_no_outcomes():
    log = LOG.with_columns(
        when=pl.datetime(2026, 1, 1) + pl.duration(hours=pl.col("t")),
        empty=pl.lit(None),
        manual=pl.col("t") > 3,
    )
    assert infer_space(log).labels.outcomes == ("pay",)


@pytest.mark.parametrize("names", [[2, 10, 100], [0.5, 2.0, 10.0], [-1, 0, 1]])
def test_states_that_are_numbers(names, tmp_path):
    """In the order of their size, from a CSV file too; and read as what they are by the space they give."""
    off, on, broken = names
    log = WHOLE.with_columns(
        state=pl.Series([off, on, on, off, off, broken]), next_state=pl.Series([on, on, off, off, broken, off])
    )
    log.write_csv(tmp_path / "log.csv")
    for source in (log, tmp_path / "log.csv"):
        model = eq.Model.estimate(source)
        assert [float(state) for state in model.labels.states] == [float(name) for name in names]
        for again in (log, log.lazy(), tmp_path / "log.csv"):  # a number is a label, whoever wrote it
            assert eq.Model.estimate(again, model.space) == model


def test_of_a_trace_the_names_are_the_labels(tmp_path):
    """Not the numbers beside them: a state that the log leaves out would shift all after it."""
    model = eq.models.inventory()
    old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0, 0.0, 0.0]))
    trace = eq.simulate(model, old, 3000, trace=True, progress=False).trace
    trace = trace.filter(pl.col("state") > 2, pl.col("next_state") > 2)
    trace.write_csv(tmp_path / "trace.csv")
    trace.write_parquet(tmp_path / "trace.parquet")
    wanted = trace.group_by("state_label", "action_label").agg(pl.len(), pl.col("fill rate").mean())
    for log in (trace, tmp_path / "trace.csv", tmp_path / "trace.parquet"):
        guess = eq.Model.estimate(log)
        space = guess.space
        assert set(space.labels.states) == set(trace["state_label"]) | set(trace["next_state_label"])
        for state, action, visits, mean in wanted.iter_rows():
            s = space.labels.state_index(state)
            assert guess.means[space.pair(s, space.labels.action_index(s, action)), 0] == pytest.approx(mean)
            table = eq.confidence.intervals(space, log).filter(state=state, action=action)
            assert set(table["visits"]) == {visits}
