# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors whose elements have other numbers of rows each, as in turns of a loop.

The rows lie in a stack of bytes, in the order they were written in; the array itself has an entry
for each element, which tells where its rows are (ragged_arrays_kernels.py).  Imports the rest of
jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..kernel import scalar, sizes
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import AnySize
from ..program.tensor_ir import GrowableStack, Value
from . import ragged_arrays_kernels
from .library_kernel import LibraryKernel
from .stacks import clear, reserve
from .template import of_pairs
from .turns import of_turn

if TYPE_CHECKING:
    from .arrays import Array

_KEEP = partial(of_pairs, "pieces_keep", ragged_arrays_kernels.keep)
_TAKE = partial(of_pairs, "pieces_take", ragged_arrays_kernels.take)
_JOIN = partial(of_pairs, "pieces_join", ragged_arrays_kernels.join)
_CUT = partial(of_pairs, "pieces_cut", ragged_arrays_kernels.cut)
# The shape and the type of an entry.
ENTRY = ((3,), "int64")


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module: of these dtypes, and of counters and conditions."""
    for dtype in dict.fromkeys((*dtypes, "int32", "int64", "bool")):
        yield _KEEP().over([dtype, "int64"])
        for made in (_TAKE, _JOIN):
            yield made().over(["int64", dtype])
        yield _CUT().over([dtype, "int64", "int64", "bool"])


class Pieces:
    """The elements of an array, as pieces of rows; `table` has their entries."""

    def __init__(self, table: Array, dtype: str, once: bool) -> None:
        """once: what is written a second time would have to be added to the first."""
        self.table, self.dtype, self._once = table, dtype, once
        self._rest: tuple[AnySize, ...] | None = None
        self._writers: set[Any] = set()
        self._stack = GrowableStack(table.name, table.b.program, table.place)
        self._stack.bytes = 1
        clear(table.b, self._stack)

    def _fit(self, b: Any, shape: Sequence[AnySize]) -> AnySize:
        """Sees that rows have a shape, which all have; the bytes of one."""
        if self._rest is None:
            if of_turn(b, shape, self.table.place):
                raise b.host("the rows of an array's elements are of another size in each turn")
            self._rest = tuple(shape)
        if len(shape) != len(self._rest) or not all(map(b.equal, self._rest, shape)):
            raise b.host("the rows of an array's elements have different shapes")
        return sizes.product(shape) * numpy_dtype(self.dtype).itemsize

    def _call(self, b: Any, kernel: LibraryKernel, *given: Any, grows: bool = False) -> Any:
        stack = self._stack
        return b.call(kernel, *given, writes=(stack,), stack=stack, grows=grows)

    def _writes(self, b: Any, value: Value) -> AnySize:
        """Says that an operation writes a value, and has room for it; the bytes of a row."""
        if value.dtype != self.dtype:
            raise b.host(f"an array of {self.dtype} is given {value.dtype}")
        self._writers.add(b.program.origin)
        if self._once and len(self._writers) > 1:
            raise b.host("pieces of several sizes are added up")
        row = self._fit(b, value.shape[1:])
        reserve(b, self._stack, value.shape[0] * row)
        return row

    def keep(self, b: Any, value: Value) -> Value:
        """The entry of a new piece."""
        row, rows = self._writes(b, value), value.shape[0]
        given = [value], [ENTRY], [rows * row, rows]
        return self._call(b, _KEEP(), *given, grows=True)[0]  # type: ignore[no-any-return]

    def take(self, b: Any, entry: Value, index: Value, problem: Callable[..., Any]) -> Value:
        """The piece of an entry; what was not written must not be read."""
        if self._rest is None:
            raise b.host("the shape of an array's elements is not known yet")
        start = b.reshape(b.slice(entry, [0], [1]), [])
        b.require_not(b.map(lambda number: scalar.eq(number, 0), start), problem, index)
        rows = b.measure(b.reshape(b.slice(entry, [2], [1]), []))
        row = self._fit(b, self._rest)
        made = [((rows, *self._rest), self.dtype)]
        return self._call(b, _TAKE(), [entry], made, [rows * row])[0]  # type: ignore[no-any-return]

    def join(self, b: Any, entries: Value) -> tuple[Value, Value]:
        """All pieces, one behind the other, and how many rows each has."""
        if self._rest is None:
            raise b.host("the shape of an array's elements is not known yet")
        count = entries.shape[0]
        lengths = b.reshape(b.slice(entries, [0, 2], [count, 1]), [count])
        total = b.measure(b.reduce("sum", lengths, None))
        made = [((total, *self._rest), self.dtype)]
        return self._call(b, _JOIN(), [entries], made, [count])[0], lengths

    def cut(self, b: Any, value: Value, lengths: Value) -> Value:
        """The entries of parts of a value, of so many rows each; takes for granted that these are
        all rows."""
        count, rows = lengths.shape[0], value.shape[0]
        row = self._writes(b, value)
        made = [((count, 3), "int64"), ((), "bool")]
        given = [value, lengths], made, [row, rows, count]
        entries, is_wrong = self._call(b, _CUT(), *given, grows=True)
        b.assume(is_wrong)
        return entries  # type: ignore[no-any-return]
