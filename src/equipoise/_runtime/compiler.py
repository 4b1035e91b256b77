"""How kernels are compiled, cached on disk (`cache`), and called through an address.

An `Entry` is a function compiled on its own and known to the loops by its *address*. A reward's kernels have the one
signature ``void(t, n, x, params, out)``, with raw pointers for the three arrays, so a loop is compiled once and runs
with any reward, user-written ones included. An address is an integer: passing one costs nothing at the Python boundary,
and the call itself a few nanoseconds. Entries with many arguments take one frame instead: `frames`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import numba
from llvmlite import ir
from numba import types
from numba.core import caching, cgutils, sigutils
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from equipoise._runtime.cache import cache_folder, hash_module
from equipoise._runtime.frames import FrameClass, frame_signature
from equipoise._runtime.messages import YOURS, compiling, describe_subject, nested, say
from equipoise.errors import ContractError

_POINTER: Final = types.CPointer(types.float64)
ENTRY_SIGNATURE: Final = types.void(types.int64, types.int64, _POINTER, _POINTER, _POINTER)
_PACKAGE: Final = __name__.partition(".")[0]
_UNWRITTEN: Final[set[str]] = set()  # why kernels could not be kept, as far as that was said


class _ChosenPlace(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Where numba keeps the code of a function: in the folder that it is told, and nowhere else."""

    _locator_classes: ClassVar = [
        one for one in caching.CompileResultCacheImpl._locator_classes if "UserProvided" in one.__name__
    ]


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of a function. What cannot be read is compiled again; what cannot be written is not kept."""

    _impl_class = _ChosenPlace

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever numba and pickle raise over a damaged file
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full disk, for one
            reason = error.strerror or str(error)
            if reason not in _UNWRITTEN:
                _UNWRITTEN.add(reason)
                say(f"compiled kernels cannot be kept in {self.cache_path} ({reason}); they will be compiled again")


def _cache_of(function: Callable[..., Any]) -> Any:
    """The cache of a function: in our folder, whatever numba's own setting is, which stays as it was."""
    folder, before = cache_folder(), numba.config.CACHE_DIR
    module = function.__module__ or ""
    if module.partition(".")[0] != _PACKAGE:
        folder /= f"user-{hash_module(module)}"
    numba.config.CACHE_DIR = str(folder)
    try:
        return _KernelCache(function)
    except (RuntimeError, OSError):  # the folder cannot be written any more
        return caching.NullCache()
    finally:
        numba.config.CACHE_DIR = before


class _PieceLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a piece, as it was written: the loop that it is inlined into is optimised as a whole."""

    def _optimize_final_module(self) -> None:
        pass


class _PieceCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, with that library."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _PieceLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


def kernel(function: Callable[..., Any], *, forceinline: bool = False) -> Callable[..., Any]:
    """Compile on first use, cached on disk: arrays in, `out` buffers, no validation, IEEE division."""
    options = {"pipeline_class": _PieceCompiler} if forceinline else {}
    make: Any = numba.njit(error_model="numpy", nogil=True, _nrt=False, forceinline=forceinline, **options)
    compiled = make(function)
    compiled._cache = _cache_of(function)
    return compiled  # type: ignore[no-any-return]


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, for the pieces of a loop: always inlined into it."""
    return kernel(function, forceinline=True)


class Entry:
    """A function on numbers and raw pointers, compiled when its address is first asked for."""

    def __init__(
        self,
        function: Callable[..., None],
        *,
        cached: bool = True,
        signature: Any = ENTRY_SIGNATURE,
        frame: FrameClass | None = None,
        allocates: bool = True,
    ) -> None:
        self._function, self._signature, self._frame, self._allocates = function, signature, frame, allocates
        self._cached = cached and Path(function.__code__.co_filename).is_file()
        self._compiled: Any = None

    def takes(self, frame: FrameClass) -> bool:
        """Whether its one argument is a frame of that class."""
        return self._frame is frame

    def has(self, signature: Any) -> bool:
        """Whether its arguments are of these types."""
        return self._frame is None and bool(self._signature == signature)

    @property
    def address(self) -> int:
        """Where the compiled code is; valid for this process only."""
        if self._compiled is None:
            subject = describe_subject(self._function.__module__) if self._cached else YOURS
            signature = self._signature if self._frame is None else frame_signature(self._frame)
            with compiling(subject, kept=self._cached):
                self._compiled = self._compile(signature)
        return int(self._compiled.address)

    def _compile(self, signature: Any) -> Any:
        options = {"error_model": "numpy", "_nrt": self._allocates}
        compiled: Any = CFunc(self._function, sigutils.normalize_signature(signature), locals={}, options=options)
        if self._cached:
            compiled._cache = _cache_of(self._function)
        try:
            compiled.compile()
        except NumbaError as error:
            from equipoise._runtime.user_functions import compilation_reason

            reason = compilation_reason(error, self._function)
            raise ContractError(f"{self!r} cannot be compiled: {reason}") from error
        return compiled

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._function.__module__}.{self._function.__qualname__})"

    def __copy__(self) -> Entry:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Entry:
        return self

    def __reduce__(self) -> tuple[Callable[..., Entry], tuple[Any, ...]]:
        module, name = self._function.__module__, self._function.__qualname__
        if getattr(sys.modules.get(module), name, None) is self:  # declared by a decorator, under that name
            return _named_entry, (module, name)
        return partial(Entry, cached=self._cached, signature=self._signature), (self._function,)


def _named_entry(module: str, name: str) -> Entry:
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def entry(function: Callable[..., None]) -> Entry:
    """Declare an `Entry`; as a decorator."""
    return Entry(function)


def _emit_call(context, builder, address, kinds, arguments, extra=()):  # type: ignore[no-untyped-def]
    """The call of an address on the members of a tuple, an array as its data pointer, and on `extra` pointers."""
    values = []
    for index, kind in enumerate(kinds):
        value = builder.extract_value(arguments, index)
        if isinstance(kind, types.Array):
            value = context.make_array(kind)(context, builder, value=value).data
        values.append(value)
    values.extend(extra)
    function_type = ir.FunctionType(ir.VoidType(), [value.type for value in values])
    builder.call(builder.inttoptr(address, function_type.as_pointer()), values)


@intrinsic
def call_address(typingctx, address, arguments):  # type: ignore[no-untyped-def]
    """Call the C function at `address` on a tuple of numbers and arrays; an array is passed as its data pointer."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        _emit_call(context, builder, args[0], signature.args[1], args[1])  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(types.int64, arguments), codegen


@intrinsic
def call_for_two(typingctx, address, arguments):  # type: ignore[no-untyped-def]
    """As `call_address`, with a last argument besides: a pointer to two floats on the stack, which are returned."""
    two = types.UniTuple(types.float64, 2)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        buffer = cgutils.alloca_once(builder, ir.DoubleType(), size=2)
        places = [builder.gep(buffer, [ir.Constant(ir.IntType(32), i)]) for i in range(2)]
        for place in places:  # NaN first, so that a number that the function fails to write is noticed
            builder.store(ir.Constant(ir.DoubleType(), float("nan")), place)
        _emit_call(context, builder, args[0], signature.args[1], args[1], (buffer,))  # type: ignore[no-untyped-call]
        return context.make_tuple(builder, two, [builder.load(place) for place in places])

    return two(types.int64, arguments), codegen


@intrinsic
def float_pointer(typingctx, address):  # type: ignore[no-untyped-def]
    """An address as a pointer to floats."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.inttoptr(args[0], ir.DoubleType().as_pointer())

    return _POINTER(types.int64), codegen


@intrinsic
def pointer_at(typingctx, pointer, index):  # type: ignore[no-untyped-def]
    """A pointer to the entry `index` of what a pointer to floats points to."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.gep(args[0], [args[1]])

    return _POINTER(_POINTER, types.int64), codegen


@intrinsic
def bits_of(typingctx, number):  # type: ignore[no-untyped-def]
    """The bits of a float, as an unsigned whole number."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


@intrinsic
def move_within(typingctx, array, to, start, count):  # type: ignore[no-untyped-def]
    """Copy `count` entries of a vector, from the one at `start` to the one at `to`; they may overlap."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        cgutils.raw_memmove(builder, builder.gep(data, [args[1]]), builder.gep(data, [args[2]]), args[3], size)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, types.int64), codegen


@intrinsic
def stack_floats(typingctx, size):  # type: ignore[no-untyped-def]
    """A pointer to `size` floats on the stack, for as long as the function runs; not to be called in a loop."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.alloca(ir.DoubleType(), size=args[0])

    return _POINTER(types.int64), codegen


@inlined
def call_entry(address, t, x, params, out):  # type: ignore[no-untyped-def]
    """Call an `Entry` on float64 vectors."""
    call_address(address, (t, x.shape[0], x, params, out))


@kernel
def invoke(address, t, x, params, out):  # type: ignore[no-untyped-def]
    """Call an `Entry` once, from Python."""
    call_entry(address, t, x, params, out)


def compile_once(what: str, run: Callable[[], None]) -> None:
    """Compile a set of kernels by running it, with a word on stderr; once per version of the sources."""
    marker = cache_folder() / f"{what}.compiled"
    if what in _UNDER_WAY or marker.exists():
        return
    _UNDER_WAY.add(what)
    began = time.perf_counter()
    say(f"compiling the {what}'s kernels, once for this version ...")
    with nested():
        run()
    say(f"compiled in {time.perf_counter() - began:.0f} s")
    with contextlib.suppress(OSError):
        marker.touch()


_UNDER_WAY: Final[set[str]] = set()
