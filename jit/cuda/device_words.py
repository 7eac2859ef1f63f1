# SPDX-License-Identifier: Apache-2.0
"""The words of CUDA kernels beside those of all (jit/codegen/words.py), and their LLVM code.

  block_x(), block_y(), blocks_x(), blocks_y()   where a block is in the grid; the grid's extents
  lane(), lanes(), line(), lines()               where a thread is in its block; the block's
  layer(), layers()                              the same along the third side
  warp(), warps()                                warps of lanes in a line: which, and how many
  barrier()                                      all threads of the block have come so far
  shuffled(x, n)                                 what the lane has whose number differs in bit n
  shared_D(count) -> address                     memory that the threads of a block share
  load_ordered(base, i), store_ordered(base, i, value)
                                                 as load and store, in loops whose turns see what
                                                 earlier ones stored
  count_up(base, i, x)                           adds to a whole number that other threads add to;
                                                 whole numbers have one sum in any order
  float_as_bits(x)                               the bits of a float, without a sign
  fused(x, y, z)                                 x * y + z, rounded once

There are two sets: on_gpu() for a GPU, and alone() for processors, where a block is one thread and
the grid one block, which by the rules of jit/cuda/block_emit.py gives all results.  Imports
llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir

from ..codegen import vocabulary, words
from ..codegen.llvm_scalar import Emitter, from_memory, to_memory
from ..codegen.words import WORD, Address, Kind, Unfit, Word
from ..kernel.scalar import COMPILED_DTYPES

GLOBAL, SHARED = 1, 3  # address spaces of NVPTX
_HALF = ir.IntType(32)
Kinds = tuple[Any, ...]
Values = tuple[Any, ...]

_REGISTERS = {
    "block_x": "ctaid.x",
    "block_y": "ctaid.y",
    "blocks_x": "nctaid.x",
    "blocks_y": "nctaid.y",
    "lane": "tid.x",
    "lanes": "ntid.x",
    "line": "tid.y",
    "lines": "ntid.y",
    "layer": "tid.z",
    "layers": "ntid.z",
}
_WARP_BITS = 5
_COUNTS = ("int32", "int64")


@cache
def on_gpu() -> dict[str, Word]:
    """All words of a kernel for a GPU."""
    found = [_register(word, register) for word, register in _REGISTERS.items()]
    found += [Word("warp", 0, _number, _warp), Word("warps", 0, _number, _warps)]
    found += [Word("barrier", 0, _nothing, _barrier), Word("shuffled", 2, _exchanged, _shuffle)]
    found += [_shared(dtype) for dtype in sorted(COMPILED_DTYPES)]
    found += [*_PLAIN, Word("count_up", 3, _counted, _count_up)]
    return {**words.table(), **{word.name: word for word in found}}


@cache
def alone() -> dict[str, Word]:
    """The same words where one thread is all there is."""
    table = words.table()
    found = [*_PLAIN, Word("count_up", 3, _counted, _count_alone)]
    found += [_constant(word, word.endswith("s") or "s_" in word) for word in _REGISTERS]
    found += [_constant("warp", 0), _constant("warps", 1)]
    found.append(Word("barrier", 0, _nothing, lambda b, kinds, values: None))
    found.append(Word("shuffled", 2, _exchanged, lambda b, kinds, values: values[0]))
    for dtype in sorted(COMPILED_DTYPES):
        block = table[f"stack_{dtype}"]
        found.append(Word(f"shared_{dtype}", 1, block.result, block.code))
    return {**table, **{word.name: word for word in found}}


def _fuse(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    return Emitter(b, kinds[0]).call("fma", *values)


def _number() -> Kind:
    return "int64"


def _nothing() -> Kind:
    return None


def _exchanged(value: Kind, distance: Kind) -> Kind:
    if not isinstance(value, str):
        raise Unfit(f"shuffled of {value}: lanes exchange numbers")
    return value


def _load(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    e = Emitter(b, kinds[0].dtype)
    value = b.load(_element(e, kinds[0].space, *values))
    value.align = e.bytes
    return from_memory(e, value)


def _store(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    e = Emitter(b, kinds[0].dtype)
    place = _element(e, kinds[0].space, *values[:2])
    b.store(to_memory(e, values[2]), place).align = e.bytes


def _element(e: Emitter, space: int, base: Any, index: Any) -> Any:
    return e.b.gep(e.b.inttoptr(base, e.memory.as_pointer(space)), [index])


def _counted(base: Kind, i: Kind, value: Kind) -> Kind:
    dtype = words.dtype_at("count_up", base)
    if dtype not in _COUNTS or value != dtype:
        raise Unfit(f"count_up of {value} at {base}: counts are {' or '.join(_COUNTS)}")
    return None


def _count_up(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    place = _element(Emitter(b, kinds[0].dtype), kinds[0].space, *values[:2])
    # Nobody reads a count before a barrier or the next kernel.
    b.atomic_rmw("add", place, values[2], "monotonic")


def _count_alone(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    _store(b, kinds, (*values[:2], b.add(_load(b, kinds[:2], values[:2]), values[2])))


_LOAD = Word("load_ordered", 2, words.table()["load"].result, _load)
_STORE = Word("store_ordered", 3, words.table()["store"].result, _store)
_FUSED = Word("fused", 3, lambda *kinds: words.of_one_kind("fused", *kinds), _fuse)
_PLAIN = (_FUSED, _LOAD, _STORE, vocabulary.table()["float_as_bits"])


def _constant(name: str, value: int) -> Word:
    return Word(name, 0, _number, lambda b, kinds, values: WORD(int(value)))


def _read(b: ir.IRBuilder, register: str) -> Any:
    symbol = f"llvm.nvvm.read.ptx.sreg.{register}"
    return b.zext(b.call(words.function(b, symbol, _HALF, []), []), WORD)


def _register(name: str, register: str) -> Word:
    return Word(name, 0, _number, lambda b, kinds, values: _read(b, register))


def _warp(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    return b.lshr(_read(b, "tid.x"), WORD(_WARP_BITS))


def _warps(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    return b.lshr(_read(b, "ntid.x"), WORD(_WARP_BITS))


def _barrier(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    symbol = "llvm.nvvm.barrier.cta.sync.aligned.all"
    b.call(words.function(b, symbol, ir.VoidType(), [_HALF]), [_HALF(0)])


def _shuffle(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    """The value by halves of 32 bits, which is what the instruction moves."""
    value, distance = values
    e = Emitter(b, kinds[0])
    whole = ir.IntType(e.wide)
    raw = b.bitcast(value, whole) if e.is_float else value
    if e.wide <= 32:
        moved = _narrowed(b, _moved(b, _widened(b, raw), distance), whole)
    else:
        halves = b.trunc(raw, _HALF), b.trunc(b.lshr(raw, whole(32)), _HALF)
        low, high = (b.zext(_moved(b, half, distance), whole) for half in halves)
        moved = b.or_(low, b.shl(high, whole(32)))
    return b.bitcast(moved, e.type) if e.is_float else moved


def _widened(b: ir.IRBuilder, raw: Any) -> Any:
    return raw if raw.type == _HALF else b.zext(raw, _HALF)


def _narrowed(b: ir.IRBuilder, moved: Any, kind: Any) -> Any:
    return moved if kind == _HALF else b.trunc(moved, kind)


def _moved(b: ir.IRBuilder, half: Any, distance: Any) -> Any:
    # All lanes of a warp take part: lines of several lanes are whole warps (launching.py).
    function = words.function(b, "llvm.nvvm.shfl.sync.bfly.i32", _HALF, [_HALF] * 4)
    number = ir.Constant(_HALF, distance.constant)
    return b.call(function, [_HALF(-1), half, number, _HALF(31)])


def _shared(dtype: str) -> Word:
    def code(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
        kind = ir.ArrayType(Emitter(b, dtype).memory, values[0].constant)
        block = ir.GlobalVariable(b.module, kind, b.module.get_unique_name("shared"), SHARED)
        block.linkage, block.align = "internal", 16
        block.initializer = ir.Constant(kind, ir.Undefined)
        return b.ptrtoint(block, WORD)

    result: Callable[..., Kind] = lambda count: Address(dtype, SHARED)  # noqa: E731
    return Word(f"shared_{dtype}", 1, result, code)
