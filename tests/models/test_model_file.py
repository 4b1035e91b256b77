"""Files: whole or not at all, and refused with a reason when they are not ours."""

import copy
import io
import os
import signal
import stat
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

from equipoise import models
from equipoise._files import MOST_BYTES, atomically, read_npz, write_bytes, write_npz
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
    for other in (1, 3):
        with pytest.raises(FileError, match="of version 2"):
            read_npz(tmp_path / "f", "thing", other)


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


# -- what a stranger may send ----------------------------------------------------------------------------------------


def rewritten(path, compression=zipfile.ZIP_STORED, twice=None, change=lambda name, data: data):
    """The same members, written again by somebody else."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name that is there twice
        for name, data in members.items():
            for _ in range(1 + (name == twice)):
                archive.writestr(name, change(name, data))


def test_compressed_members_are_refused(tmp_path):
    """Ten megabytes of zeros in ten kilobytes: the size of a file would not bound what it takes."""
    write_npz(tmp_path / "f", {"a": np.zeros(10**6)}, {}, "thing", 1)
    rewritten(tmp_path / "f", zipfile.ZIP_DEFLATED)
    assert (tmp_path / "f").stat().st_size < 20_000
    with pytest.raises(FileError, match=r"'header\.npy' is compressed or encrypted"):
        read_npz(tmp_path / "f", "thing", 1)


def test_members_of_one_name_are_refused(tmp_path):
    write_npz(tmp_path / "f", {"a": np.zeros(4)}, {}, "thing", 1)
    rewritten(tmp_path / "f", twice="a.npy")
    with pytest.raises(FileError, match="two of its members have one name"):
        read_npz(tmp_path / "f", "thing", 1)


@pytest.mark.parametrize("shape", [(2**40,), (2**62, 4), (-1, 2), (5,)])
def test_an_array_is_as_large_as_its_member(tmp_path, shape):
    """A header may claim any shape: it is compared before memory is asked for."""
    write_npz(tmp_path / "f", {"a": np.zeros(4)}, {}, "thing", 1)
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(lie, {"descr": "<f8", "fortran_order": False, "shape": shape})
    rewritten(tmp_path / "f", change=lambda name, data: lie.getvalue() + bytes(32) if name == "a.npy" else data)
    with pytest.raises(FileError, match="'a' is shorter than its array"):
        read_npz(tmp_path / "f", "thing", 1)


def test_members_that_share_bytes_are_refused(tmp_path):
    """A directory may name the same bytes a thousand times."""
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        archive.writestr("a.npy", bytes(10_000))
        entry = archive.infolist()[0]
        for number in range(100):
            other = copy.copy(entry)
            other.filename = f"{number}.npy"
            archive.filelist.append(other)
    with pytest.raises(FileError, match="together longer than the file"):
        read_npz(tmp_path / "f", "thing", 1)


def test_only_regular_files_of_a_certain_size_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # which takes no room on the disk
    for path, message in (
        (tmp_path / "pipe", "a pipe is there, and a regular file is needed"),
        ("/dev/zero", "a device is there"),
        (tmp_path, "a folder is there"),
        (tmp_path / "huge", "are more than"),
    ):
        with pytest.raises(FileError, match=message):
            read_npz(path, "thing", 1)


@pytest.mark.parametrize("version", [0, 2, 10**30])
def test_other_versions_are_refused(tmp_path, version):
    write_npz(tmp_path / "f", {}, {}, "thing", version)
    with pytest.raises(FileError, match=f"of version {version}"):
        read_npz(tmp_path / "f", "thing", 1)


# -- other people's files --------------------------------------------------------------------------------------------


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "f")
    for content in (b"one", b"two"):  # first the link leads nowhere
        write_bytes(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "f").read_bytes() == content


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "f").chmod(mode)
    with atomically(tmp_path / "f") as handle:
        (part,) = tmp_path.glob(".f.*.part")
        assert stat.S_IMODE(part.stat().st_mode) == mode  # before anything is in it
        handle.write(b"new")
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode
    assert (tmp_path / "f").read_bytes() == b"new"


def test_a_new_file_has_the_permissions_of_a_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "f", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, kind in (("pipe", "a pipe"), ("folder", "a folder")):  # no device, which a failure here would destroy
        with pytest.raises(FileError, match=f"{kind} is there, and a regular file is needed"):
            write_bytes(tmp_path / name, b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_what_a_killed_save_left_is_removed_by_the_next_one(tmp_path):
    program = (
        "import os, signal, sys\nfrom equipoise._files import atomically\n"
        "with atomically(sys.argv[1]) as handle:\n    handle.write(b'half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, tmp_path / "f"]).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    others = [".f.part", ".f.0123456789ab.part.txt", ".f.0123456789AB.part", ".g.0123456789ab.part", "f.part"]
    for name in others:
        (tmp_path / name).write_bytes(b"somebody's")
    with atomically(tmp_path / "f") as handle:
        assert not left.exists()
        write_bytes(tmp_path / "f", b"another writer")  # it leaves the part of the first alone
        handle.write(b"whole")
    assert (tmp_path / "f").read_bytes() == b"whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, "f"])


def test_the_folder_is_flushed_after_the_rename(tmp_path, monkeypatch):
    flushed = []
    flush = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (flushed.append(os.fstat(number)), flush(number)))
    write_bytes(tmp_path / "f", b"x")
    assert [stat.S_ISDIR(found.st_mode) for found in flushed] == [False, True]
    assert os.path.samestat(flushed[1], tmp_path.stat())
