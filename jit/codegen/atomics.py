# SPDX-License-Identifier: Apache-2.0
"""Atomic operations on int64 words in memory, futexes, a clock, and calls of code by address.

For the thread pool's text (jit/runtime/thread_pool.py).  Sequentially consistent throughout.
Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .. import target
from . import clock as clocks
from .numbers import word
from .words import WORD, Kind, Word, function

# The strongest order: the pool's text was reasoned about as if threads took turns, and a few
# nanoseconds a task are nothing beside it.
_ORDER = "seq_cst"
_NARROW = ir.IntType(32)
# The pause instruction keeps a spinning thread from slowing down its neighbour: LLVM's name for it
# and, on Arm, the number of the hint.
_PAUSE = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
}


def _word(name: str, arity: int, result: Kind, code: Callable[..., Any]) -> Word:
    """A word for whole numbers, whose code gets them as 64 bits."""

    def written(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> Any:
        return code(b, *(word(b, kind, value) for kind, value in zip(kinds, values, strict=True)))

    return Word(name, arity, lambda *kinds: result, written)


def _at(b: ir.IRBuilder, address: Any) -> Any:
    return b.inttoptr(address, WORD.as_pointer())


def _load(b: ir.IRBuilder, address: Any) -> Any:
    """The word at an address."""
    return b.load_atomic(_at(b, address), _ORDER, 8)


def _store(b: ir.IRBuilder, address: Any, value: Any) -> None:
    """Puts a word at an address."""
    b.store_atomic(value, _at(b, address), _ORDER, 8)


def _add(b: ir.IRBuilder, address: Any, value: Any) -> Any:
    """Adds to the word at an address; gives what was there before."""
    return b.atomic_rmw("add", _at(b, address), value, _ORDER)


def _swap(b: ir.IRBuilder, address: Any, value: Any) -> Any:
    """Puts a word at an address; gives what was there before."""
    return b.atomic_rmw("xchg", _at(b, address), value, _ORDER)


def _take_if_zero(b: ir.IRBuilder, address: Any) -> Any:
    """Changes the word at an address from 0 to 1; 1 when it did, 0 when the word was not 0."""
    pair = b.cmpxchg(_at(b, address), WORD(0), WORD(1), _ORDER, _ORDER)
    return b.zext(b.extract_value(pair, 1), WORD)


def _pause(b: ir.IRBuilder) -> None:
    """Tells the processor that the thread spins."""
    machine = target.current().machine
    if machine in _PAUSE:
        name, hint = _PAUSE[machine]
        values = [_NARROW(number) for number in hint]
        b.call(function(b, name, ir.VoidType(), [value.type for value in values]), values)


def _clock(b: ir.IRBuilder) -> Any:
    """Nanoseconds since some moment, a few milliseconds coarse (jit/codegen/clock.py)."""
    found = clocks.current()
    if found.number is None:
        return b.mul(b.call(function(b, found.function, WORD, []), []), WORD(found.unit))
    with b.goto_entry_block():
        time = b.alloca(WORD, 2)
    code = function(b, found.function, _NARROW, [_NARROW, WORD.as_pointer()])
    b.call(code, [_NARROW(found.number), time])
    seconds, rest = b.load(time), b.load(b.gep(time, [_NARROW(1)]))
    return b.add(b.mul(seconds, WORD(1_000_000_000)), rest)


def _futex(b: ir.IRBuilder, *values: Any) -> Any:
    """Linux's futex system call (its number differs between processors) without a time limit."""
    zero = WORD(0)
    return b.call(function(b, "syscall", WORD, [WORD], True), [*values, zero, zero, zero])


def _call_kernel(b: ir.IRBuilder, address: Any, args: Any, *rest: Any) -> None:
    """Calls the machine code at an address with the arguments of a kernel."""
    kind = ir.FunctionType(ir.VoidType(), [WORD.as_pointer(), *[WORD] * 5])
    b.call(b.inttoptr(address, kind.as_pointer()), [_at(b, args), *rest])


CALL_KERNEL = _word("call_kernel", 7, None, _call_kernel)
CLOCK = _word("clock", 0, "int64", _clock)
WORDS = (
    CALL_KERNEL,
    CLOCK,
    _word("atomic_load", 1, "int64", _load),
    _word("atomic_store", 2, None, _store),
    _word("atomic_add", 2, "int64", _add),
    _word("atomic_swap", 2, "int64", _swap),
    _word("take_if_zero", 1, "int64", _take_if_zero),
    _word("pause", 0, None, _pause),
    _word("futex", 4, "int64", _futex),
)
