"""Frames: all the arguments of a compiled entry, in one record that its caller fills and the entry opens.

The entry takes one argument, a pointer to a NamedTuple of numbers, arrays and further NamedTuples, whose fields are
written once, in its class, and are read by name:

    @confidence_entry
    def _fill(frame):
        task, counts, region, own = opened(frame)
        region.rest[0] = task.delta

The memory layout is that of numba's compiled tuple: both sides take it from `frame_type`. Frames are placed on the
caller's stack. The arrays of an opened frame are borrowed: they may be read and written, and must not be kept.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

# A NamedTuple class with a static method `example`: a frame whose numbers and arrays have the types of every other.
FrameClass = type[Any]


def frame_type(frame_class: FrameClass) -> Any:
    """The compiled type of a frame, read off its example."""
    return numba.typeof(frame_class.example())


def frame_signature(frame_class: FrameClass) -> Any:
    """The signature of an entry that takes such a frame."""
    return types.void(types.CPointer(frame_type(frame_class)))


def _converted(context, builder, value, given, wanted):
    """A value as the frame holds it; arrays are stripped of what numba would count references by."""
    if isinstance(wanted, types.BaseTuple):
        parts = [
            _converted(context, builder, builder.extract_value(value, i), part, into)
            for i, (part, into) in enumerate(zip(given, wanted, strict=True))
        ]
        return context.make_tuple(builder, wanted, parts)
    if isinstance(wanted, types.Array):
        array = context.make_array(wanted)(context, builder, value=value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    return context.cast(builder, value, given, wanted)


def _mismatch(given, wanted, path):
    """Where a value is not what the frame holds; empty if it fits. A read-only array fits as well."""
    if isinstance(wanted, types.BaseTuple):
        if not isinstance(given, types.BaseTuple) or len(given) != len(wanted):
            return f"{path}: got {given}; {wanted} is needed"
        names = getattr(wanted, "fields", range(len(wanted)))
        parts = (_mismatch(x, y, f"{path}.{name}") for name, x, y in zip(names, given, wanted, strict=True))
        return next(filter(None, parts), "")
    if isinstance(wanted, types.Array):
        shape = (wanted.dtype, wanted.ndim, wanted.layout)
        fits = isinstance(given, types.Array) and (given.dtype, given.ndim, given.layout) == shape
    else:
        whole = isinstance(wanted, types.Integer) and isinstance(given, types.Integer)
        fits = whole or types.unliteral(given) == wanted
    return "" if fits else f"{path}: got {given}; {wanted} is needed"


@intrinsic
def framed(typingctx, frame):
    """Put a frame on the stack of the kernel that calls this, and return a pointer to it."""
    frame_class = getattr(frame, "instance_class", type(None))
    if not hasattr(frame_class, "example"):
        raise TypingError(f"framed: got {frame}; a NamedTuple with an `example` is needed")
    wanted = frame_type(frame_class)
    problem = _mismatch(frame, wanted, frame_class.__name__)
    if problem:
        raise TypingError(problem)

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once(builder, context.get_data_type(wanted))
        value = _converted(context, builder, args[0], signature.args[0], wanted)
        context.pack_value(builder, wanted, value, slot)
        return slot

    return types.CPointer(wanted)(frame), codegen


@intrinsic
def opened(typingctx, frame):
    """The frame behind a pointer."""
    if not isinstance(frame, types.CPointer):
        raise TypingError(f"opened: got {frame}; the argument of an entry is needed")

    def codegen(context, builder, signature, args):
        value = context.unpack_value(builder, signature.return_type, args[0])
        return _converted(context, builder, value, signature.return_type, signature.return_type)

    return frame.dtype(frame), codegen


@intrinsic
def call_framed(typingctx, address, frame):
    """Call the entry at `address` on a frame."""
    if not isinstance(frame, types.CPointer):
        raise TypingError(f"call_framed: got {frame}; a pointer from `framed` is needed")

    def codegen(context, builder, signature, args):
        function_type = ir.FunctionType(ir.VoidType(), [args[1].type])
        builder.call(builder.inttoptr(args[0], function_type.as_pointer()), [args[1]])
        return context.get_dummy_value()

    return types.void(types.int64, frame), codegen


@intrinsic
def store_leading(typingctx, frame, numbers):
    """Replace the leading members of a frame on the stack by a tuple of numbers; the others stay as they are."""
    wanted = [frame.dtype[i] for i in range(len(numbers))]
    for given, into in zip(numbers, wanted, strict=True):
        problem = _mismatch(given, into, "store_leading")
        if problem:
            raise TypingError(problem)

    def codegen(context, builder, signature, args):
        for i, (given, into) in enumerate(zip(signature.args[1], wanted, strict=True)):
            value = _converted(context, builder, builder.extract_value(args[1], i), given, into)
            context.pack_value(builder, into, value, cgutils.gep_inbounds(builder, args[0], 0, i))
        return context.get_dummy_value()

    return types.void(frame, numbers), codegen
