"""Files: whole or not at all, and refused with a reason when they are not ours."""

import zipfile

import numpy as np
import pytest

from equipoise import models
from equipoise._files import read_npz, write_npz
from equipoise.errors import FileError

ARRAYS = {"a": np.arange(7.0), "b": np.array([[True, False]]), "c": np.array(["x", "yz"]), "e": np.empty((0, 3))}


def test_round_trip(tmp_path):
    write_npz(tmp_path / "f", ARRAYS, {"note": "é", "n": [1, None]}, "thing", 3)
    header, arrays = read_npz(tmp_path / "f", "thing", 3)
    assert header == {"note": "é", "n": [1, None]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
    with np.load(tmp_path / "f", allow_pickle=False) as plain:
        assert set(plain.files) == {"header", *ARRAYS}


def test_truncated_anywhere(tmp_path):
    models.star(3, 4).save(tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for length in {0, 1, len(whole) // 4, len(whole) // 2, 3 * len(whole) // 4, len(whole) - 1}:
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(FileError, match="cut: truncated, damaged, or not a file"):
            models.Model.load(tmp_path / "cut")


def test_a_flipped_bit_is_noticed(tmp_path):
    write_npz(tmp_path / "f", {"a": np.zeros(1000)}, {}, "thing", 1)
    data = bytearray((tmp_path / "f").read_bytes())
    data[len(data) // 2] ^= 1  # in the middle of the zeros
    (tmp_path / "f").write_bytes(bytes(data))
    with pytest.raises(FileError, match="damaged"):
        read_npz(tmp_path / "f", "thing", 1)


def test_a_member_longer_than_its_array_is_noticed(tmp_path):
    write_npz(tmp_path / "f", {"a": np.zeros(4)}, {}, "thing", 1)
    with zipfile.ZipFile(tmp_path / "f") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data + b"x" * (name == "a.npy"))
    with pytest.raises(FileError, match="'a' is longer than its array"):
        read_npz(tmp_path / "f", "thing", 1)


def test_foreign_files(tmp_path):
    (tmp_path / "text").write_text("hello, world\n" * 100)
    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    np.savez(tmp_path / "liar.npz", header=np.array('{"format": 1}'))
    np.savez(tmp_path / "prose.npz", header=np.array("no json"))
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("readme", "x")
    for name, message in [
        ("text", "not a file of Equipoise"),
        ("array.npy", "not a file of Equipoise"),
        ("other.npz", "no header"),
        ("liar.npz", "header is not one"),
        ("prose.npz", "not a file of Equipoise"),
        ("zip", "no header"),
        ("absent", "no such file"),
        ("", "cannot be read"),
    ]:
        with pytest.raises(FileError, match=message):
            models.Model.load(tmp_path / name)


def test_kind_and_version(tmp_path):
    write_npz(tmp_path / "f", ARRAYS, {}, "thing", 2)
    with pytest.raises(FileError, match="holds equipoise-thing; equipoise-model is needed"):
        read_npz(tmp_path / "f", "model", 2)
    with pytest.raises(FileError, match="of version 2"):
        read_npz(tmp_path / "f", "thing", 1)
    read_npz(tmp_path / "f", "thing", 3)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_npz(tmp_path / "f", {"a": np.arange(3)}, {}, "thing", 1)
    before = (tmp_path / "f").read_bytes()
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        write_npz(tmp_path / "f", {"a": np.arange(3), "o": np.array([{}], object)}, {}, "thing", 1)
    assert (tmp_path / "f").read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
    with pytest.raises(FileError, match="cannot be written"):
        write_npz(tmp_path / "no folder" / "f", {}, {}, "thing", 1)
    with pytest.raises(ValueError, match="header"):
        write_npz(tmp_path / "f", {"header": np.arange(3)}, {}, "thing", 1)
