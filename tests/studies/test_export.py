"""Results for other programs: flat tables, files that are read back, pandas."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import FileError, ParameterError, StudyError
from equipoise.studies import export_results, open_results, to_pandas
from equipoise.studies.reader import flat_frame, outcome_columns
from equipoise.studies.results import ProblemRecord, Results

PINS = Path(__file__).parents[1] / "pins" / "results"


@pytest.fixture(scope="module")
def mixed() -> Results:
    """Two problems with two and three outcomes, one of them labelled; rows in no particular order."""
    records = (
        ProblemRecord("plain", "star", "Linear", 4, 9, 2, None),
        ProblemRecord("named", "shop", "Linear", 4, 9, 3, None, ["fill, rate", "value", "t"]),
    )
    frame = pl.DataFrame(
        {
            "problem": ["plain", "named", "plain"],
            "t": [1, 1, 2],
            "outcomes": [[0.1, 0.2], [0.3, 0.4, 0.5], [0.6, 0.7]],
            "value": [0.5, 0.25, 0.125],
        }
    )
    return Results("study", "", records, (), frame, {}, (), 0, (), ())


def test_each_outcome_has_a_column(mixed):
    flat = flat_frame(mixed)
    assert flat.columns == [
        "problem", "t", "outcome_0", "outcome_1", "fill, rate", "outcome_value", "outcome_t", "value"
    ]  # fmt: skip
    assert flat.rows() == [
        ("plain", 1, 0.1, 0.2, None, None, None, 0.5),
        ("named", 1, None, None, 0.3, 0.4, 0.5, 0.25),
        ("plain", 2, 0.6, 0.7, None, None, None, 0.125),
    ]


def test_nothing_of_a_study_is_lost():
    nested, flat = eq.load_results(PINS), eq.load_results(PINS, flat=True)
    assert "outcomes" not in flat.columns
    assert not any(dtype.is_nested() for dtype in flat.dtypes)
    others = [name for name in nested.columns if name != "outcomes"]
    assert flat.select(others).equals(nested.select(others))
    columns = [name for name in flat.columns if name not in nested.columns]
    own = {record.name: outcome_columns(record, others) for record in open_results(PINS).problems}
    for problem, averages, row in zip(nested["problem"], nested["outcomes"], flat.iter_rows(named=True), strict=True):
        filled = dict(zip(own[problem], averages, strict=True))
        assert {name: row[name] for name in columns} == dict.fromkeys(columns) | filled


def test_a_study_without_results_has_its_columns(mixed):
    empty = flat_frame(replace(mixed, frame=mixed.frame.clear()))
    assert empty.columns == flat_frame(mixed).columns
    assert empty.height == 0
    assert flat_frame(replace(mixed, problems=(), frame=mixed.frame.clear())).columns == ["problem", "t", "value"]


def test_files_hold_the_same_numbers(mixed, tmp_path):
    flat = flat_frame(mixed)
    with export_results(mixed, tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["fill, rate"] for row in rows] == ["", "0.3", ""]
    assert [float(row["value"]) for row in rows] == flat["value"].to_list()
    lines = export_results(mixed, tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == flat.to_dicts()
    assert pl.read_parquet(export_results(mixed, tmp_path / "r.parquet")).equals(flat)


def test_names_are_no_formulas_in_csv(mixed, tmp_path):
    """A spreadsheet would run them; numbers are left alone, and other formats need no such care."""
    beginnings = ["=", "+", "-", "@", "\t", "\r"]
    names = [f"{sign}cmd|' /C calc'!A0" for sign in beginnings]
    outcomes = ["=1+1", "'=1+1", "fill"]
    records = tuple(ProblemRecord(name, "shop", "Linear", 4, 9, 3, None, outcomes) for name in names)
    frame = pl.DataFrame({"problem": names, "t": 1, "outcomes": [[0.1, -0.2, 0.3]] * 6, "value": -0.5})
    results = replace(mixed, problems=records, frame=frame)
    with export_results(results, tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["problem", "t", "''=1+1", "'=1+1", "fill", "value"]
    assert rows == [[f"'{name}", "1", "0.1", "-0.2", "0.3", "-0.5"] for name in names]
    assert pl.read_parquet(export_results(results, tmp_path / "r.parquet"))["problem"].to_list() == names


def test_a_float_survives_csv_to_the_last_bit(tmp_path):
    results = open_results(PINS)
    read = pl.read_csv(export_results(results, tmp_path / "r.CSV"))
    assert read["value"].to_list() == results.frame["value"].to_list()


def test_files_are_written_whole_or_not_at_all(mixed, tmp_path):
    with pytest.raises(ParameterError, match=r"r\.xlsx: its ending is '\.xlsx'; one of \.csv, \.parquet, \.jsonl"):
        export_results(mixed, tmp_path / "r.xlsx")
    with pytest.raises(FileError, match="cannot be written"):
        export_results(mixed, tmp_path / "no" / "r.csv")
    assert list(tmp_path.iterdir()) == []


def test_without_pandas_it_is_said_what_to_install(mixed, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(StudyError, match="pip install pandas"):
        to_pandas(flat_frame(mixed))


def test_pandas_has_the_same_table(mixed):
    flat = flat_frame(mixed)
    frame = to_pandas(flat)
    assert list(frame.columns) == flat.columns
    assert frame["problem"].tolist() == ["plain", "named", "plain"]
    assert frame["t"].tolist() == [1, 1, 2]
    assert frame["fill, rate"].isna().tolist() == [True, False, True]
    assert to_pandas(mixed.frame)["outcomes"][1].tolist() == [0.3, 0.4, 0.5]
