# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors, which loops write and read by index.

An array is one block of the plan's memory, a row for each element, with a mark for each: 0 new,
1 written, 2 read and gone.  Those that grow are in jit/library/growing.py.  Imports the rest of
jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..kernel import ir, scalar, sizes
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import AnySize, Size, substituted
from ..program.editing import Program
from ..program.tensor_ir import (
    Iota,
    Map,
    Read,
    Register,
    Value,
    View,
    Write,
)
from . import arrays_kernels
from .growing import Growing
from .library_kernel import LibraryKernel
from .ragged_arrays import ENTRY, Pieces
from .stacks import handle_of
from .template import of_pairs
from .turns import of_turn

_TILE = 1 << 16  # bytes that make a worthwhile tile
_ADDED = ("float32", "float64", "int32", "int64", "complex64", "complex128")
Problem = Callable[..., BaseException]


def _read_kernel(is_plain: bool = False) -> LibraryKernel:
    return of_pairs("array_read", arrays_kernels.read, NUMBERS=is_plain)


def _whole_kernel(is_plain: bool = False) -> LibraryKernel:
    return of_pairs("put_whole", arrays_kernels.put_whole, NUMBERS=is_plain)


_PUT = {"write": arrays_kernels.write, "scatter": arrays_kernels.scatter}


def _put_kernel(how: str, adds: bool, is_plain: bool = False) -> LibraryKernel:
    return of_pairs(f"array_{how}", _PUT[how], ADDS=adds, NUMBERS=is_plain)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module: of these dtypes, and of counters and conditions."""
    for dtype in (*dtypes, "int32", "bool"):
        yield _read_kernel().over(["int32", dtype, "uint8", dtype, "bool"])
        yield _whole_kernel().over([dtype, dtype])
        for how in _PUT:
            for adds in (False, True) if dtype in _ADDED else (False,):
                yield _put_kernel(how, adds).over(["int32", dtype, dtype, "uint8", "bool"])
    # Of entries (jit/library/ragged_arrays.py).
    if "int64" not in dtypes:
        yield _read_kernel().over(["int32", "int64", "uint8", "int64", "bool"])
        for how in _PUT:
            yield _put_kernel(how, False).over(["int32", "int64", "int64", "uint8", "bool"])


class Array:
    """An array of tensors while it is traced: where it was made, and its memory once that is."""

    def __init__(
        self,
        b: Any,
        name: str,
        dtype: str,
        size: AnySize,
        shape: tuple[AnySize, ...] | None,
        clears: bool,
        is_alike: bool = True,
        adds: bool = False,
    ) -> None:
        """shape: of an element, if the graph states it; adds: a second write adds to the first.

        is_alike: all elements have one shape, so that those that were never written are zeros.
        """
        self.is_alike = is_alike
        self.b, self.guard, self.place = b, b.program.guard, b.place
        self.name, self.dtype, self.size = name, dtype, size
        self.stated = shape
        self.clears, self.adds = clears, adds
        self.shape: tuple[AnySize, ...] | None = None
        self.memory: Register | None = None
        self.marks: Register | None = None
        self.gradients: dict[str, Array] = {}
        # Of an array that grows: where its elements are until it is asked for as a whole.
        self.growing: Growing | None = None
        self.has_grown = False
        # Of gradients: each element of their source is read once at most.
        self.is_read_once = False
        # Of one that another loop makes in each turn: its memory holds what a later one wrote.
        # By the programs that know such an array of this one, that.
        self.is_elsewhere = False
        self.elsewhere: dict[Program, Array] = {}
        # Of one whose elements have other sizes each: these.
        self.pieces: Pieces | None = None

    def settle(self, b: Any, shape: tuple[AnySize, ...] | None = None) -> None:
        """Sees that there is memory, for elements of a shape."""
        shape = self.stated if shape is None else shape
        if self.is_elsewhere:
            raise b.host("an array of another turn is read or written")
        if self.shape is None:
            if shape is None:
                raise b.host("the shape of an array's elements is not known yet")
            if of_turn(b, shape, self.place):
                raise b.host("an array's elements are of another size in each turn")
            if self.stated is not None and not _equal(b, self.stated, shape):
                raise b.host("an array's element has another shape than stated")
            self.shape = shape
            if self.growing is not None:
                self.growing.size_elements(self.bytes)
                return
            self.memory = self._zeros(self.dtype, (self.size, *shape))
            self.marks = self._zeros("uint8", (self.size,))
        elif shape is not None and not _equal(b, self.shape, shape):
            raise b.host("an array's elements have different shapes")

    def hold(self, b: Any, rows: Value, marks: Value | None = None) -> None:
        """Has the elements be the rows of a tensor; marks: which are written, if not all."""
        if of_turn(b, rows.shape[1:], self.place):
            raise b.host("an array's elements are of another size in each turn")
        self.shape = rows.shape[1:]
        self.memory = self._kept(rows)
        self.marks = self._kept(b.full((self.size,), 1, "uint8") if marks is None else marks)

    def begin_growing(self, b: Any) -> None:
        """Has the array grow, from before anything is written to it."""
        if self.memory is not None or self.has_grown:
            raise b.host("an array grows that was written to")
        if self.b.outer is not None or self.guard or not b.may_measure:
            raise b.host("an array is made within a branch or loop, and grows")
        with self._where_it_was_made():
            self.growing = Growing(self.b, self.name, self.size)

    def in_pieces(self, b: Any, shape: Sequence[AnySize]) -> Pieces | None:
        """The pieces that elements are, if these have sizes of a turn, as one of this shape may."""
        is_settled = self.shape is not None or self.stated is not None
        if self.pieces is None and not is_settled and (self.is_read_once or not self.is_alike):
            if of_turn(b, shape[:1], self.place):
                self.break_up()
        return self.pieces

    def break_up(self) -> Pieces:
        """Has the elements be pieces of several sizes, from the beginning on."""
        shape, dtype = ENTRY
        with self._where_it_was_made():
            table = Array(self.b, self.name, dtype, self.size, shape, self.clears, self.adds)
            table.growing, table.guard, table.place = self.growing, self.guard, self.place
            self.pieces = Pieces(table, self.dtype, self.adds)
        return self.pieces

    def _zeros(self, dtype: str, shape: tuple[AnySize, ...]) -> Register:
        """New memory, made where the array was: perhaps outside of the loop that is traced now."""
        with self._where_it_was_made():
            return self._kept(self.b.full(shape, 0, dtype))

    def _kept(self, value: Value) -> Register:
        """Memory that begins with these contents."""
        program = self.b.program
        register = Register(self.name, value.dtype, value.shape, program)
        program.add(Write((value,), register), (value.dtype, value.shape))[0].cell = register
        return register

    def stop_growing(self, b: Any) -> None:
        """Gives an array that grew memory of the size that it has by now.

        Within a loop that does not write it that is the size from before.
        """
        if self.pieces is not None:
            self.pieces.table.stop_growing(b)
            self.size, self.growing = self.pieces.table.size, self.pieces.table.growing
        growing = self.growing
        if growing is None:
            return
        if growing.is_written_within(b, self.b.program):
            raise b.host("an array that grows is looked at as a whole in the loop that writes it")
        if self.shape is None:
            self.settle(b)
        with self._where_it_was_made():
            self.size, self.growing, self.has_grown = (
                self.b.measure(growing.count(self.b)),
                None,
                True,
            )
            assert self.shape is not None
            self.memory = self._zeros(self.dtype, (self.size, *self.shape))
            self.marks = self._zeros("uint8", (self.size,))
            given = [_now(self.b, self.memory), _now(self.b, self.marks)]
            growing.settle(self.b, given, self.bytes, (self.memory, self.marks))

    @contextmanager
    def _where_it_was_made(self) -> Iterator[None]:
        """What is added is added there: perhaps outside of the loop or branch traced now."""
        program = self.b.program
        before, program.guard = program.guard, self.guard
        yield
        program.guard = before

    @property
    def bytes(self) -> AnySize:
        """Of an element."""
        assert self.shape is not None
        return sizes.product(self.shape) * numpy_dtype(self.dtype).itemsize

    def sizes_of_turn(self) -> Sequence[AnySize]:
        """How many elements there are."""
        return (self.size,)

    def of_other_turn(self, b: Any) -> Array:
        """The array as the gradient's loop knows it: there are but its gradients.

        (What it held comes from stacks of its own.)
        """
        if self.growing is not None or self.has_grown or self.pieces is not None:
            raise b.host("an array that grew in another turn")
        found: Array | None = self.elsewhere.get(b.program)
        if found is None or not found.place <= b.place:
            shape = self.shape or self.stated or ()
            own = tuple(substituted(size, b.turn_sizes) for size in shape)
            is_known = (self.shape or self.stated) is not None and all(map(b.knows, own))
            size = substituted(self.size, b.turn_sizes)
            found = Array(b, self.name, self.dtype, size, own if is_known else None, self.clears)
            found.is_alike, found.is_elsewhere = self.is_alike, True
            self.elsewhere[b.program] = found
        return found

    def gradient(self, source: str) -> Array:
        """The array of its gradients for one call of tf.gradients."""
        found = self.gradients.get(source)
        if found is None:
            # Of a sum of several gradients each of them reads the gradient.
            name, clears = f"{self.name}@{source}", not self.adds
            found = Array(self.b, name, self.dtype, self.size, None, clears, adds=True)
            found.guard, found.place = self.guard, self.place
            found.stated = self.shape or self.stated
            found.is_read_once = self.clears
            self.gradients[source] = found
        return found


def _equal(b: Any, one: Sequence[AnySize], other: Sequence[AnySize]) -> bool:
    return len(one) == len(other) and all(map(b.equal, one, other))


def _now(b: Any, register: Register | None) -> Value:
    """The contents of a register, or its address."""
    assert register is not None
    home = register.home
    return b.program.add(Read(register), (home.dtype, home.shape))[0]  # type: ignore[no-any-return]


def contents(b: Any, array: Array) -> Value:
    """All elements of an array that does not grow, as they are now."""
    return _now(b, array.memory)


def marks_of(b: Any, array: Array) -> Value:
    """Their marks."""
    return _now(b, array.marks)


def size_of(b: Any, array: Array) -> Value:
    """How many elements an array has that does not grow."""
    return b.known_as(np.array(array.size, object), "int32")  # type: ignore[no-any-return]


def _flow(b: Any) -> Value:
    return b.constant(np.array(0, np.float32))  # type: ignore[no-any-return]


def make(
    b: Any,
    name: str,
    size: Value,
    dtype: str,
    shape: Sequence[int] | None,
    clears: bool,
    is_alike: bool,
    grows: bool = False,
) -> tuple[Value, Value]:
    """A new array, and the flow of it."""
    known = b.known(size)
    if known is None or size.ndim or not scalar.holds(dtype):
        raise b.host("an array's size or type is known only when it is made")
    count = known.item()
    if not isinstance(count, Size) and count < 0:
        raise b.host("an array of negative size")
    array = Array(b, name, dtype, count, None if shape is None else tuple(shape), clears, is_alike)
    if grows:
        if b.program.guard or not b.may_measure:
            raise b.host("an array is made within a branch or loop, and grows")
        array.growing = Growing(b, name, count)
    return handle_of(b, array), _flow(b)


def _array(b: Any, handle: Value) -> Array:
    """The array that a handle stands for."""
    if not isinstance(handle.cell, Array):
        raise b.host("the array is not one of this plan's")
    return handle.cell


def gradient(b: Any, handle: Value, source: str) -> tuple[Value, Value]:
    """The array of an array's gradients."""
    _array(b, handle).stop_growing(b)
    return handle_of(b, _array(b, handle).gradient(source)), _flow(b)


def size(b: Any, handle: Value) -> Value:
    """How many elements there are."""
    array = _array(b, handle)
    if array.growing is not None and (b.outer is not None or b.program.guard):
        return array.growing.count(b)
    array.stop_growing(b)
    return size_of(b, array)


def _in_numbers(b: Any, array: Array) -> bool:
    """Whether elements are copied number by number: on GPUs, where threads take one each."""
    return b.is_plain and "float16" not in array.dtype


def _numbers(array: Array) -> AnySize:
    """How many numbers an element has, of complex ones the parts."""
    return sizes.product(array.shape or ()) * (2 if scalar.is_complex(array.dtype) else 1)


def _tiles(array: Array, in_numbers: bool) -> dict[str, Any]:
    if in_numbers:
        count = _numbers(array)
        # (One less: a tile that is a number of the kernel's own is not cut into threads.)
        return {"columns": sizes.maximum(count, 1), "col_tile": _TILE // 4 - 1}
    return {"columns": sizes.maximum(array.bytes, 1), "col_tile": _TILE}


def read(b: Any, handle: Value, index: Value, dtype: str, problem: Problem) -> Value:
    """One element."""
    array = _of_type(b, handle, dtype)
    if array.pieces is not None:
        entry = _read(b, array.pieces.table, index, problem)
        return array.pieces.take(b, entry, index, problem)
    return _read(b, array, index, problem)


def _read(b: Any, array: Array, index: Value, problem: Problem) -> Value:
    value, bad = look(b, array, index)
    b.require_not(bad, problem, index)
    return value


def look(b: Any, array: Array, index: Value) -> tuple[Value, Value]:
    """One element, and whether it cannot be read."""
    array.settle(b)
    if index.ndim:
        raise b.host("an index that is no scalar")
    like = array.shape, array.dtype
    if array.growing is not None:
        about = array.bytes, array.clears, array.is_alike
        value, bad = array.growing.look(b, index, like, *about)
    else:
        in_numbers = _in_numbers(b, array)
        size = _numbers(array) if in_numbers else array.bytes
        value, bad = b.call(
            _read_kernel(in_numbers),
            [index, _now(b, array.memory), _now(b, array.marks)],
            [like, ((), "bool")],
            [size, array.size, int(array.clears)],
            writes=(array.marks,),
            **_tiles(array, in_numbers),
        )
    return value, bad


def write(b: Any, handle: Value, index: Value, value: Value, problem: Problem) -> Value:
    """Writes one element, or adds to it; returns the flow."""
    array = _array(b, handle)
    pieces = array.in_pieces(b, value.shape)
    if pieces is not None:
        array, value = pieces.table, pieces.keep(b, value)
    array.settle(b, value.shape)
    if index.ndim:
        raise b.host("an index that is no scalar")
    if array.growing is not None:
        _append(b, array, b.reshape(index, [1]), value, 1, problem)
    elif array.has_grown:
        raise b.host("an array grows again that was looked at")
    else:
        b.require_not(store(b, array, "write", index, value, array.adds), problem, index)
    return _flow(b)


def _append(
    b: Any, array: Array, indices: Value, rows: Value, count: AnySize, problem: Problem
) -> None:
    """Writes elements of an array that grows."""
    if rows.dtype != array.dtype:
        raise b.host(f"an array of {array.dtype} is given {rows.dtype}")
    assert array.growing is not None
    b.require_not(array.growing.append(b, indices, rows, array.bytes, count), problem, indices)


def adds_up(dtype: str) -> bool:
    """Is there a kernel that adds to an element of this type?"""
    return dtype in _ADDED


def store(b: Any, array: Array, how: str, index: Value, value: Value, adds: bool = False) -> Value:
    """Writes elements to their places, or adds to what is there; whether that must not be.

    how: "write", an element, or "scatter", rows.  It must not be where there is no such place, or
    the element was written before and this does not add; all the same it is written then.
    """
    if value.dtype != array.dtype or (adds and not adds_up(array.dtype)):
        raise b.host(f"an array of {array.dtype} is given {value.dtype}")
    in_numbers = _in_numbers(b, array)
    kernel = _put_kernel(how, adds, in_numbers)
    in_numbers = in_numbers or adds
    size = _numbers(array) if in_numbers else array.bytes
    (bad,) = b.call(
        kernel,
        [index, value, _now(b, array.memory), _now(b, array.marks)],
        [((), "bool")],
        [size, array.size, *([value.shape[0]] if how == "scatter" else [])],
        writes=(array.memory, array.marks),
        **_tiles(array, in_numbers),
    )
    return bad  # type: ignore[no-any-return]


def put_whole(b: Any, register: Register, value: Value) -> None:
    """Writes a value to memory of another symbolic shape, which is as large where this runs."""
    count = sizes.product(value.shape)
    in_numbers = b.is_plain and "float16" not in value.dtype
    if not in_numbers:
        count *= numpy_dtype(value.dtype).itemsize
    b.call(
        _whole_kernel(in_numbers),
        [value, _now(b, register)],
        [],
        [count],
        columns=sizes.maximum(count, 1),
        col_tile=_TILE,
        writes=(register,),
    )


def _of_type(b: Any, handle: Value, dtype: str) -> Array:
    array = _array(b, handle)
    if array.dtype != dtype:
        raise b.host(f"an array of {array.dtype} is asked for {dtype}")
    return array


def _whole(b: Any, array: Array) -> Array:
    """An array that is looked at as a whole."""
    if array.pieces is not None:
        raise b.host("pieces of several sizes are looked at as one tensor")
    array.stop_growing(b)
    return array


def gather(b: Any, handle: Value, indices: Value, dtype: str, problem: Problem) -> Value:
    """Several elements as one tensor."""
    array = _whole(b, _of_type(b, handle, dtype))
    array.settle(b)
    if indices.ndim != 1:
        raise b.host("indices that are no vector")
    if not array.is_alike:
        marks = b.gather(_now(b, array.marks), indices)
        missing = b.map(lambda mark: scalar.ne(mark, 1), marks)
        b.require_not(b.reduce("any", missing, None), problem, indices)
    if _are_all(indices, array.size):
        return _now(b, array.memory)
    return b.gather(_now(b, array.memory), indices)  # type: ignore[no-any-return]


def _are_all(indices: Value, count: AnySize) -> bool:
    """Are indices the whole numbers from zero to a count, one after the other?"""
    node = indices.node
    if not sizes.same(indices.shape[0], count):
        return False
    if isinstance(node, Map) and len(node.inputs) == 1:
        (expr,), node = node.exprs, node.inputs[0].node
        if not isinstance(expr, ir.Apply) or expr.fn != "cast":
            return False
        if not isinstance(expr.args[0], ir.Load):
            return False
    return isinstance(node, Iota)


def concat(b: Any, handle: Value, dtype: str, problem: Problem) -> tuple[Value, Value]:
    """All elements, one behind the other, and how many rows each has: all have the same number."""
    array = _of_type(b, handle, dtype)
    if array.pieces is not None:
        return array.pieces.join(b, _all(b, array.pieces.table, problem))
    value = _all(b, array, problem)
    if not array.shape:
        raise b.host("elements that are scalars are put behind one another")
    rows, *rest = array.shape
    value = b.reshape(value, (array.size * rows, *rest))
    return value, b.full((array.size,), b.known_as(np.array(rows, object), "int64"), "int64")


def _all(b: Any, array: Array, problem: Problem) -> Value:
    """All elements, which must have been written."""
    array.stop_growing(b)
    array.settle(b)
    marks, alike = _now(b, array.marks), array.is_alike
    refused = b.map(lambda mark: scalar.eq(mark, 2) if alike else scalar.ne(mark, 1), marks)
    b.require_not(b.reduce("any", refused, None), problem, marks)
    return _now(b, array.memory)


def split(b: Any, handle: Value, value: Value, lengths: Value, problem: Problem) -> Value:
    """Writes parts of a tensor to all elements; returns the flow."""
    if not value.ndim or lengths.ndim != 1:
        raise b.host("parts that are no rows")
    array, rows, count = _array(b, handle), _everywhere(lengths), lengths.shape[0]
    b.require(array.growing is not None or b.equal(array.size, count))
    if rows is None or array.pieces is not None:
        array, parts = _cut(b, array, value, lengths)
    else:
        b.require(b.equal(value.shape[0], count * rows))
        parts = b.reshape(value, (count, rows, *value.shape[1:]))
    return _scatter(b, array, b.iota([count], 0, "int32"), parts, problem)


def _cut(b: Any, array: Array, value: Value, lengths: Value) -> tuple[Array, Value]:
    """The entries of parts of several sizes, and the table of them."""
    if array.pieces is None:
        if array.shape is not None or array.stated is not None:
            raise b.host("parts of several sizes")
        array.break_up()
    assert array.pieces is not None
    return array.pieces.table, array.pieces.cut(b, value, b.cast(lengths, "int64"))


def _everywhere(lengths: Value) -> AnySize | None:
    """The number that all elements are, if that is known."""
    node = lengths.node
    if lengths.known is not None:
        numbers = list(lengths.known.flat)
        return numbers[0] if numbers and all(sizes.same(n, numbers[0]) for n in numbers) else None
    if isinstance(node, View) and node.inputs[0].known is not None:
        return _everywhere(node.inputs[0])
    return None


def scatter(b: Any, handle: Value, indices: Value, value: Value, problem: Problem) -> Value:
    """Writes rows of a tensor to several elements; returns the flow."""
    array = _array(b, handle)
    if array.pieces is not None:
        raise b.host("pieces of several sizes are scattered")
    return _scatter(b, array, indices, value, problem)


def _scatter(b: Any, array: Array, indices: Value, value: Value, problem: Problem) -> Value:
    if indices.ndim != 1 or not value.ndim or not b.equal(indices.shape[0], value.shape[0]):
        raise b.host("rows and indices that do not belong together")
    array.settle(b, value.shape[1:])
    if array.has_grown:
        raise b.host("an array grows again that was looked at")
    if array.growing is not None:
        _append(b, array, indices, value, value.shape[0], problem)
    else:
        b.require_not(store(b, array, "scatter", indices, value, array.adds), problem, indices)
    return _flow(b)
