"""`equipoise doctor`: whether this installation works, and what to do if it does not.

Two processes, one after the other, ask a reward for a value, with an empty cache of kernels: the first must leave files
behind, which the second must not change. The averages of a bandit whose two arms have an outcome each are the simplex:
a linear reward (HiGHS) is largest in a corner, and 1 - |w - (3/4, 3/4)|^2 / 2 (Clarabel) is 15/16 in the middle.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich.console import Console
from rich.text import Text

import equipoise
from equipoise._runtime.cache import cache_folder, cache_root, source_hash
from equipoise._runtime.threads import THREADS_VARIABLE, core_count
from equipoise._version import VERSION
from equipoise.cli.codes import Code
from equipoise.cli.options import Json
from equipoise.errors import EquipoiseError
from equipoise.models import bandit
from equipoise.offline import solve
from equipoise.rewards import Linear, Quadratic, Reward

_MOVE_CACHE: Final = "set EQUIPOISE_CACHE_DIR to a folder that can be written"
_THREAD_VARIABLES: Final = (*(f"{x}_NUM_THREADS" for x in ("OMP", "OPENBLAS", "MKL", "NUMBA")), THREADS_VARIABLE)
_MIN_FREE_BYTES: Final = 2**30  # compiling the kernels of an agent takes about 400 MiB
_PROBE: Final = """
import json, time
import equipoise as eq
began = time.perf_counter()
value = eq.rewards.Linear([1.0, 3.0]).value([0.5, 0.25])
print(json.dumps({"value": value, "seconds": time.perf_counter() - began}))
"""
_PROBE_VALUE: Final = 1.25  # 1 x 0.5 + 3 x 0.25, without rounding
_PROBE_SECONDS: Final = 120.0
_SOLVER_TOLERANCE: Final = 1e-6  # what `solve` certifies for small problems
_POINT: Final = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
_FIRST_BYTES: Final = {"svg": b"<svg", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}
_COLOURS: Final = {"fine": "green", "note": "yellow", "wrong": "red"}
_NAME_WIDTH: Final = 20

VersionOf = Callable[[str], str | None]  # returns the installed version of a distribution; None if it is not installed


@dataclass(frozen=True)
class Finding:
    """One line of the report: what was examined, what was found, and what to do if that is not fine."""

    about: str
    seen: str
    verdict: Literal["fine", "note", "wrong"] = "fine"  # with a note the program works
    advice: str = ""


def doctor(as_json: Json = False) -> None:
    """Examine this installation, and say what to do if it is not well.

    Versions of Python, of the package and of all that it needs; extras that are not installed; cores, threads and
    memory; where the cache of compiled kernels is, and whether a second process loads what a first has compiled;
    whether both solvers find an optimum that is known; whether figures can be drawn.

    Prints a line for each, and at the end one for each that is wrong. It takes some seconds, and leaves no files. With
    --json it is one object, to be put into a report of a bug.

        equipoise doctor
        equipoise doctor --json > doctor.json

    Exit codes: 0 if nothing is wrong, whatever is noted; 3 if something is.
    """
    console, began = Console(highlight=False), time.perf_counter()
    found: dict[str, list[Finding]] = {}
    for title, check in CHECKS.items():
        try:
            found[title] = check()
        except Exception as error:  # a broken library may raise anything
            advice = "install the package again, and report this if it stays"
            found[title] = [Finding(title, f"{type(error).__name__}: {error}", "wrong", advice)]
        if not as_json:
            console.print(Text(title, "bold"))
        for one in () if as_json else found[title]:
            name = f"{one.about:<{_NAME_WIDTH}} {one.seen}" + (f": {one.advice}" if one.verdict == "note" else "")
            console.print(Text.assemble("  ", (f"{one.verdict:<6}", _COLOURS[one.verdict]), name), soft_wrap=True)
    wrong = [one for findings in found.values() for one in findings if one.verdict == "wrong"]
    if as_json:
        groups = {title: [asdict(one) for one in findings] for title, findings in found.items()}
        typer.echo(json.dumps({"version": VERSION, "well": not wrong, "findings": groups}, indent=1))
    elif wrong:
        lines = [f"wrong: {one.about}: {one.seen}; {one.advice}" for one in wrong]
        console.print(Text("\n" + "\n".join(lines), _COLOURS["wrong"]), soft_wrap=True)
    else:
        console.print(f"\nnothing is wrong; examined in {time.perf_counter() - began:.0f} s")
    if wrong:
        raise typer.Exit(Code.NOT_WELL)


def check_libraries() -> list[Finding]:
    """Compare Python, the package and its libraries with the package's metadata."""
    place = Path(equipoise.__file__).parent
    try:
        metadata = importlib.metadata.metadata("equipoise")
    except importlib.metadata.PackageNotFoundError:
        advice = "install it, so that its requirements are known: pip install FOLDER"
        return [Finding("equipoise", f"{VERSION} in {place}, which is not installed", "note", advice)]
    lines = importlib.metadata.requires("equipoise") or []
    findings = [check_python(platform.python_version(), metadata["Requires-Python"] or "")]
    findings += [check_package(VERSION, metadata["Version"], place), *check_required(lines, _installed_version)]
    for extra in sorted(set(metadata.get_all("Provides-Extra") or []) - {"dev"}):
        findings += check_extra(lines, extra, _installed_version)
    return findings


def _installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_python(version: str, wanted: str) -> Finding:
    """Compare the version of the interpreter with the one that is required."""
    place = f"{platform.python_implementation()} in {sys.executable}"
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Finding("Python", f"{version}, {place}")
    return Finding("Python", f"{version}; {wanted} is needed", "wrong", f"use a newer one; this is {place}")


def check_package(version: str, recorded: str, place: Path) -> Finding:
    """Compare the version of the code with the version that was installed."""
    if version == recorded:
        return Finding("equipoise", f"{version} in {place}")
    seen = f"the code in {place} is {version}, and what pip installed is {recorded}"
    return Finding("equipoise", seen, "wrong", "install it again, and look for a second copy on PYTHONPATH")


def check_required(lines: Iterable[str], version_of: VersionOf) -> list[Finding]:
    """Check the libraries that every installation needs."""
    return [_check_version(one, version_of) for one in _requirements(lines, "")]


def check_extra(lines: Iterable[str], extra: str, version_of: VersionOf) -> list[Finding]:
    """Check the libraries of an extra; one that is absent is a note."""
    lines, title = list(lines), f"extra {extra}"
    required = {str(one) for one in _requirements(lines, "")}
    own = [one for one in _requirements(lines, extra) if str(one) not in required]
    absent = [one.name for one in own if version_of(one.name) is None]
    checked = [_check_version(one, version_of) for one in own if one.name not in absent]
    wrong = [Finding(f"{title}: {x.about}", x.seen, "wrong", x.advice) for x in checked if x.verdict == "wrong"]
    if absent:
        seen = f"{', '.join(absent)} not installed; only for those who want it"
        return [Finding(title, seen, "note", f"pip install 'equipoise[{extra}]'"), *wrong]
    return wrong or [Finding(title, ", ".join(f"{one.about} {one.seen}" for one in checked))]


def _requirements(lines: Iterable[str], extra: str) -> list[Requirement]:
    """The requirements that apply here with this extra (or none), without other extras of this package."""
    applying = (one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate({"extra": extra}))
    return [one for one in applying if one.name != "equipoise"]


def _check_version(one: Requirement, version_of: VersionOf) -> Finding:
    version = version_of(one.name)
    if version is not None and one.specifier.contains(version, prereleases=True):
        return Finding(one.name, version)
    seen = "not installed" if version is None else f"{version}; {one.specifier} is needed"
    return Finding(one.name, seen, "wrong", f"pip install '{one.name}{one.specifier}'")


def check_machine() -> list[Finding]:
    """Report cores, threads and memory."""
    usable = Finding("cores", f"{core_count()} usable; a study takes one process each")
    return [usable, check_threads(os.environ, core_count()), check_memory(Path("/proc/meminfo"))]


def check_threads(environment: Mapping[str, str], usable: int) -> Finding:
    """Note variables that give libraries more threads than there are cores."""
    told = {name: environment[name] for name in _THREAD_VARIABLES if environment.get(name)}
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    seen = f"large sweeps and {blas} take as many as cores unless told; "
    seen += ", ".join(f"{name}={value}" for name, value in told.items()) or "they are told nothing"
    many = [name for name, value in told.items() if not (value.isdigit() and 1 <= int(value) <= usable)]
    if not many:
        return Finding("threads", seen)
    return Finding("threads", seen, "note", f"set {' and '.join(many)} to a number from 1 to {usable}, or unset it")


def check_memory(file: Path) -> Finding:
    """Note a machine with little free memory."""
    try:
        lines = dict(line.split(":", 1) for line in file.read_text().splitlines())
        total, free = (int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError):
        return Finding("memory", "this system does not say")
    seen = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    if free >= _MIN_FREE_BYTES:
        return Finding("memory", seen)
    return Finding("memory", seen, "note", "end other programs, and use few processes: equipoise run --jobs 1")


def check_kernels() -> list[Finding]:
    """Check where compiled kernels are kept, whether it can be written, and whether it works."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        seen = "NUMBA_DISABLE_JIT is set, and without compilation nothing of this package runs"
        return [Finding("compiler", seen, "wrong", "unset NUMBA_DISABLE_JIT")]
    root = cache_root()
    if root is None:
        seen = f"there is no home folder for it: kernels are kept in {cache_folder()}"
        return [Finding("cache", seen, "wrong", _MOVE_CACHE)]
    try:
        root.mkdir(parents=True, exist_ok=True)
        trial = Path(tempfile.mkdtemp(prefix="doctor-", dir=root))
    except OSError as error:
        seen = f"{root} cannot be written ({error.strerror}): kernels are kept in {cache_folder()}"
        return [Finding("cache", seen, "wrong", _MOVE_CACHE)]
    try:
        size = sum(file.stat().st_size for file in (root / source_hash()).rglob("*") if file.is_file())
        kept = Finding("cache", f"{root}, can be written; {size / 2**20:.1f} MiB of this version")
        return [kept, check_owner(root), try_cache(trial, os.environ)]
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def check_owner(root: Path) -> Finding:
    """Check that no other user can write the cache, whose code is run."""
    about = root.stat()
    if os.name == "posix" and about.st_uid != os.geteuid():
        seen = f"another user owns {root}, and could have code of theirs run"
        return Finding("cache's owner", seen, "wrong", _MOVE_CACHE)
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        seen = f"other users can write {root}, and so have code of theirs run"
        return Finding("cache's owner", seen, "wrong", f"chmod go-w {root}")
    return Finding("cache's owner", "nobody else can write it")


def try_cache(folder: Path, environment: Mapping[str, str]) -> Finding:
    """Check whether a second process loads what a first has compiled into an empty folder."""
    inside = {**environment, "EQUIPOISE_CACHE_DIR": str(folder), "EQUIPOISE_QUIET": "1"}
    first = run_probe(inside)
    if isinstance(first, str):
        return Finding("compiler", f"a small kernel could not be compiled: {first}", "wrong", "install numba again")
    compiled = _kernel_files(folder)
    second = run_probe(inside)
    if isinstance(second, str):
        return Finding("compiler", f"a kept kernel could not be loaded: {second}", "wrong", f"remove {folder.parent}")
    seen = f"a small kernel was compiled in {first:.2f} s, and "
    if not compiled:
        return Finding("compiler", f"{seen}not kept", "wrong", _MOVE_CACHE)
    if compiled != _kernel_files(folder):
        seen += f"again by a second process in {second:.2f} s: nothing kept is ever used"
        return Finding("compiler", seen, "wrong", f"{_MOVE_CACHE}, whose clock and files stay as they are")
    return Finding("compiler", f"{seen}loaded by a second process in {second:.2f} s")


def run_probe(environment: Mapping[str, str]) -> float | str:
    """Run the probe in a process: the seconds that its kernel took, or the last line of its error."""
    command, limit = [sys.executable, "-c", _PROBE], _PROBE_SECONDS
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {limit:.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    answer = json.loads(done.stdout)
    if answer["value"] != _PROBE_VALUE:
        return f"the answer is {answer['value']}, and {_PROBE_VALUE} is right"
    return float(answer["seconds"])


def _kernel_files(folder: Path) -> dict[Path, int]:
    """The index and code files of numba, with the time of their last change."""
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc")}


def check_solver(name: str, reward: Reward, optimum: float, library: str) -> Finding:
    """Check that a solver finds the optimum of a reward on two arms."""
    advice = f"install it again: pip install --force-reinstall {library} cvxpy"
    try:
        best = solve(bandit(2), reward, method="program")
    except (EquipoiseError, ImportError) as error:
        return Finding(name, f"no answer ({error})", "wrong", advice)
    if best.solver != name:
        return Finding(name, f"{best.solver} answered in its place", "wrong", advice)
    if best.status != "optimal" or abs(best.value - optimum) > _SOLVER_TOLERANCE:
        return Finding(name, f"{best.value} ({best.status}), and {optimum} is right", "wrong", advice)
    return Finding(name, f"finds the optimum of a small problem, and its certificate holds ({best.seconds:.2f} s)")


def check_drawing() -> list[Finding]:
    """Check that figures come out in every format, with letters."""
    try:
        from equipoise.reports.charts.vega import FORMATS, has_letters
    except ImportError as error:
        return [Finding("figures", f"the library is missing ({error})", "wrong", "pip install vl-convert-python")]
    fonts = Finding("fonts", "there is one for the letters of figures")
    if not has_letters("sans-serif"):
        seen = "no font was found: figures in PNG and PDF would have no letters"
        fonts = Finding("fonts", seen, "wrong", "install one, such as the package fonts-dejavu of your system")
    return [check_figures(FORMATS), fonts]


def check_figures(formats: Mapping[str, Callable[[dict[str, Any]], bytes]]) -> Finding:
    """Check that a point is drawn in each format."""
    wrong = []
    for name, draw in formats.items():
        try:
            drawn = draw(_POINT)
            if not drawn.startswith(_FIRST_BYTES[name]):
                wrong.append(f"{name}: it begins with {drawn[:8].decode(errors='replace')}")
        except Exception as error:  # whatever the library raises
            wrong.append(f"{name}: {error}")
    if wrong:
        return Finding("figures", "; ".join(wrong), "wrong", "pip install --force-reinstall vl-convert-python")
    return Finding("figures", f"{', '.join(formats)} can be drawn, without a browser")


CHECKS: Final[Mapping[str, Callable[[], list[Finding]]]] = {
    "libraries": check_libraries,
    "machine": check_machine,
    "kernels": check_kernels,
    "solvers": lambda: [
        check_solver("HIGHS", Linear([0.25, 0.75]), 0.75, "highspy"),
        check_solver("CLARABEL", Quadratic([0.75, 0.75]), 15 / 16, "clarabel"),
    ],
    "drawing": check_drawing,
}
