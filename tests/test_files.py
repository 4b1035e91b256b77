"""Parts of files that are checked before anything is made of them, and texts that a spreadsheet would run."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import polars as pl
import pytest

from equipoise import _files
from equipoise._files import (
    blaming,
    ensure,
    escape_formula,
    escape_formulas,
    load_array,
    read_npz,
    read_saved,
    require_pointer,
    require_range,
    write_npz,
)
from equipoise.errors import FileError, ModelError

LIKE = np.zeros((2, 3))


def test_a_saved_array_is_copied_row_by_row():
    saved = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    part = load_array({"a": saved}, "a", LIKE)
    assert part.tolist() == saved.tolist()
    assert part.flags.c_contiguous
    assert not np.shares_memory(part, saved)


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize(
    "part", [np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int64), np.zeros(6), np.zeros((1, 2, 3))]
)
def test_an_array_of_another_type_or_dimension_is_refused(part, grows):
    with pytest.raises(FileError, match=r"^the array 'a' is of type .* and shape \("):
        load_array({"a": part}, "a", LIKE, grows)


def test_an_array_of_another_length_is_refused_unless_it_grows():
    with pytest.raises(FileError, match=r"^the array 'a' is of type float64 and shape \(4, 3\)$"):
        load_array({"a": np.zeros((4, 3))}, "a", LIKE)
    assert load_array({"a": np.zeros((4, 3))}, "a", LIKE, grows=True).shape == (4, 3)
    for absent in ({}, {"a": None}, {"a": [1.0]}):
        with pytest.raises(FileError, match=r"^the array 'a' is missing$"):
            load_array(absent, "a", LIKE, grows=True)


@pytest.mark.parametrize("pointer", [[0, 2, 2, 5], [0, 0, 0, 5], [0, 5, 5, 5]])
def test_a_pointer_cuts_all_entries_into_parts(pointer):
    require_pointer(np.array(pointer), 3, 5, "first")


@pytest.mark.parametrize(
    "pointer", [[0, 2, 5], [0, 1, 2, 3, 5], [1, 2, 2, 5], [-1, 2, 2, 5], [0, 3, 2, 5], [0, 2, 2, 4], [0, 2, 2, 6], []]
)
def test_a_pointer_that_does_not_is_refused(pointer):
    with pytest.raises(FileError, match=r"^the array 'first' must have 4 entries, begin with 0, never fall.* with 5$"):
        require_pointer(np.array(pointer, np.int64), 3, 5, "first")


def test_entries_are_in_a_range_with_its_low_end_and_without_its_high_one():
    require_range(np.array([2, 4, 3]), 3, 2, 5, "state")
    require_range(np.array([], np.int64), 0, 2, 5, "state")
    for part in ([1, 3, 3], [3, 5, 3]):
        with pytest.raises(FileError, match=r"^the array 'state' has entries outside of 2 to 4$"):
            require_range(np.array(part), 3, 2, 5, "state")
    for size in (2, 4):
        with pytest.raises(FileError, match=f"^the array 'state' has 3 entries; {size} are needed$"):
            require_range(np.array([2, 4, 3]), size, 2, 5, "state")


def test_what_cannot_have_come_about_is_refused():
    ensure(np.True_, "all is well")
    with pytest.raises(FileError, match=r"^no such count$"):
        ensure(0, "no such count")


def test_the_file_is_blamed_for_whatever_its_content_raises():
    with blaming("f.npz", "no model"):
        pass
    with pytest.raises(FileError, match=r"^f\.npz: no model \(too large\)$"), blaming("f.npz", "no model"):
        raise ModelError("too large")
    with pytest.raises(FileError, match=r"^f\.npz: no model \(KeyError: 'a'\)$"), blaming("f.npz", "no model"):
        raise KeyError("a")


# -- files of several kinds ------------------------------------------------------------------------------------------


def test_a_file_of_any_kind_that_is_asked_for_is_read(tmp_path):
    write_npz(tmp_path / "f", {"a": np.arange(3)}, {"n": 1}, "thing", 2)
    saved = read_saved(tmp_path / "f", {"other": 1, "thing": 3})
    assert (saved.kind, saved.version, saved.header) == ("thing", 2, {"n": 1})
    assert saved.arrays["a"].tolist() == [0, 1, 2]
    assert read_saved(tmp_path / "f", {"thing": 2}).version == 2
    with pytest.raises(FileError, match="of version 2, written by a later Equipoise; this one reads version 1"):
        read_saved(tmp_path / "f", {"thing": 1})
    with pytest.raises(FileError, match="holds equipoise-thing; equipoise-other is needed"):
        read_saved(tmp_path / "f", {"other": 5, "third": 5})


RIGHT = {"format": "equipoise-thing", "version": 1, "arrays": ["a"], "content": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"format": 3}, "its header is not one"),
        ({"version": True}, "its header is not one"),
        ({"version": 1.0}, "its header is not one"),
        ({"arrays": "a"}, "its header is not one"),
        ({"arrays": ["a", 3]}, "its header is not one"),
        ({"content": []}, "its header is not one"),
        ({"format": "thing"}, "holds thing; equipoise-thing is needed"),
        ({"arrays": ["a", "b"]}, "the array 'b' is missing"),
    ],
)
def test_what_a_header_must_say(tmp_path, change, message):
    np.savez(tmp_path / "f.npz", header=np.array(json.dumps(RIGHT | change)), a=np.arange(3))
    if message is None:
        assert read_npz(tmp_path / "f.npz", "thing", 1)[1]["a"].tolist() == [0, 1, 2]
        return
    with pytest.raises(FileError, match=message):
        read_npz(tmp_path / "f.npz", "thing", 1)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_arrays_by_column_and_of_two_versions_are_read(tmp_path, version):
    by_columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        for name, array in (("header", np.array(json.dumps(RIGHT))), ("a", by_columns)):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, version)
    if version == (3, 0):
        with pytest.raises(FileError, match=r"'header' is of the version \(3, 0\) of \.npy"):
            read_npz(tmp_path / "f.npz", "thing", 1)
    else:
        assert read_npz(tmp_path / "f.npz", "thing", 1)[1]["a"].tolist() == by_columns.tolist()


def test_objects_are_not_read(tmp_path):
    np.savez(tmp_path / "f.npz", header=np.array(json.dumps(RIGHT)), a=np.array([{}], object))
    with pytest.raises(FileError, match="'a' holds Python objects"):
        read_npz(tmp_path / "f.npz", "thing", 1)


def test_what_is_too_large_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MOST_BYTES", 2000)
    write_npz(tmp_path / "f", {"a": np.zeros(100)}, {}, "thing", 1)
    before = (tmp_path / "f").read_bytes()
    with pytest.raises(FileError, match=r"f: not written; its [\d,]+ bytes are more than can be read again \(2,000\)"):
        write_npz(tmp_path / "f", {"a": np.zeros(250)}, {}, "thing", 1)
    monkeypatch.setattr(_files, "_MOST_HEADER_BYTES", 10)
    with pytest.raises(FileError, match="not written"):
        write_npz(tmp_path / "f", {"a": np.zeros(1)}, {}, "thing", 1)
    with pytest.raises(FileError, match=r"'header' has [\d,]+ bytes, more than 10"):
        read_npz(tmp_path / "f", "thing", 1)
    assert (tmp_path / "f").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


# -- spreadsheets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_formula_is_a_text_again(start):
    assert escape_formula(f"{start}1+1") == f"'{start}1+1"
    assert escape_formula(f"a{start}1") == f"a{start}1"
    assert escape_formula("") == ""


def test_texts_and_names_of_columns_are_escaped_and_numbers_are_not():
    frame = pl.DataFrame(
        {"=a": ["=1", "b", None], "n": [-1, 2, 3], "kind": pl.Series(["+x", "y", "y"], dtype=pl.Categorical)}
    )
    escaped = escape_formulas(frame)
    assert escaped.columns == ["'=a", "n", "kind"]
    assert escaped["'=a"].to_list() == ["'=1", "b", None]
    assert escaped["n"].to_list() == [-1, 2, 3]
    assert escaped["kind"].to_list() == ["'+x", "y", "y"]


def test_a_name_that_is_escaped_differs_from_all_others():
    frame = pl.DataFrame({"=a": [1], "'=a": [2], "''=a": [3]})
    escaped = escape_formulas(frame)
    assert escaped.columns == ["'''=a", "'=a", "''=a"]
    assert escaped.rows() == [(1, 2, 3)]
