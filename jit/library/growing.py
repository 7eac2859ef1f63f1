# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors that grow while loops run: stacks of marked items (growing_kernels.py).

Elements are written and read where they are, within loops too.  What needs the array as a whole,
or its number of elements as a size, has it settle: its elements move to memory of the size that
there is by then, behind all loops that write.  Imports the rest of jit's IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, Size
from ..program.tensor_ir import GrowableStack, Register, Value
from . import growing_kernels
from .library_kernel import LibraryKernel
from .template import of_pairs

if TYPE_CHECKING:
    from ..program.editing import Program

_FORGET = partial(of_pairs, "array_forget", growing_kernels.forget)
_REACH = partial(of_pairs, "array_reach", growing_kernels.reach)
_BEGIN = partial(of_pairs, "array_begin", growing_kernels.begin)
_APPEND = partial(of_pairs, "array_append", growing_kernels.append)
_LOOK = partial(of_pairs, "array_look", growing_kernels.look)
# How many items a stack has, any stack.
COUNT = partial(of_pairs, "array_count", growing_kernels.count)
_SETTLE = partial(of_pairs, "array_settle", growing_kernels.settle)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module: of these dtypes, and of counters and conditions."""
    yield from (_FORGET().over(()), _BEGIN().over(()), COUNT().over(["int32"]))
    yield _REACH().over(["int32"])
    for dtype in (*dtypes, "int32", "bool"):
        yield _APPEND().over(["int32", dtype, "bool"])
        yield _LOOK().over(["int32", dtype, "bool"])
        yield _SETTLE().over([dtype, "uint8"])


class Growing:
    """The elements of an array that grows: the stack that has them, and the programs that write."""

    def __init__(self, b: Any, name: str, first: AnySize) -> None:
        """first: how many elements there are before any is written."""
        self.stack = GrowableStack(name, b.program, b.place)
        self.writers: list[Program] = []
        self._call(b, _FORGET(), [], [], [])
        if isinstance(first, Size) or first:
            last = b.known_as(np.array([first - 1], object), "int32")
            self._call(b, _REACH(), [last], [], [1])
            self._call(b, _BEGIN(), [], [], [], grows=True)

    def _call(
        self,
        b: Any,
        kernel: LibraryKernel,
        inputs: Sequence[Value],
        outputs: Sequence[tuple[Sequence[AnySize], str]],
        params: Sequence[AnySize],
        grows: bool = False,
        writes: Sequence[Any] = (),
    ) -> tuple[Value, ...]:
        stack = self.stack
        return b.call(  # type: ignore[no-any-return]
            *(kernel, inputs, outputs, params),
            writes=(stack, *writes),
            stack=stack,
            grows=grows,
        )

    def size_elements(self, count: AnySize) -> None:
        """Says how many bytes an element has."""
        # A mark of 8 bytes, and the next item begins on a multiple of 8 again.
        self.stack.bytes = 8 + (count + 7) // 8 * 8

    def append(
        self, b: Any, indices: Value, rows: Value, element: AnySize, count: AnySize
    ) -> Value:
        """Writes elements of so many bytes; whether that must not be."""
        self.writers.append(b.program)
        self._call(b, _REACH(), [indices], [], [count])
        given, flag = [indices, rows], [((), "bool")]
        return self._call(b, _APPEND(), given, flag, [element, count], grows=True)[0]

    def extend(self, b: Any, count: Value) -> None:
        """Has so many elements, no fewer than there are, the further ones new."""
        self.writers.append(b.program)
        last = b.map(lambda n: scalar.sub(n, scalar.const_like(1, n)), b.reshape(count, [1]))
        self._call(b, _REACH(), [last], [], [1])
        self._call(b, _BEGIN(), [], [], [], grows=True)

    def look(
        self, b: Any, index: Value, like: tuple[Any, str], element: AnySize, clears: bool, new: bool
    ) -> tuple[Value, Value]:
        """One element, and whether it cannot be read; new: ones not written yet are zeros."""
        given = [element, int(clears), int(new)]
        value, bad = self._call(b, _LOOK(), [index], [like, ((), "bool")], given)
        return value, bad

    def count(self, b: Any) -> Value:
        """How many elements there are."""
        return self._call(b, COUNT(), [], [((), "int32")], [])[0]

    def settle(
        self, b: Any, given: Sequence[Value], element: AnySize, registers: Sequence[Register]
    ) -> None:
        """Moves all elements, and their marks, to registers, whose addresses are given."""
        self._call(b, _SETTLE(), given, [], [element], writes=registers)

    def is_written_within(self, b: Any, outermost: Program) -> bool:
        """Is it written in a program that is traced now, within the one where it was made?"""
        while b is not None and b.program is not outermost:
            if b.program in self.writers:
                return True
            b = b.outer
        return b is None
