# SPDX-License-Identifier: Apache-2.0
"""Atomic operations on int64 words in memory, futexes, a clock, and calls of code by address.

For the thread pool's text (jit/runtime/thread_pool.py).  Sequentially consistent throughout.
Imports Numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .. import target
from . import clock as clocks

_WORD = ir.IntType(64)
_ORDER = "seq_cst"
# The pause instruction keeps a spinning thread from slowing down its neighbour: LLVM's name for it
# and, on Arm, the number of the hint.
_PAUSE = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
}


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def atomic_load(typing_context: Any, address: Any) -> Any:
    """The word at an address."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_at(builder, args[0]), _ORDER, 8)

    return types.int64(types.int64), lower


@intrinsic
def atomic_store(typing_context: Any, address: Any, value: Any) -> Any:
    """Puts a word at an address."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[1], _at(builder, args[0]), _ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), lower


@intrinsic
def atomic_add(typing_context: Any, address: Any, value: Any) -> Any:
    """Adds to the word at an address; returns what was there before."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _at(builder, args[0]), args[1], _ORDER)

    return types.int64(types.int64, types.int64), lower


@intrinsic
def atomic_swap(typing_context: Any, address: Any, value: Any) -> Any:
    """Puts a word at an address; returns what was there before."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("xchg", _at(builder, args[0]), args[1], _ORDER)

    return types.int64(types.int64, types.int64), lower


@intrinsic
def take_if_zero(typing_context: Any, address: Any) -> Any:
    """Changes the word at an address from 0 to 1; 1 when it did, 0 when the word was not 0."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero, one = _WORD(0), _WORD(1)
        pair = builder.cmpxchg(_at(builder, args[0]), zero, one, _ORDER, _ORDER)
        return builder.zext(builder.extract_value(pair, 1), _WORD)

    return types.int64(types.int64), lower


@intrinsic
def pause(typing_context: Any) -> Any:
    """Tells the processor that the thread spins."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        machine = target.current().machine
        if machine in _PAUSE:
            name, hint = _PAUSE[machine]
            values = [ir.IntType(32)(number) for number in hint]
            kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)
        return context.get_dummy_value()

    return types.void(), lower


def make_clock() -> Any:
    """A clock for each of Numba's targets: what one of them has lowered, others do not find."""

    @intrinsic
    def clock(typing_context: Any) -> Any:
        """Nanoseconds since some moment, a few milliseconds coarse (jit/codegen/clock.py)."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = clocks.current()
            if found.number is None:
                kind = ir.FunctionType(_WORD, [])
                function = cgutils.get_or_insert_function(builder.module, kind, found.function)
                return builder.mul(builder.call(function, []), _WORD(found.unit))
            narrow = ir.IntType(32)
            kind = ir.FunctionType(narrow, [narrow, _WORD.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, kind, found.function)
            time = cgutils.alloca_once(builder, _WORD, 2)
            builder.call(function, [narrow(found.number), time])
            seconds, rest = builder.load(time), builder.load(builder.gep(time, [narrow(1)]))
            return builder.add(builder.mul(seconds, _WORD(1_000_000_000)), rest)

        return types.int64(), lower

    return clock


clock = make_clock()


@intrinsic
def futex(typing_context: Any, number: Any, address: Any, operation: Any, value: Any) -> Any:
    """Linux's futex system call (its number differs between processors) without a time limit."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD], var_arg=True)
        function = cgutils.get_or_insert_function(builder.module, kind, "syscall")
        zero = _WORD(0)
        return builder.call(function, [*args, zero, zero, zero])

    return types.int64(*[types.int64] * 4), lower


@intrinsic
def call_kernel(
    typing_context: Any, address: Any, args: Any, r0: Any, r1: Any, c0: Any, c1: Any, worker: Any
) -> Any:
    """Calls the machine code at an address with the arguments of a kernel."""

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_WORD.as_pointer(), *[_WORD] * 5])
        kernel = builder.inttoptr(values[0], kind.as_pointer())
        block = builder.inttoptr(values[1], _WORD.as_pointer())
        builder.call(kernel, [block, *values[2:]])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), lower
