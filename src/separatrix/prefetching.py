"""What `compiled.prefetch` becomes in a compiled loop: an instruction for each cache line. Imports the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from separatrix import compiled

LINE = 8 * 64  # bits
READ, SECOND_LEVEL, DATA = 0, 2, 1  # what to expect, where to put it, and what it is, as LLVM numbers them


def _in_line(array: Any) -> int:
    """How many entries of an array of this type a cache line holds."""
    return LINE // int(array.dtype.bitwidth)


@intrinsic
def _prefetch_lines(typing: Any, data: Any, indices: Any, place: Any) -> Any:
    """Ask for the entries from this place on which make a line of the one array, and some lines of the other."""
    entries = max(_in_line(data), _in_line(indices))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        flags = [number(flag) for flag in (READ, SECOND_LEVEL, DATA)]
        for array, argument in zip(signature.args[:2], arguments[:2], strict=True):
            start = builder.gep(context.make_array(array)(context, builder, argument).data, [arguments[2]])
            for line in range(0, entries, _in_line(array)):
                address = builder.bitcast(builder.gep(start, [ir.IntType(64)(line)]), pointer)
                builder.call(instruction, [address, *flags])
        return context.get_dummy_value()

    return types.void(data, indices, types.uintp), generate


@overload(compiled.prefetch)
def _prefetch(first: Any, last: Any, data: Any, indices: Any) -> Any:
    entries = np.uint64(max(_in_line(data), _in_line(indices)))

    def lines(first: Any, last: Any, data: Any, indices: Any) -> None:
        for place in range(first, last, entries):
            _prefetch_lines(data, indices, place)  # type: ignore[call-arg]  # the compiler gives the first

    return lines
