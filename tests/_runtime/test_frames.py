"""Frames: every field arrives, what does not fit is refused, and compiled entries are found again on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry
from equipoise._runtime.frames import call_framed, framed, opened, store_leading
from equipoise.confidence.base import ConfidenceFrame, Own, Task
from equipoise.confidence.counts import POOL, Counts
from equipoise.confidence.region import Region
from equipoise.oracles.frame import OracleFrame, RewardCalls


class Inner(NamedTuple):
    flag: bool
    matrix: NDArray[np.float64]


class Small(NamedTuple):
    t: int
    x: float
    whole: NDArray[np.int64]
    inner: Inner
    out: NDArray[np.float64]

    @staticmethod
    def example() -> Small:
        return Small(1, 1.0, np.zeros(1, dtype=np.int64), Inner(True, np.zeros((1, 1))), np.zeros(1))


def _copy_out(frame):
    small = opened(frame)
    small.out[0] = small.t
    small.out[1] = small.x
    small.out[2] = small.whole[2]
    small.out[3] = small.inner.flag
    small.out[4] = small.inner.matrix[1, 2]
    small.out[5] = small.inner.matrix.shape[0] * 10 + small.inner.matrix.shape[1]


@numba.njit
def _call(address, small):
    call_framed(address, framed(small))


@numba.njit
def _call_later(address, small, t, x):
    frame = framed(small)
    store_leading(frame, (t, x))
    call_framed(address, frame)


def small_frame() -> Small:
    matrix = np.arange(6.0).reshape(2, 3)
    matrix.setflags(write=False)  # what a space knows is read-only
    return Small(7, 0.25, np.array([1, 2, 3]), Inner(True, matrix), np.zeros(6))


def test_every_field_arrives():
    small = small_frame()
    _call(Entry(_copy_out, frame=Small).address, small)
    assert small.out.tolist() == [7, 0.25, 3, 1, 5, 23]


def test_an_entry_that_may_not_allocate_sees_the_same():
    small = small_frame()
    _call(Entry(_copy_out, frame=Small, allocates=False).address, small)
    assert small.out.tolist() == [7, 0.25, 3, 1, 5, 23]


def test_leading_numbers_are_replaced_and_nothing_else():
    small = small_frame()
    _call_later(Entry(_copy_out, frame=Small).address, small, 8, 0.5)
    assert small.out.tolist() == [8, 0.5, 3, 1, 5, 23]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"whole": np.zeros(3)}, r"Small\.whole: got array\(float64"),
        ({"whole": np.zeros((3, 3), dtype=np.int64)}, r"Small\.whole: got array\(int64, 2d"),
        ({"out": np.zeros(12)[::2]}, r"Small\.out: got array\(float64, 1d, A"),
        ({"x": 1}, r"Small\.x: got int64; float64 is needed"),
        ({"inner": Inner(True, np.zeros((2, 3), order="F"))}, r"Small\.inner\.matrix: got"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, message):
    with pytest.raises(TypingError, match=message):
        _call(0, small_frame()._replace(**change))


def test_only_frames_are_framed():
    with pytest.raises(TypingError, match="a NamedTuple with an `example` is needed"):
        _call(0, (1, 2.0))


@numba.njit
def _checksum(array):
    """Depends on every entry and its place."""
    total = 0.0
    for i, x in enumerate(array.flat):
        total += (i + 1) * x
    return total + 1000 * array.size


def by_field(frame_class: type, parts: dict[str, type], fields_of_records: tuple[str, ...], out: str):
    """A kernel, written out from the names of all fields, that puts a checksum of each into the array `out`."""
    lines = ["def every(frame):", "    parts = opened(frame)"]
    names = []
    for part, kind in parts.items():
        for name in kind._fields:
            place = f"parts.{part}.{name}" if part else f"parts.{name}"
            kind_of = kind.__annotations__[name].__forward_arg__
            if name == "pool":
                expressions = [f"{place}[0].{field}" for field in fields_of_records]
            elif "NDArray" in kind_of:
                expressions = [f"_checksum({place})"]
            elif kind_of in ("int", "float"):
                expressions = [place]
            else:
                continue  # a tuple, which is one of the parts
            for expression in expressions:
                lines.append(f"    {out}[{len(names)}] = {expression}")
                names.append(expression)
    scope = {"opened": opened, "_checksum": _checksum}
    exec("\n".join(lines), scope)
    return Entry(scope["every"], frame=frame_class, cached=False), names


def filled(frame: tuple, rng: np.random.Generator) -> list:
    """The same tuple with other numbers in it; a writable array in each place."""
    values = []
    for value in frame:
        if value is None:
            values.append(None)  # what a confidence is not given
        elif isinstance(value, tuple):
            values.append(type(value)(*filled(value, rng)))
        elif isinstance(value, np.ndarray) and value.dtype == POOL:
            values.append(np.array([tuple(rng.integers(1, 99, len(POOL)))], dtype=POOL))
        elif isinstance(value, np.ndarray):
            shape = [int(rng.integers(1, 5)) for _ in value.shape]
            values.append(rng.integers(0, 2, shape).astype(value.dtype) + rng.integers(0, 2, shape).astype(value.dtype))
        else:
            values.append(type(value)(rng.integers(1, 99)))
    return values


def expected(expression: str, frame: tuple) -> float:
    """The same in Python, where the fields of a record are no attributes."""
    record, _, field = expression.rpartition("[0].")
    if record:
        return eval(f"{record}[0]['{field}']", {"parts": frame})
    return eval(expression, {"parts": frame, "_checksum": _checksum.py_func})


def test_a_confidence_is_given_all_that_its_frame_names():
    parts = {"task": Task, "counts": Counts, "region": Region, "own": Own}
    entry, names = by_field(ConfidenceFrame, parts, POOL.names, "parts.region.radius")
    frame = ConfidenceFrame(*filled(ConfidenceFrame.example(), np.random.default_rng(0)))
    frame = frame._replace(region=frame.region._replace(radius=np.zeros(len(names))))
    assert len(names) == 5 + 2 + 10 + 4 + 9 + 3  # the task, its arrays, counts, the pool's record, the region, own
    before = ConfidenceFrame(*(type(part)(*(np.copy(x) if np.ndim(x) else x for x in part)) for part in frame))
    _call(entry.address, frame)
    for i, name in enumerate(names):
        if name != "_checksum(parts.region.radius)":  # which is being written
            assert frame.region.radius[i] == expected(name, before), name


def test_an_oracle_is_given_all_that_its_frame_names():
    entry, names = by_field(OracleFrame, {"": OracleFrame, "reward": RewardCalls}, (), "parts.theta")
    frame = OracleFrame(*filled(OracleFrame.example(), np.random.default_rng(1)))._replace(theta=np.zeros(len(names)))
    assert len(names) == 2 + 6 + 3
    before = frame._replace(theta=frame.theta.copy())
    _call(entry.address, frame)
    for i, name in enumerate(names):
        if name != "_checksum(parts.theta)":
            assert frame.theta[i] == expected(name, before), name


CONFIDENCE = """
import numpy as np
from equipoise.confidence import Confidence
from equipoise.confidence.base import confidence_entry, opened

@confidence_entry
def _fill(frame):
    task, counts, region, own = opened(frame)
    scratch = np.zeros(task.n_states)  # a confidence may make arrays
    region.first[0] = 0
    for pair in range(task.n_pairs):
        for k in range(task.n_outcomes):
            region.v_lo[pair, k] = scratch[0]
            region.v_hi[pair, k] = 1.0
        region.first[pair + 1] = 0
        region.rest[pair] = 1.0

class Anything(Confidence):
    guarantee = "certain"
    kernel = _fill
    def arguments(self):
        return {}
"""
SCRIPT = """
import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import Counts
from equipoise.oracles import frank_wolfe
from elsewhere import Anything, _fill
space = eq.models.riverswim(3).space
region = build_region(Anything(), space, Counts.zeros(6, 1), 1, 0.05)
assert region.rest.tolist() == [1.0] * 6 and region.v_hi.tolist() == [[1.0]] * 6
frank_wolfe.frank_wolfe_step.address
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    """A confidence in a file outside of the package, its caller, and the step of an oracle."""
    (tmp_path / "elsewhere.py").write_text(CONFIDENCE)
    cache = tmp_path / "cache"
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = dict(os.environ) | {"EQUIPOISE_CACHE_DIR": str(cache), "PYTHONPATH": path}
    kept = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=environment, timeout=300)
        kept.append({file.name: file.stat().st_mtime_ns for file in cache.rglob("*.nb?")})
    assert any("elsewhere" in name and name.endswith("nbc") for name in kept[0])
    assert any("frank_wolfe_step" in name and name.endswith("nbc") for name in kept[0])
    assert kept[1] == kept[0]
