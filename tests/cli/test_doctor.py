"""`equipoise doctor`: all is well here, and each thing that can be wrong is provoked and noticed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import equipoise as eq
from equipoise._runtime.cache import cache_root
from equipoise.cli.doctor import Finding
from tests.cli.inside import inside

doctor = importlib.import_module("equipoise.cli.doctor")  # the package has a function of that name

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
    code = "from equipoise.cli.doctor import check_libraries as c; print([x for x in c() if x.verdict == 'wrong'])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "1.20.0; <3,>=2.0 is needed" in done.stdout
    assert "pip install 'numpy<3,>=2.0'" in done.stdout


def versions(**known):
    return known.get


def test_libraries_that_are_missing_too_old_or_too_new():
    good, bad = doctor.check_required(LINES, versions(numpy="2.1.0"))
    assert (good.verdict, good.seen) == ("fine", "2.1.0")
    assert (bad.about, bad.verdict, bad.seen, bad.advice) == (
        "scipy",
        "wrong",
        "not installed",
        "pip install 'scipy>=1.13'",
    )
    for version in ("1.26.4", "3.0.0"):
        first = doctor.check_required(LINES, versions(numpy=version, scipy="1.13"))[0]
        assert (first.verdict, first.seen) == ("wrong", f"{version}; <3,>=2.0 is needed")


def test_an_extra_that_is_missing_is_a_note_and_one_that_does_not_fit_is_wrong():
    (found,) = doctor.check_extra(LINES, "gymnasium", versions(gymnasium="1.2.0"))
    assert (found.verdict, found.seen) == ("fine", "gymnasium 1.2.0")
    (found,) = doctor.check_extra(LINES, "gymnasium", versions())
    assert (found.verdict, found.advice) == ("note", "pip install 'equipoise[gymnasium]'")
    (found,) = doctor.check_extra(LINES, "gymnasium", versions(gymnasium="0.29.1"))
    assert (found.verdict, found.seen) == ("wrong", "0.29.1; <2,>=1.0 is needed")
    both = doctor.check_extra(LINES, "deep", versions(gymnasium="0.29.1"))
    assert [(one.verdict, one.about) for one in both] == [("note", "extra deep"), ("wrong", "extra deep: gymnasium")]
    assert "torch not installed" in both[0].seen


def test_an_old_python_and_a_second_copy():
    assert doctor.check_python("3.10.13", ">=3.11").verdict == "wrong"
    assert doctor.check_python("3.14.0rc1", ">=3.11").verdict == "fine"
    assert doctor.check_package("0.2.0", "0.1.0", Path("elsewhere")).verdict == "wrong"


def test_a_package_that_is_not_installed(monkeypatch):
    def absent(name):
        raise doctor.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.importlib.metadata, "metadata", absent)
    (found,) = doctor.check_libraries()
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
        (found,) = doctor.check_kernels()
        assert found.verdict == "wrong"
        assert f"{place} cannot be written" in found.seen
        assert "EQUIPOISE_CACHE_DIR" in found.advice
    monkeypatch.setattr(doctor, "CHECKS", {"kernels": doctor.check_kernels})
    assert inside("doctor").returncode == 3


def test_a_user_without_a_home(monkeypatch):
    monkeypatch.setattr(doctor, "cache_root", lambda: None)
    (found,) = doctor.check_kernels()
    assert (found.verdict, "no home folder" in found.seen) == ("wrong", True)


def test_a_folder_that_may_only_be_read(monkeypatch, tmp_path):
    """What the system says of such a folder, to root as well."""

    def refused(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("EQUIPOISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(doctor.tempfile, "mkdtemp", refused)
    (found,) = doctor.check_kernels()
    assert found.verdict == "wrong"
    assert "(Permission denied)" in found.seen


def test_a_cache_that_others_can_write(monkeypatch, tmp_path):
    assert doctor.check_owner(tmp_path).verdict == "fine"
    for mode in (0o770, 0o707):
        tmp_path.chmod(mode)
        found = doctor.check_owner(tmp_path)
        assert (found.verdict, found.advice) == ("wrong", f"chmod go-w {tmp_path}")
    tmp_path.chmod(0o700)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert doctor.check_owner(tmp_path).verdict == "wrong"


def test_no_compilation(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    (found,) = doctor.check_kernels()
    assert (found.verdict, found.advice) == ("wrong", "unset NUMBA_DISABLE_JIT")


def test_kernels_that_a_second_process_cannot_load(monkeypatch, tmp_path):
    """The second compiles for another processor, so that what the first has kept does not fit."""
    answer, calls = doctor.run_probe, []

    def elsewhere(environment):
        calls.append(environment)
        return answer({**environment, "NUMBA_CPU_NAME": "generic"} if len(calls) == 2 else environment)

    monkeypatch.setattr(doctor, "run_probe", elsewhere)
    found = doctor.try_cache(tmp_path, dict(os.environ))
    assert len(calls) == 2
    assert found.verdict == "wrong"
    assert "nothing kept is ever used" in found.seen


def test_kernels_that_are_not_kept_or_cannot_be_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "run_probe", lambda environment: 1.0)
    assert "and not kept" in doctor.try_cache(tmp_path, {}).seen
    monkeypatch.undo()
    broken = dict(os.environ) | {"NUMBA_DISABLE_JIT": "1"}
    found = doctor.try_cache(tmp_path, broken)
    assert found.verdict == "wrong"
    assert "could not be compiled: NotImplementedError" in found.seen
    monkeypatch.setattr(doctor, "_PROBE_VALUE", 2.0)
    assert doctor.run_probe(dict(os.environ)) == "the answer is 1.25, and 2.0 is right"


# -- the machine ---------------------------------------------------------------------------------------------------


def test_threads_without_end():
    assert doctor.check_threads({}, 4).verdict == "fine"
    assert doctor.check_threads({"OMP_NUM_THREADS": "4"}, 4).verdict == "fine"
    for value in ("5", "0", "many"):
        found = doctor.check_threads({"MKL_NUM_THREADS": value, "OMP_NUM_THREADS": "1"}, 4)
        assert (found.verdict, f"MKL_NUM_THREADS={value}" in found.seen) == ("note", True)
        assert found.advice == "set MKL_NUM_THREADS to a number from 1 to 4, or unset it"


def test_little_memory(tmp_path):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n")
    found = doctor.check_memory(file)
    assert (found.verdict, found.seen) == ("fine", "8.0 of 16.0 GiB free")
    file.write_text("MemTotal:       16777216 kB\nMemAvailable:    524288 kB\n")
    found = doctor.check_memory(file)
    assert (found.verdict, found.seen) == ("note", "0.5 of 16.0 GiB free")
    assert doctor.check_memory(tmp_path / "absent").verdict == "fine"


# -- solvers and figures -------------------------------------------------------------------------------------------


def test_a_solver_that_is_wrong_another_or_missing(monkeypatch):
    reward = eq.rewards.Linear([0.25, 0.75])
    assert doctor.check_solver("HIGHS", reward, 0.75, "highspy").verdict == "fine"
    assert "and 0.7 is right" in doctor.check_solver("HIGHS", reward, 0.7, "highspy").seen
    assert "HIGHS answered in its place" in doctor.check_solver("CLARABEL", reward, 0.75, "clarabel").seen

    def missing(*_, **__):
        raise eq.errors.SolverError("CLARABEL: no solution")

    monkeypatch.setattr(doctor, "solve", missing)
    found = doctor.check_solver("CLARABEL", reward, 0.75, "clarabel")
    assert (found.verdict, found.seen) == ("wrong", "no answer (CLARABEL: no solution)")
    assert "clarabel" in found.advice


def test_figures_that_cannot_be_drawn(monkeypatch):
    def broken(spec):
        raise ValueError("no fonts")

    found = doctor.check_figures({"svg": broken, "png": lambda spec: b"\x89PNG\r\n..."})
    assert (found.verdict, found.seen) == ("wrong", "svg: no fonts")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.delitem(sys.modules, "equipoise.reports.charts.vega", raising=False)
    (found,) = doctor.check_drawing()
    assert (found.verdict, found.advice) == ("wrong", "pip install vl-convert-python")
