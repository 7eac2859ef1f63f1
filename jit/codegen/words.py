# SPDX-License-Identifier: Apache-2.0
"""The words of generated kernels: for each, what it takes, what it gives, and its LLVM code.

Every primitive of jit/kernel/scalar.py is branch-free LLVM code (jit/codegen/llvm_scalar.py), so
that LLVM vectorises the loops around it.  Values of 16-bit floats live in float32 and are rounded
back after every operation.  Memory is addressed by addresses with a dtype and element indices:
what is loaded has the dtype of the memory, and nothing else can be stored there.
Imports llvmlite alone; Numba gets the words from jit/codegen/intrinsics.py.

The vocabulary, as kernels see it (D is a dtype name):
  add(x, y) … every primitive of the scalar table, arguments of one type
  cast_D(x), round_D(x) for D in float16, bfloat16            load(base, i), store(base, i, value)
  accumulate_add, accumulate_mul, accumulate_max, accumulate_min (acc, x): may be reordered
  stack_D(count) -> address of a block of the frame; count must be a literal
  turn(target, i, pitch, source, j, stride, ahead): a square of SQUARE rows and columns is
    transposed, from rows that begin at j and are `stride` apart to rows that begin at i, `pitch`
    apart; what lies `ahead` of the source, and will be asked for later, is called for
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Union

from llvmlite import ir

from ...engine.record_class import record
from ..kernel.grain import SQUARE
from ..kernel.scalar import COMPILED_DTYPES, PRIMITIVES
from . import llvm_scalar, transcendental
from .llvm_scalar import GROUP, Emitter

LOWERINGS = {**llvm_scalar.PRIMITIVES, **transcendental.FUNCTIONS}
# At import, so that a new primitive without code is found by whoever adds it.
_COMPILED = [name for name, primitive in PRIMITIVES.items() if primitive.kinds and name != "cast"]
_FORGOTTEN = set(_COMPILED) - LOWERINGS.keys()
if _FORGOTTEN:
    raise TypeError(f"primitives without LLVM code: {', '.join(sorted(_FORGOTTEN))}")
# Every sum, product and quotient of two 16-bit floats that is computed in float32 and rounded again
# is what it would be if it were rounded once: float32 has more than twice the digits.
HELD_IN = {dtype: "float32" if "float16" in dtype else dtype for dtype in COMPILED_DTYPES}
WORD = ir.IntType(64)


@record(frozen=True, slots=True)
class Address:
    """The kind of an address: what lies there are elements of a dtype.

    `space` is LLVM's address space, 0 on processors; `is_constant` promises that nothing is stored
    there as long as the kernel runs.
    """

    dtype: str
    space: int = 0
    is_constant: bool = False

    def __str__(self) -> str:
        return f"Address({self.dtype})"


@record(frozen=True, slots=True)
class Pointer:
    """The kind of a pointer: texts written by hand index it for elements of a dtype."""

    dtype: str

    def __str__(self) -> str:
        return f"Pointer({self.dtype})"


@record(frozen=True, slots=True)
class Text:
    """The kind of a literal string, which is all that there is of it."""

    value: str

    def __str__(self) -> str:
        return repr(self.value)


@record(frozen=True, slots=True)
class Several:
    """The kind of a tuple."""

    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.kinds))})"


# What a value is: the dtype that it is held in, an address, or nothing; of texts written by hand
# also a pointer, a literal string or a tuple.
Kind = Union[str, Address, Pointer, Text, Several, None]
ARGUMENTS = "arguments"  # the kind of the argument block


class Unfit(Exception):
    """Arguments that do not fit: the access or operation, and the rule that it breaks.

    `line` is that of the text, where there is one.
    """

    line = 0


@record(frozen=True, slots=True)
class Word:
    """A name that generated kernels call.

    result  the kind of the result, given the kinds of the arguments; raises Unfit
    code    writes LLVM code, given a builder, the kinds and the values of the arguments, where
            literal numbers are LLVM's constants
    """

    name: str
    arity: int
    result: Callable[..., Kind]
    code: Callable[[Any, tuple[Kind, ...], tuple[Any, ...]], Any]


@cache
def table() -> dict[str, Word]:
    """All words by name."""
    words = [_primitive(name) for name in _COMPILED]
    for dtype in sorted(COMPILED_DTYPES):
        words += [_cast(dtype), _stack(dtype)]
    words += [_round("float16"), _round("bfloat16")]
    words += [_accumulate(name) for name in ("add", "mul", "max", "min")]
    words += [Word("load", 2, _loaded, _load), Word("store", 3, _stored, _store)]
    words.append(Word("turn", 7, _turned, _turn))
    return {word.name: word for word in words}


def _primitive(name: str) -> Word:
    primitive = PRIMITIVES[name]

    def result(*kinds: Kind) -> Kind:
        of_one_kind(name, *(kinds[1:] if primitive.result == "branch" else kinds))
        return "bool" if primitive.result == "bool" else kinds[-1]

    def code(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        return LOWERINGS[name](Emitter(builder, kinds[-1]), *values)

    return Word(name, primitive.arity, result, code)


def _cast(dtype: str) -> Word:
    def code(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        return llvm_scalar.cast(Emitter(builder, kinds[0]), values[0], dtype)

    return Word(f"cast_{dtype}", 1, lambda x: HELD_IN[dtype], code)


def _round(dtype: str) -> Word:
    def code(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        return llvm_scalar.round_half(Emitter(builder, "float32"), values[0], dtype)

    return Word(f"round_{dtype}", 1, lambda x: of_one_kind(f"round_{dtype}", x, "float32"), code)


def _accumulate(name: str) -> Word:
    # Words of their own, as only sums and extremes of reductions may be reordered (in vectors side
    # by side, whose number follows from the target): what the program adds is added as it says.
    word = f"accumulate_{name}"

    def code(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        return llvm_scalar.accumulate(Emitter(builder, kinds[0]), name, *values)

    return Word(word, 2, lambda x, y: of_one_kind(word, x, y), code)


def _stack(dtype: str) -> Word:
    def code(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        with builder.goto_entry_block():
            # At the entry of the function, so that a loop around the word does not take more each
            # turn; on a cache line of its own, which vectors do not cross.
            kind = ir.ArrayType(Emitter(builder, dtype).memory, values[0].constant)
            block = builder.alloca(kind)
            block.align = 64
        return builder.ptrtoint(block, WORD)

    return Word(f"stack_{dtype}", 1, lambda count: Address(dtype), code)


def function(
    b: ir.IRBuilder, name: str, result: Any, arguments: list[Any], var_arg: bool = False
) -> Any:
    """A function of another module, declared once."""
    known = b.module.globals.get(name)
    kind = ir.FunctionType(result, arguments, var_arg=var_arg)
    return known if known is not None else ir.Function(b.module, kind, name)


def of_one_kind(name: str, *kinds: Kind) -> Kind:
    """The kind of several arguments that have to have the same."""
    if len(set(kinds)) > 1:
        raise Unfit(f"{name} of {', '.join(map(str, kinds))}: arguments are of one type")
    return kinds[0]


def dtype_at(access: str, base: Kind) -> str:
    """What lies where something is accessed."""
    if not isinstance(base, Address):
        raise Unfit(f"{access} at {base}: memory is accessed by addresses with a dtype")
    return base.dtype


def of_one_dtype(access: str, *bases: Kind) -> str:
    """What lies at several addresses, which have to have the same dtype."""
    # A copy between dtypes would be one of other bytes than whoever wrote it meant.
    dtypes = {dtype_at(access, base) for base in bases}
    if len(dtypes) > 1:
        rule = "memory is accessed in its own dtype"
        raise Unfit(f"{access} of {' and '.join(sorted(dtypes))}: {rule}")
    return dtypes.pop()


def element_bytes(builder: ir.IRBuilder, dtype: str) -> int:
    """The bytes of an element in memory."""
    return Emitter(builder, dtype).bytes


def _loaded(base: Kind, i: Kind) -> Kind:
    return HELD_IN[dtype_at("load", base)]


def _stored(base: Kind, i: Kind, value: Kind) -> Kind:
    dtype = dtype_at("store", base)
    if value != HELD_IN[dtype]:
        raise Unfit(f"store of {value} into {dtype}: memory is accessed in its own dtype")
    return None


def _load(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    e = Emitter(builder, kinds[0].dtype)
    value = _marked(builder.load(_element(e, kinds[0].space, *values)), e)
    if kinds[0].is_constant:
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return llvm_scalar.from_memory(e, value)


def _store(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    e = Emitter(builder, kinds[0].dtype)
    place = _element(e, kinds[0].space, *values[:2])
    return _marked(builder.store(llvm_scalar.to_memory(e, values[2]), place), e)


def _element(e: Emitter, space: int, base: Any, index: Any) -> Any:
    # Addresses are whole numbers until they are used, so that the text may do arithmetic with them
    # and LLVM sees one pointer and one index.
    return e.b.gep(e.b.inttoptr(base, e.memory.as_pointer(space)), [index])


def _marked(access: Any, e: Emitter) -> Any:
    # Elements are aligned to themselves, nothing more: views begin anywhere. The group says that
    # turns of a loop do not touch what others write; the schedule sees to that (an update in place
    # reads an element only in the turn that writes it), or LLVM would compare addresses before each
    # loop.
    access.align = e.bytes
    access.set_metadata("llvm.access.group", e.b.module.add_metadata([GROUP]))
    return access


def _turned(target: Kind, i: Kind, pitch: Kind, source: Kind, *rest: Kind) -> None:
    of_one_dtype("turn", target, source)


def _turn(builder: ir.IRBuilder, kinds: tuple[Any, ...], values: tuple[Any, ...]) -> None:
    e = Emitter(builder, kinds[0].dtype)
    vector = ir.VectorType(e.memory, SQUARE).as_pointer()
    target, i, pitch, source, j, stride, ahead = values

    def row(base: Any, first: Any, number: int, step: Any) -> Any:
        return _element(e, 0, base, builder.add(first, builder.mul(step, WORD(number))))

    starts = [row(source, j, number, stride) for number in range(SQUARE)]
    rows = [builder.load(builder.bitcast(start, vector)) for start in starts]
    for start, each in zip(starts, rows):
        each.align = e.bytes
        _call_for(builder, builder.gep(start, [ahead]))
    for number, each in enumerate(transposed(builder, rows)):
        place = builder.bitcast(row(target, i, number, pitch), vector)
        builder.store(each, place).align = e.bytes


def _call_for(builder: ir.IRBuilder, place: Any) -> None:
    """Has memory on its way to a second-level cache, wherever it is: nothing is read."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kinds = [byte, number, number, number]
    code = function(builder, "llvm.prefetch.p0i8", ir.VoidType(), kinds)
    is_write, locality, is_data = number(0), number(2), number(1)
    builder.call(code, [builder.bitcast(place, byte), is_write, locality, is_data])


def transposed(builder: ir.IRBuilder, rows: list[Any]) -> list[Any]:
    """As many vectors as each has lanes, transposed in place by butterflies: the off-diagonal
    halves of ever smaller squares are swapped."""
    count = len(rows)
    half = count // 2
    while half:
        # Lane j of the low row: its own where bit `half` of j is clear, else the high row's lane.
        low = [j if not j & half else count + j - half for j in range(count)]
        high = [j + half if not j & half else count + j for j in range(count)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), count), lanes) for lanes in (low, high)]
        for i in range(count):
            if not i & half:
                a, b = rows[i], rows[i + half]
                rows[i] = builder.shuffle_vector(a, b, masks[0])
                rows[i + half] = builder.shuffle_vector(a, b, masks[1])
        half //= 2
    return rows
