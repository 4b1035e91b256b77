"""A user's function of arrays, ``f(x)`` or ``f(x, params)``, as an `Entry`: compiled, or called back in plain Python.

An exception cannot leave compiled code. So where a function raises, or returns something that is not finite, the result
is NaN or what it returned, and the first such point since the last `forget` is noted; `UserFunction.failure` tells what
happened there. Callbacks go through ctypes, and take Python's lock for each call.
"""

from __future__ import annotations

import ctypes
import inspect
import linecache
import math
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
from numba import carray, types
from numba.core import errors

from equipoise._runtime.compiler import Entry, float_pointer, inlined, pointer_at
from equipoise._runtime.messages import YOURS, compiling
from equipoise._types import Vector

_CALLBACK: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_LONGEST: Final = 400  # characters of a reason
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")


class CannotCompileError(Exception):
    """A function that numba does not take; the text says where and why, in one line."""


class UserFunction:
    """One function of a user, with the entry through which loops call it."""

    def __init__(
        self, function: Callable[..., Any], size: int, params: Vector, *, scalar: bool, compiled: bool, start: int = 0
    ) -> None:
        self.plain: Callable[..., Any] = getattr(function, "py_func", function)
        self.takes_params = _takes_two(self.plain)
        self._params = params
        self._shape = () if scalar else (size,)
        self._noted = np.zeros(1 + size)  # whether a point was noted, and which
        self._exception: BaseException | None = None
        self._vector, self._answer = ctypes.c_double * size, ctypes.c_double * (1 if scalar else size)
        if compiled:
            self.entry = _compiled_entry(function, start, params.size, scalar, self.takes_params, self._noted)
        else:
            self.entry = _CallbackEntry(self._called_back, function)

    def __call__(self, x: Vector) -> Any:
        """Run the function in plain Python, on copies."""
        return self.plain(x.copy(), self._params.copy()) if self.takes_params else self.plain(x.copy())

    def forget(self) -> None:
        """Forget what was noted."""
        self._noted[0] = 0.0
        self._exception = None

    def failure(self) -> tuple[Vector, Exception | None] | None:
        """The first point at which no finite answer came, with the exception raised there if there was one."""
        if self._noted[0] == 0.0:
            return None
        point = self._noted[1:].copy()
        exception = self._exception
        if exception is not None and not isinstance(exception, Exception):
            self.forget()
            raise exception
        if exception is None:
            try:
                with np.errstate(all="ignore"):
                    self(point)
            except Exception as error:
                exception = error
        return point, exception

    def _called_back(self, _t: int, _n: int, x: int, _params: int, out: int) -> None:
        """What ctypes calls; nothing may be raised out of it."""
        vector = self._vector.from_address(x)
        answer = np.frombuffer(self._answer.from_address(out))  # type: ignore[call-overload]
        exception: BaseException | None = None
        try:
            result = self(np.frombuffer(vector))  # type: ignore[call-overload]
            if np.shape(result) != self._shape:
                needed = f"{self._shape or 'a number'} is needed"
                raise ValueError(f"it gives an array of shape {np.shape(result)}; {needed}")
            answer[:] = result
        except BaseException as error:  # an interrupt as well: `failure` raises it again
            exception = error
            answer[:] = np.nan
        if self._noted[0] == 0.0 and not all(map(math.isfinite, answer.tolist())):
            self._noted[1:] = vector
            self._noted[0] = 1.0
            self._exception = exception


class _CompiledEntry(Entry):
    """An entry that writes to a vector of Python's where it failed, and so keeps that vector alive."""

    def __init__(self, function: Callable[..., None], noted: Vector) -> None:
        super().__init__(function, cached=False)
        self._noted = noted


class _CallbackEntry(Entry):
    """An entry that runs Python; what it is made of belongs to this process."""

    def __init__(self, callback: Callable[..., None], function: Callable[..., Any]) -> None:
        super().__init__(function, cached=False)
        self._called = function
        self._callback = _CALLBACK(callback)

    @property
    def address(self) -> int:
        """Where ctypes put the callback."""
        return int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._called!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a callback belongs to one process; what owns it makes another")


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and positional[1].default is inspect.Parameter.empty


@inlined
def _note(address, n, x):  # type: ignore[no-untyped-def]
    noted = float_pointer(address)
    if noted[0] == 0.0:
        for k in range(n):
            noted[1 + k] = x[k]
        noted[0] = 1.0


def _compiled_entry(
    function: Callable[..., Any], start: int, n_params: int, scalar: bool, takes_params: bool, noted: Vector
) -> Entry:
    """Wrap a function of arrays as an entry, compiled in this process; its parameters begin at `start`."""
    array = types.Array(types.float64, 1, "C")
    try:
        inner: Any = function if hasattr(function, "py_func") else numba.njit(error_model="numpy")(function)
        with compiling(YOURS, kept=False):
            given = [array, array] if takes_params else [array]
            left_out = list(inspect.signature(inner.py_func).parameters.values())[len(given) :]
            inner.compile((*given, *(types.Omitted(argument.default) for argument in left_out)))
    except Exception as error:
        raise CannotCompileError(compilation_reason(error, function)) from error

    if takes_params:

        @numba.njit(error_model="numpy")
        def call(x, params):  # type: ignore[no-untyped-def]
            return inner(x, params)
    else:

        @numba.njit(error_model="numpy")
        def call(x, params):  # type: ignore[no-untyped-def] # noqa: ARG001
            return inner(x)

    place = int(noted.ctypes.data)
    if scalar:

        def wrapped(t, n, x, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
            try:
                out[0] = call(carray(x, n), carray(pointer_at(params, start), n_params))
            except Exception:
                out[0] = np.nan
            if not abs(out[0]) < np.inf:
                _note(place, n, x)
    else:

        def wrapped(t, n, x, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
            for k in range(n):
                out[k] = np.nan
            try:
                result = call(carray(x, n), carray(pointer_at(params, start), n_params))
                for k in range(n):
                    out[k] = result[k]
            except Exception:
                out[0] = np.nan
            for k in range(n):
                if not abs(out[k]) < np.inf:
                    _note(place, n, x)

    entry = _CompiledEntry(wrapped, noted)
    try:
        with compiling(YOURS, kept=False):
            _ = entry.address
    except Exception as error:
        kinds = ", ".join(sorted({str(kind.return_type) for kind in inner.nopython_signatures}))
        needed = "a number" if scalar else "a vector of numbers"
        raise CannotCompileError(f"what it returns is of numba's type {kinds}; {needed} is needed") from error
    return entry


def compilation_reason(error: BaseException, function: Callable[..., Any]) -> str:
    """One line that says which line of a function numba does not take, and why."""
    lines = [line.strip() for line in _ESCAPES.sub("", str(error)).splitlines()]
    reason = next((line for line in lines if line and not line.startswith("Failed in nopython")), type(error).__name__)
    if reason.endswith("found for signature:"):
        call = next((line.removeprefix(">>>").strip() for line in lines if line.startswith(">>>")), "")
        reason = f"{reason.removesuffix(' found for signature:')} for {call}"
    deeper = [line.partition(":")[2].strip() for line in lines if re.match(r"\w+Error: (?!Failed in)", line)]
    if deeper and deeper[-1] not in reason:
        reason += f" ({deeper[-1]})"
    reason = reason.removesuffix(". Raised from None")
    if not isinstance(error, errors.NumbaError):
        reason = f"{type(error).__name__}: {reason}"
    return f"{_place(error, function)}: {textwrap.shorten(reason, _LONGEST, placeholder=' ...')}"


def _place(error: BaseException, function: Callable[..., Any]) -> str:
    plain = getattr(function, "py_func", function)
    location = getattr(error, "loc", None)
    code = getattr(plain, "__code__", None)
    if code is None:
        return f"{plain!r} is no Python function"
    if location is None:
        return f"{plain.__name__}, line {code.co_firstlineno} of {Path(code.co_filename).name}"
    source = textwrap.shorten(linecache.getline(location.filename, location.line).strip(), _LONGEST // 4)
    return f"line {location.line} of {Path(location.filename).name}" + (f", `{source}`" if source else "")
