"""The machine: cores, threads, memory and the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from equipoise._threads import VARIABLE, cores
from equipoise.cli.health.finding import Finding

_THREADS: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    VARIABLE,
)
_ENOUGH: Final = 2**30  # bytes: to compile an agent's kernels takes some 400 MiB
_CONTROL: Final = Path("/sys/fs/cgroup")
_MEMORY: Final = Path("/proc/meminfo")


def machine() -> list[Finding]:
    """What this machine has to offer, and whether too much is asked of it."""
    return [
        processors(cores(), quota(_CONTROL / "cpu.max")),
        threads(os.environ, cores()),
        memory(_MEMORY, _CONTROL),
        terminal(Console()),
    ]


def quota(file: Path) -> float | None:
    """The cores' worth of time that a container may use; None if it may use all, or nobody says."""
    try:
        most, period = file.read_text().split()
        return None if most == "max" else int(most) / int(period)
    except (OSError, ValueError):
        return None


def processors(usable: int, allowed: float | None) -> Finding:
    """The cores, and how many of them a container may keep busy.

    >>> processors(8, 1.5).advice
    'equipoise run --jobs 1'
    """
    seen = f"{usable} usable; a study takes one process each"
    if allowed is None or allowed >= usable:
        return Finding("cores", seen)
    seen += f", and the container may use {allowed:g} of them"
    return Finding("cores", seen, "note", f"equipoise run --jobs {max(1, int(allowed))}")


def threads(environment: Mapping[str, str], usable: int) -> Finding:
    """The threads that libraries are told to take; the package's own kernels run on one, but for large sweeps.

    >>> threads({"OMP_NUM_THREADS": "64"}, 4).verdict
    'note'
    """
    told = {name: environment[name] for name in _THREADS if environment.get(name)}
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    seen = f"large sweeps and {blas} take as many as cores unless told; " + (
        ", ".join(f"{name}={value}" for name, value in told.items()) or "they are told nothing"
    )
    many = [name for name, value in told.items() if not (value.isdigit() and 1 <= int(value) <= usable)]
    if many:
        return Finding("threads", seen, "note", f"set {' and '.join(many)} to a number from 1 to {usable}, or unset it")
    return Finding("threads", seen)


def memory(file: Path, control: Path) -> Finding:
    """The memory that is free, of the machine or of the container.

    Parameters
    ----------
    file : Path
        The kernel's table of it.
    control : Path
        The folder of the container's limits.
    """
    try:
        lines = dict(line.split(":", 1) for line in file.read_text().splitlines())
        total, free = (int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError):
        return Finding("memory", "this system does not say")
    limit, used = (_bytes(control / name) for name in ("memory.max", "memory.current"))
    if limit is not None and used is not None and limit < total:
        total, free = limit, min(free, max(0, limit - used))
    seen = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    if free < _ENOUGH:
        return Finding("memory", seen, "note", "end other programs, and use few processes: equipoise run --jobs 1")
    return Finding("memory", seen)


def _bytes(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # or the word max
        return None


def terminal(console: Console) -> Finding:
    """How wide it is, and whether it can show what is written.

    Parameters
    ----------
    console : Console
        That of the standard output.
    """
    kind = "a terminal" if console.is_terminal else "no terminal"
    colours = console.color_system if console.color_system and not console.no_color else "no"
    seen = f"{kind}, {console.width} columns, {colours} colours, {console.encoding}"
    if console.encoding.startswith("utf"):
        return Finding("output", seen)
    return Finding("output", f"{seen}: some tables cannot be printed", "wrong", "set PYTHONIOENCODING=utf-8")
