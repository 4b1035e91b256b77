"""`equipoise doctor`: all is well here, and each thing that can be wrong is provoked and noticed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from rich.console import Console

import equipoise as eq
from equipoise._cache import cache_root
from equipoise.cli.health import Finding
from tests.cli.inside import inside

# The modules; their packages have functions of the same names.
doctor = importlib.import_module("equipoise.cli.doctor")
drawing, kernels, libraries, machine, solvers = (
    importlib.import_module(f"equipoise.cli.health.{name}")
    for name in ("drawing", "kernels", "libraries", "machine", "solvers")
)

LINES = [
    "numpy<3,>=2.0",
    "scipy>=1.13",
    "gymnasium<2,>=1.0; extra == 'gymnasium'",
    "gymnasium<2,>=1.0; extra == 'deep'",
    "torch<3,>=2.3; extra == 'deep'",
    "pytest; extra == 'dev'",
]


def test_here_all_is_well():
    result = inside("doctor", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    data = json.loads(result.stdout)
    assert data["well"] is True
    assert data["version"] == eq.__version__
    assert list(data["findings"]) == ["libraries", "machine", "kernels", "solvers", "drawing"]
    seen = {one["about"]: one["seen"] for findings in data["findings"].values() for one in findings}
    assert {"Python", "equipoise", "numpy", "numba", "cores", "threads", "memory", "cache", "figures"} <= set(seen)
    assert str(cache_root()) in seen["cache"]
    assert "loaded by a second process" in seen["compiler"]


def one_check(monkeypatch, name, findings):
    monkeypatch.setattr(doctor, "CHECKS", {name: lambda: findings})


def test_what_is_wrong_is_a_line_with_what_to_do_and_a_code(monkeypatch):
    fine, note = Finding("a", "1.0"), Finding("b", "absent", "note", "pip install b")
    one_check(monkeypatch, "things", [fine, note])
    result = inside("doctor")
    assert result.returncode == 0
    assert "note  b" in result.stdout
    assert "pip install b" in result.stdout
    assert "nothing is wrong" in result.stdout
    wrong = Finding("c", "too [old]", "wrong", "pip install c")
    one_check(monkeypatch, "things", [fine, note, wrong])
    result = inside("doctor")
    assert result.returncode == 3
    assert result.stdout.splitlines()[-1] == "wrong: c: too [old]; pip install c"
    data = inside("doctor", "--json")
    assert data.returncode == 3
    assert json.loads(data.stdout)["well"] is False


def test_a_check_that_fails_itself_is_a_finding(monkeypatch):
    def check():
        raise ImportError("libfoo.so: cannot open shared object file")

    monkeypatch.setattr(doctor, "CHECKS", {"solvers": check})
    result = inside("doctor")
    assert result.returncode == 3
    assert "wrong: solvers: ImportError: libfoo.so" in result.stdout


# -- libraries -----------------------------------------------------------------------------------------------------


def test_a_library_that_is_too_old_is_noticed_by_the_whole_program(tmp_path):
    """Metadata of an old numpy, found before that of the installed one; the libraries themselves are untouched."""
    folder = tmp_path / "numpy-1.20.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.20.0\n")
    code = "from equipoise.cli.health import libraries; print([one for one in libraries() if one.verdict == 'wrong'])"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "1.20.0; <3,>=2.0 is needed" in done.stdout
    assert "pip install 'numpy<3,>=2.0'" in done.stdout


def versions(**known):
    return known.get


def test_libraries_that_are_missing_too_old_or_too_new():
    good, bad = libraries.needed(LINES, versions(numpy="2.1.0"))
    assert (good.verdict, good.seen) == ("fine", "2.1.0")
    assert (bad.about, bad.verdict, bad.seen, bad.advice) == (
        "scipy",
        "wrong",
        "not installed",
        "pip install 'scipy>=1.13'",
    )
    for version in ("1.26.4", "3.0.0"):
        first = next(libraries.needed(LINES, versions(numpy=version, scipy="1.13")))
        assert (first.verdict, first.seen) == ("wrong", f"{version}; <3,>=2.0 is needed")


def test_an_extra_that_is_missing_is_a_note_and_one_that_does_not_fit_is_wrong():
    (found,) = libraries.optional(LINES, ["gymnasium"], versions(gymnasium="1.2.0"))
    assert (found.verdict, found.seen) == ("fine", "gymnasium 1.2.0")
    (found,) = libraries.optional(LINES, ["gymnasium"], versions())
    assert (found.verdict, found.advice) == ("note", "pip install 'equipoise[gymnasium]'")
    (found,) = libraries.optional(LINES, ["gymnasium"], versions(gymnasium="0.29.1"))
    assert (found.verdict, found.seen) == ("wrong", "0.29.1; <2,>=1.0 is needed")
    both = list(libraries.optional(LINES, ["deep"], versions(gymnasium="0.29.1")))
    assert [(one.verdict, one.about) for one in both] == [("note", "extra deep"), ("wrong", "extra deep: gymnasium")]
    assert "torch not installed" in both[0].seen


def test_an_old_python_and_a_second_copy():
    assert libraries.python("3.10.13", ">=3.11").verdict == "wrong"
    assert libraries.python("3.14.0rc1", ">=3.11").verdict == "fine"
    assert libraries.package("0.2.0", "0.1.0", Path("elsewhere")).verdict == "wrong"


def test_a_package_that_is_not_installed(monkeypatch):
    def absent(name):
        raise libraries.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(libraries.importlib.metadata, "metadata", absent)
    (found,) = libraries.libraries()
    assert found.verdict == "note"
    assert "not installed" in found.seen


# -- kernels -------------------------------------------------------------------------------------------------------


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    places = [tmp_path / "file" / "cache"]
    if os.geteuid() != 0:  # root may write everywhere
        (tmp_path / "locked").mkdir(mode=0o555)
        places.append(tmp_path / "locked")
    for place in places:
        monkeypatch.setenv("EQUIPOISE_CACHE_DIR", str(place))
        (found,) = kernels.kernels()
        assert found.verdict == "wrong"
        assert f"{place} cannot be written" in found.seen
        assert "EQUIPOISE_CACHE_DIR" in found.advice
    monkeypatch.setattr(doctor, "CHECKS", {"kernels": kernels.kernels})
    assert inside("doctor").returncode == 3


def test_a_folder_that_may_only_be_read(monkeypatch, tmp_path):
    """What the system says of such a folder, to root as well."""

    def refused(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("EQUIPOISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernels.tempfile, "mkdtemp", refused)
    (found,) = kernels.kernels()
    assert found.verdict == "wrong"
    assert "(Permission denied)" in found.seen


def test_a_cache_that_others_can_write(monkeypatch, tmp_path):
    assert kernels.owned(tmp_path).verdict == "fine"
    for mode in (0o770, 0o707):
        tmp_path.chmod(mode)
        found = kernels.owned(tmp_path)
        assert (found.verdict, found.advice) == ("wrong", f"chmod go-w {tmp_path}")
    tmp_path.chmod(0o700)
    monkeypatch.setattr(kernels.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert kernels.owned(tmp_path).verdict == "wrong"


def test_a_disk_that_is_full(monkeypatch, tmp_path):
    root = tmp_path / "not" / "there" / "yet"
    monkeypatch.setenv("EQUIPOISE_CACHE_DIR", str(root))
    monkeypatch.setattr(kernels, "tried", lambda folder, environment: Finding("compiler", ""))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(kernels.shutil, "disk_usage", lambda path: usage(2**30, 2**30 - 2**20, 2**20))
    found = {one.about: one for one in kernels.kernels()}["disk"]
    assert found.verdict == "wrong"
    assert "1 MiB free" in found.seen
    assert list(root.iterdir()) == []  # what was tried has left nothing


def test_no_compilation(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    (found,) = kernels.kernels()
    assert (found.verdict, found.advice) == ("wrong", "unset NUMBA_DISABLE_JIT")


def test_kernels_that_a_second_process_cannot_load(monkeypatch, tmp_path):
    """The second compiles for another processor, so that what the first has kept does not fit."""
    answer, calls = kernels.answer, []

    def elsewhere(environment):
        calls.append(environment)
        return answer({**environment, "NUMBA_CPU_NAME": "generic"} if len(calls) == 2 else environment)

    monkeypatch.setattr(kernels, "answer", elsewhere)
    found = kernels.tried(tmp_path, dict(os.environ))
    assert len(calls) == 2
    assert found.verdict == "wrong"
    assert "nothing kept is ever used" in found.seen


def test_kernels_that_are_not_kept_or_cannot_be_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "answer", lambda environment: {"value": 1.25, "seconds": 1.0})
    assert "and not kept" in kernels.tried(tmp_path, {}).seen
    monkeypatch.undo()
    broken = dict(os.environ) | {"NUMBA_DISABLE_JIT": "1"}
    found = kernels.tried(tmp_path, broken)
    assert found.verdict == "wrong"
    assert "could not be compiled: NotImplementedError" in found.seen
    monkeypatch.setattr(kernels, "_VALUE", 2.0)
    assert kernels.answer(dict(os.environ)) == "the answer is 1.25, and 2.0 is right"


# -- the machine ---------------------------------------------------------------------------------------------------


def test_threads_without_end():
    assert machine.threads({}, 4).verdict == "fine"
    assert machine.threads({"OMP_NUM_THREADS": "4"}, 4).verdict == "fine"
    for value in ("5", "0", "many"):
        found = machine.threads({"MKL_NUM_THREADS": value, "OMP_NUM_THREADS": "1"}, 4)
        assert (found.verdict, f"MKL_NUM_THREADS={value}" in found.seen) == ("note", True)
        assert found.advice == "set MKL_NUM_THREADS to a number from 1 to 4, or unset it"


def test_a_container_with_less_time_than_cores(tmp_path):
    file = tmp_path / "cpu.max"
    for text, quota in (("150000 100000\n", 1.5), ("max 100000\n", None), ("?", None)):
        file.write_text(text)
        assert machine.quota(file) == quota
    assert machine.quota(tmp_path / "absent") is None
    assert machine.processors(8, 8.0).verdict == "fine"
    assert machine.processors(8, 0.5).advice == "equipoise run --jobs 1"


def test_little_memory(tmp_path):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n")
    found = machine.memory(file, tmp_path)
    assert (found.verdict, found.seen) == ("fine", "8.0 of 16.0 GiB free")
    (tmp_path / "memory.max").write_text(str(2 * 2**30))
    (tmp_path / "memory.current").write_text(str(3 * 2**29))
    found = machine.memory(file, tmp_path)
    assert (found.verdict, found.seen) == ("note", "0.5 of 2.0 GiB free")
    assert machine.memory(tmp_path / "absent", tmp_path).verdict == "fine"


def test_an_output_that_cannot_show_tables():
    """The tables of `equipoise paper` have a sign that such an output does not know."""
    code = (
        "from equipoise.cli.health import machine; print([one.advice for one in machine() if one.verdict == 'wrong'])"
    )
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "['set PYTHONIOENCODING=utf-8']\n"
    assert machine.terminal(Console(width=80)).seen.split(", ")[1] == "80 columns"


# -- solvers and figures -------------------------------------------------------------------------------------------


def test_a_solver_that_is_wrong_another_or_missing(monkeypatch):
    reward = eq.rewards.Linear([0.25, 0.75])
    assert solvers.solver("HIGHS", reward, 0.75, "highspy").verdict == "fine"
    assert "and 0.7 is right" in solvers.solver("HIGHS", reward, 0.7, "highspy").seen
    assert "HIGHS answered in its place" in solvers.solver("CLARABEL", reward, 0.75, "clarabel").seen

    def missing(*_, **__):
        raise eq.errors.SolverError("CLARABEL: no solution")

    monkeypatch.setattr(solvers, "solve", missing)
    found = solvers.solver("CLARABEL", reward, 0.75, "clarabel")
    assert (found.verdict, found.seen) == ("wrong", "no answer (CLARABEL: no solution)")
    assert "clarabel" in found.advice


def test_figures_that_cannot_be_drawn(monkeypatch):
    def broken(spec):
        raise ValueError("no fonts")

    found = drawing.figures({"svg": broken, "png": lambda spec: b"\x89PNG\r\n..."})
    assert (found.verdict, found.seen) == ("wrong", "svg: no fonts")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.delitem(sys.modules, "equipoise.reports.drawing.files", raising=False)
    (found,) = drawing.drawing()
    assert (found.verdict, found.advice) == ("wrong", "pip install vl-convert-python")
