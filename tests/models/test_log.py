"""Logs: frames and files, labels and numbers, and rows that cannot have happened."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError, LogError, ParameterError
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
    pair, outcomes, after = (np.concatenate(part) for part in zip(*taken, strict=True))
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
    for name in ("log.parquet", "log.csv", "log.tsv"):
        assert read(tmp_path / name) == read(log)
    with pytest.raises(FileError, match="it cannot be read as a log"):
        read(tmp_path / "missing.parquet")
    with pytest.raises(ParameterError, match=r"log\.xlsx is neither"):
        read(tmp_path / "log.xlsx")
    log.clear().write_csv(tmp_path / "none.csv")
    with pytest.raises(LogError, match="it has no rows"):
        read(tmp_path / "none.csv")


def test_pandas():
    pandas = pytest.importorskip("pandas")
    assert read(pandas.DataFrame(ROWS)) == read(pl.DataFrame(ROWS))


def test_labels_that_are_numbers_are_labels():
    """Unless the column beside says that they are not, as in the trace of a run."""
    space = eq.Space([1, 1], 1, labels=eq.Labels(states=[10, 0]))
    log = pl.DataFrame({"state": [10, 0], "action": [0, 0], "outcome_0": [1.0, 0.0], "next_state": [0, 10]})
    assert read(log, space)[0::2] == ([0, 1], [1, 0])
    numbered = log.with_columns(
        state=pl.Series([0, 1]), next_state=pl.Series([1, 0]), state_label=pl.Series(["10", "0"])
    )
    assert read(numbered, space)[0::2] == ([0, 1], [1, 0])


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


def test_missing_columns_and_other_things():
    with pytest.raises(
        LogError, match=r"there is no column 'rate' \(did you mean 'rates'\?\); 'state', 'action', 'rate'"
    ):
        read(pl.DataFrame(ROWS).rename({"rate": "rates"}))
    with pytest.raises(LogError, match="it has no rows"):
        read(pl.DataFrame(ROWS).clear())
    with pytest.raises(ParameterError, match="log: got dict"):
        read(ROWS)


def test_cells_of_a_file_that_are_no_numbers_have_their_row(tmp_path):
    (tmp_path / "log.csv").write_text("state,action,outcome_0,next_state\n0,0,1,0\n0,0,much,0\n")
    with pytest.raises(LogError, match="row 2: outcome_0: got 'much'"):
        read(tmp_path / "log.csv", eq.Space([1], 1))
