"""Logs: frames and files, labels and numbers, and rows that cannot have happened."""

from __future__ import annotations

import numpy as np
import pandas
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError, LogError, ParameterError
from equipoise.models.estimated_model import infer_space
from equipoise.models.log import read_log

SHOP = eq.Space(
    [2, 1],
    2,
    labels=eq.Labels(states=["empty", "full"], actions=[["wait", "order"], ["sell"]], outcomes=["rate", "pay"]),
)
ROWS = {
    "state": ["empty", "full", "empty"],
    "action": ["order", "sell", "wait"],
    "rate": [0.0, 1.0, 0.25],
    "pay": [0.0, 0.5, 1.0],
    "next_state": ["full", "empty", "empty"],
}
PAIRS, AFTER = [1, 2, 0], [1, 0, 0]


def read(log, space=SHOP):
    taken = []
    rows = read_log(log, space, taken.append)
    pair, outcomes, after, _ = (np.concatenate(part) for part in zip(*taken, strict=True))
    assert rows == pair.size
    return pair.tolist(), outcomes.tolist(), after.tolist()


def test_labels_and_numbers():
    outcomes = [[0.0, 0.0], [1.0, 0.5], [0.25, 1.0]]
    by_label = pl.DataFrame(ROWS)
    by_number = by_label.with_columns(
        state=pl.Series([0, 1, 0]), action=pl.Series([1, 0, 0]), next_state=pl.Series(AFTER)
    )
    for log in (by_label, by_number, by_label.lazy(), by_number.with_columns(pl.col("state").cast(pl.Float64))):
        assert read(log) == (PAIRS, outcomes, AFTER)
    plain = eq.Space([2, 1], 2, labels=eq.Labels(outcomes=["rate", "pay"]))
    assert read(by_number.with_columns(pl.all().cast(pl.String)), plain) == (PAIRS, outcomes, AFTER)


def test_files(tmp_path):
    log = pl.DataFrame(ROWS).with_columns(extra=pl.lit("left alone"))
    log.write_parquet(tmp_path / "log.parquet")
    log.write_csv(tmp_path / "log.csv")
    log.write_csv(tmp_path / "log.tsv", separator="\t")
    log.write_csv(tmp_path / "LOG.CSV")
    for name in ("log.parquet", "log.csv", "log.tsv", "LOG.CSV"):
        assert read(tmp_path / name) == read(log)
    with pytest.raises(FileError, match="it cannot be read as a log"):
        read(tmp_path / "missing.parquet")
    with pytest.raises(ParameterError, match=r"log\.xlsx is neither"):
        read(tmp_path / "log.xlsx")
    log.clear().write_csv(tmp_path / "none.csv")
    with pytest.raises(LogError, match="it has no rows"):
        read(tmp_path / "none.csv")


def test_pandas():
    assert read(pandas.DataFrame(ROWS)) == read(pl.DataFrame(ROWS))
    frame = pandas.DataFrame(ROWS).astype({"state": "category"})
    assert read(frame.assign(action=pandas.array([1, 0, 0], dtype="Int64"))) == read(pl.DataFrame(ROWS))
    for name, missing in (("state", pandas.NA), ("next_state", None), ("action", float("nan")), ("pay", None)):
        bad = pandas.DataFrame(ROWS).astype(object)
        bad.loc[1, name] = missing
        with pytest.raises(LogError, match="1 of 3 rows cannot be taken in, and none was: row 2: "):
            read(bad)


def test_labels_that_are_numbers_are_labels():
    """Unless there are columns of labels beside them, as in the trace of a run."""
    space = eq.Space([1, 1], 1, labels=eq.Labels(states=[10, 0]))
    log = pl.DataFrame({"state": [10, 0], "action": [0, 0], "outcome_0": [1.0, 0.0], "next_state": [0, 10]})
    assert read(log, space)[0::2] == ([0, 1], [1, 0])
    numbered = log.with_columns(
        state=pl.Series([0, 1]),
        next_state=pl.Series([1, 0]),
        state_label=pl.Series(["10", "0"]),
        next_state_label=pl.Series(["0", "10"]),
    )
    assert read(numbered, space)[0::2] == ([0, 1], [1, 0])
    assert read(numbered, eq.Space([1, 1], 1))[0::2] == ([0, 1], [1, 0])  # without labels, by the numbers
    alike = eq.Space([1, 1], 1, labels=eq.Labels(states=[0, "0"]))
    assert read(numbered, alike)[0::2] == ([0, 1], [1, 0])  # labels that look alike in a column of texts
    text = eq.Space([1, 1], 1, labels=eq.Labels(states=["10", "0"]))  # as those from a CSV file
    assert read(log, text)[0::2] == ([0, 1], [1, 0])


def test_the_trace_of_a_run_by_its_numbers_and_its_labels():
    """Actions that are labelled by other actions' numbers, and states in another order than in the world."""
    model = eq.Model.from_arrays(
        [[[0.5, 0.5], [1.0, 0.0]], [[1.0, 0.0], [0.5, 0.5]]],
        [[[0.0], [1.0]], [[0.5], [0.25]]],
        labels=eq.Labels(actions=[1, 0]),
    )
    old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0]))
    trace = eq.simulate(model, old, 200, trace=True, progress=False).trace
    assert "action_label" in trace.columns
    assert "state_label" not in trace.columns
    assert read(trace, model.space)[0] == (2 * trace["state"] + trace["action"]).to_list()


def test_labels_that_are_fractions_or_truth_values():
    for labels, column in (([0.5, 2.0], [0.5, 2.0]), ([2.0, 0.5], [2, 0.5]), ([False, True], [False, True])):
        space = eq.Space([1, 1], 1, labels=eq.Labels(states=labels))
        log = pl.DataFrame(
            {"state": column, "action": [0, 0], "outcome_0": [1.0, 0.0], "next_state": column[::-1]}, strict=False
        )
        assert read(log, space)[0::2] == ([0, 1], [1, 0])
    with pytest.raises(LogError, match="row 2: state: there is no None"):
        read(log.with_columns(state=pl.Series([False, None])), space)


def test_a_column_is_of_labels_or_of_numbers_and_not_of_both():
    """Whatever the batch: a number among labels is refused, with its row and as what it is."""
    bad = pl.DataFrame(ROWS).with_columns(state=pl.Series(["empty", "1", "empty"]))
    with pytest.raises(LogError, match=r"1 of 3 rows cannot be taken in, and none was: row 2: state: there is no '1'"):
        read(bad)
    bad = pl.DataFrame(ROWS).with_columns(action=pl.Series(["order", "sell", "0"]))
    with pytest.raises(LogError, match=r"row 3: state 0 \(\"empty\"\) has no action '0'"):
        read(bad)
    space = eq.Space([1, 1], 1, labels=eq.Labels(states=["a", "b"]))
    n = 1_000_001
    log = pl.DataFrame({"state": ["a"] * (n - 1) + ["0"], "action": ["0"] * n, "outcome_0": np.ones(n)})
    with pytest.raises(LogError, match=r"1 of 1,000,001 rows .*: row 1000001: state: there is no '0'"):
        read(log.with_columns(next_state=pl.lit("b")), space)


def test_a_lazy_frame_is_read_piece_by_piece(monkeypatch, tmp_path):
    """It is never collected whole, and what it cannot read is said."""
    n = 2_500_000
    log = pl.DataFrame({"state": np.arange(n) % 2, "action": np.zeros(n, np.int64), "outcome_0": np.ones(n)})
    log = log.with_columns(next_state=pl.col("state"), extra=pl.lit("left alone"))
    log.write_parquet(tmp_path / "log.parquet")
    collect = pl.LazyFrame.collect

    def collect_little(self, *args, **kwargs):
        frame = collect(self, *args, **kwargs)
        assert frame.height <= 1_000_000
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", collect_little)
    sizes = []
    assert read_log(
        pl.scan_parquet(tmp_path / "log.parquet").with_columns(pl.col("outcome_0") / 2),
        eq.Space([1, 1], 1),
        lambda batch: sizes.append((batch.pair.size, batch.outcomes.max())),
    ) == n  # fmt: skip
    assert max(size for size, _ in sizes) <= 1_000_000
    assert {most for _, most in sizes} == {0.5}
    with pytest.raises(LogError, match="log: it has no rows"):
        read(pl.DataFrame(ROWS).lazy().filter(pl.col("rate") > 2))
    with pytest.raises(FileError, match="log: it cannot be read as a log"):
        read(pl.scan_parquet(tmp_path / "missing.parquet"))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("state", "ful", r"row 2: state: there is no 'ful' \(did you mean 'full'\?\)"),
        ("next_state", None, "row 2: next_state: there is no None"),
        ("action", "order", r'row 2: state 1 \("full"\) has no action \'order\''),
        ("rate", 1.5, r"row 2: rate: got 1\.5; it must lie in \[0, 1\]"),
        ("pay", float("nan"), "row 2: pay: got nan"),
        ("pay", None, "row 2: pay: got None"),
    ],
)
def test_bad_rows(column, value, message):
    rows = {name: [*values] for name, values in ROWS.items()}
    rows[column][1] = value
    with pytest.raises(LogError, match=f"1 of 3 rows cannot be taken in, and none was: {message}"):
        read(pl.DataFrame(rows, strict=False))


def test_all_bad_rows_are_counted_and_some_named(tmp_path):
    n = 2_500_000
    log = pl.DataFrame({"state": np.zeros(n, np.int64), "action": np.zeros(n, np.int64), "outcome_0": np.ones(n)})
    log = log.with_columns(next_state=pl.Series(np.where(np.arange(n) % 250_000 == 249_999, 7, 0)))
    log.write_parquet(tmp_path / "log.parquet")
    for source in (log, tmp_path / "log.parquet"):
        with pytest.raises(LogError) as refusal:
            read(source, eq.Space([1], 1))
        assert "10 of 2,500,000 rows cannot be taken in" in str(refusal.value)
        assert "row 250000: next_state: there is no 7; row 500000: " in str(refusal.value)
        assert str(refusal.value).endswith(", ...")


def test_missing_columns_and_other_things(tmp_path):
    with pytest.raises(
        LogError, match=r"there is no column 'rate' \(did you mean 'rates'\?\); 'state', 'action', 'rate'"
    ):
        read(pl.DataFrame(ROWS).rename({"rate": "rates"}))
    for name in ("Rate", "rates"):
        pl.DataFrame(ROWS).rename({"rate": name}).write_csv(tmp_path / "log.csv")
        with pytest.raises(LogError, match=rf"there is no column 'rate' \(did you mean '{name}'\?\)"):
            read(tmp_path / "log.csv")
    with pytest.raises(LogError, match="there is no column 'rate'; "):  # a column that is needed itself is not meant
        read(pl.DataFrame(ROWS).drop("rate").with_columns(t=1))
    with pytest.raises(LogError, match="it has no rows"):
        read(pl.DataFrame(ROWS).clear())
    with pytest.raises(ParameterError, match="log: got dict"):
        read(ROWS)


def test_cells_of_a_file_that_are_no_numbers_have_their_row(tmp_path):
    (tmp_path / "log.csv").write_text("state,action,outcome_0,next_state\n0,0,1,0\n0,0,much,0\n")
    with pytest.raises(LogError, match="row 2: outcome_0: got 'much'"):
        read(tmp_path / "log.csv", eq.Space([1], 1))


def test_every_state_has_its_own_number_of_actions():
    """An action that a state does not have would be counted as one of the next state."""
    space = eq.Space([2, 3], 1)
    log = pl.DataFrame({"state": [0, 1], "action": [1, 2], "outcome_0": [0.5, 0.5], "next_state": [0, 1]})
    assert read(log, space)[0] == [1, 4]
    for action in (2, 3):
        with pytest.raises(LogError, match=f"1 of 2 rows .* row 1: state 0 has no action {action}"):
            read(log.with_columns(action=pl.Series([action, 2])), space)


@pytest.mark.parametrize("name", ["state", "action", "next_state", "rate"])
@pytest.mark.parametrize(
    "values",
    [
        pl.Series([[0], [1], [0]]),
        pl.Series([[0], [1], [0]], dtype=pl.Array(pl.Int64, 1)),
        pl.Series([{"a": 0}] * 3),
        pl.Series([object()] * 3, dtype=pl.Object),
        pl.Series([1, 2, 3]).cast(pl.Duration("us")),
        pl.Series([b"0"] * 3),
    ],
    ids=lambda values: str(values.dtype),
)
def test_columns_of_types_that_cannot_be_read(name, values):
    log = pl.DataFrame(ROWS).with_columns(values.alias(name))
    message = f"log, column '{name}': its values are of type .*numbers are needed"
    with pytest.raises(LogError, match=message):
        read(log)
    if name != "rate":
        with pytest.raises(LogError, match=message):
            eq.Model.estimate(log)
        return
    assert infer_space(log).labels.outcomes == ("pay",)  # without a space it is no outcome
    with pytest.raises(LogError, match=message):
        read(pandas.DataFrame(log.to_dict(as_series=False)))


def test_dates_may_be_states_and_not_outcomes():
    days = pl.Series(["2026-01-01", "2026-01-02", "2026-01-01"]).str.to_date()
    log = pl.DataFrame(ROWS).with_columns(state=days, next_state=days)
    assert len(infer_space(log).labels.states) == 2
    with pytest.raises(LogError, match="log, column 'rate': its values are of type Date; numbers are needed"):
        read(pl.DataFrame(ROWS).with_columns(rate=days))


def test_columns_that_occur_twice(tmp_path):
    """Polars would rename the second, and pandas give both."""
    message = "there are 2 columns 'rate'; rename or drop all but one"
    lines = pl.DataFrame(ROWS).write_csv().splitlines()
    (tmp_path / "log.csv").write_text("\n".join(f"{line},{'rate' if i == 0 else 0.5}" for i, line in enumerate(lines)))
    twice = pandas.DataFrame(ROWS)
    twice = pandas.concat([twice, twice[["rate"]]], axis=1)
    numbers = twice.iloc[:, :-1].rename(columns={"rate": 0, "pay": "0"})
    for log, wanted in ((tmp_path / "log.csv", message), (twice, message), (numbers, "there are 2 columns '0'")):
        with pytest.raises(LogError, match=wanted):
            read(log)
        with pytest.raises(LogError, match=wanted):
            infer_space(log)


def test_an_outcome_and_a_noise_of_one_name():
    """A space whose labels are not those of its mechanics, as one from a file may be."""
    game = eq.Mechanics(lambda s, a, coin: (coin, [float(coin)]), 0, ["go"], ["won"], {"coin": [0, 1]})
    space = game.space
    other = eq.Space.from_arrays(
        space.first_pair, space.start, space.known_mask, space.known_rows, eq.Labels(outcomes=["coin"]), space.laws
    )
    log = pl.DataFrame({"state": [0], "action": [0], "coin": [1], "next_state": [1]})
    with pytest.raises(LogError, match="'coin' is an outcome and a noise of the space"):
        read(log, other)
