# SPDX-License-Identifier: Apache-2.0
"""The words of bytecode, and which of them wait for addresses; see jit/codegen/bytecode.py.

Imports neither Numba nor llvmlite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...engine.record_class import record
from ..kernel.ir import Const, Kernel, Param
from ..kernel.reference import numpy_dtype
from ..library import bytecode_kernels as layout
from ..library import instruction_kernels as operands
from ..library import instruction_set
from ..library.library_kernel import LibraryKernel
from .writer import wide

REGISTER = 8 * layout.LIMIT  # bytes
AnyKernel = Kernel | LibraryKernel
Words = np.ndarray[Any, np.dtype[np.int64]]
# Some words by number, and what they are told by.
Pairs = tuple[Words, Words]


@record(frozen=True, slots=True, eq=False)
class Program:
    """A kernel's bytecode: words, and which of them wait for what.

    kernels    those of instructions; calls: words that are addresses of them, and which
    registers  words that are addresses in the memory of registers, and how far in it
    inner      words that are addresses of other words, and which
    given      words that are words of the kernel's argument block, and which
    constants  how far registers lie in their memory, and what they are filled with
    size       bytes that a thread needs
    """

    machine: LibraryKernel
    kernels: tuple[AnyKernel, ...]
    words: Words
    calls: Pairs
    registers: Pairs
    inner: Pairs
    given: Pairs
    constants: tuple[tuple[int, np.ndarray[Any, Any]], ...]
    size: int


class Assembler:
    """A program in the making: instructions are added, section by section."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.words: list[int] = [0] * layout.HEADER
        # By the number of a word, see Program.
        self.registers: dict[int, int] = {}
        self.inner: dict[int, int] = {}
        self.given: dict[int, int] = {}
        self.free: list[int] = []  # registers that hold nothing
        self._count = 0
        self._constants: dict[Const, int] = {}
        self._parameters: dict[Param, int] = {}
        self._steps: list[tuple[AnyKernel, int, int]] = []
        self._sections: list[tuple[int, int]] = []

    # Words

    def room(self, count: int) -> int:
        """The first of some new words."""
        self.words += [0] * count
        return len(self.words) - count

    def number(self, place: int, value: int | Param) -> None:
        """Puts a number into a word."""
        if isinstance(value, Param):
            self.given[place] = self._slot(value)
        else:
            self.words[place] = value

    def _slot(self, value: Param) -> int:
        return len(self.kernel.buffers) + len(self.kernel.axes) + value.slot

    def header(self, outer: Sequence[int], reduce: Sequence[int], inner: int, levels: int) -> None:
        """Begins the program: its axes."""
        axes = self.kernel.axes
        # One more position, which is 1: its stride is an offset.
        self.words[layout.AXES] = self.room(len(axes) + 1)
        self.words[self.words[layout.AXES] + len(axes)] = 1
        self.words[layout.INNER], self.words[layout.LEVELS] = inner, levels
        self.words[layout.OUTER_COUNT] = len(outer)
        self.words[layout.OUTER] = self.room(2 * len(outer))
        for number, axis in enumerate(outer):
            place = self.words[layout.OUTER] + 2 * number
            self.words[place] = axis
            self._size(place + 1, axis)
        self.words[layout.REDUCE_COUNT] = len(reduce)
        self.words[layout.REDUCE] = self.room(layout.SPAN * len(reduce))
        # (Rows of the row form have no columns that tiles are made of.)
        self.words[layout.COLUMNS] = 1
        if self.kernel.form != "row":
            self._size(layout.COLUMNS, inner)
        for number, axis in enumerate(reduce):
            self._span(self.words[layout.REDUCE] + layout.SPAN * number, axis)

    def _size(self, place: int, axis: int) -> None:
        size = self.kernel.axes[axis].size
        if size is None:
            self.given[place] = len(self.kernel.buffers) + axis
        else:
            self.words[place] = size

    def _span(self, place: int, axis: int) -> None:
        self.words[place], self.words[place + 2] = axis, -1
        self._size(place + 1, axis)
        for number, chunk in enumerate(self.kernel.axes):
            if chunk.kind == "chunk" and chunk.of == axis and chunk.length is not None:
                self.words[place + 2] = number
                self.number(place + 3, chunk.length)

    def position(self, axis: int) -> int:
        """The word that is the position on an axis."""
        return self.words[layout.AXES] + axis

    # Registers

    def new(self) -> int:
        """A register, by how far it lies in their memory."""
        return self.free.pop() if self.free else self.lasting()

    def lasting(self) -> int:
        """A register that nothing else is ever put into."""
        self._count += 1
        return (self._count - 1) * REGISTER

    def constant(self, node: Const) -> int:
        """The register that is filled with a constant."""
        if node not in self._constants:
            self._constants[node] = self.lasting()
        return self._constants[node]

    def parameter(self, node: Param) -> int:
        """The register of a parameter, which the first section to ask for it fills."""
        if node not in self._parameters:
            register = self._parameters[node] = self.lasting()
            word = self.room(1)
            self.number(word, node)
            block = self.move("load", "int64", register, [])
            self.inner[block + operands.ADDRESS] = word
        return self._parameters[node]

    # Instructions

    def step(self, kernel: AnyKernel, count: int, form: int = layout.IN_SQUARES) -> int:
        """Adds an instruction with so many words of arguments; the first of them."""
        block = self.room(count)
        self._steps.append((kernel, block, form))
        return block

    def apply(self, kernel: Kernel, takes: Iterable[int], gives: int) -> None:
        """Adds a function of registers."""
        registers = [*takes, gives]
        block = self.step(kernel, len(registers) + 1, layout.IN_LINE)
        for number, register in enumerate(registers):
            self.registers[block + number] = register
        self.words[block + len(registers)] = layout.LIMIT

    def move(self, name: str, dtype: str, register: int, strides: Sequence[int | Param]) -> int:
        """Adds a load or a store, with no address yet; the first word of its arguments."""
        kernel = instruction_set.move(name, numpy_dtype(dtype).itemsize)
        block = self.step(kernel, operands.STRIDES + len(strides))
        self.registers[block + operands.REGISTER] = register
        self.inner[block + operands.POSITIONS] = self.words[layout.AXES]
        self.words[block + operands.COUNT] = len(strides)
        for number, stride in enumerate(strides):
            self.number(block + operands.STRIDES + number, stride)
        return block

    def spread(self, source: int, target: int, dtype: str, across: int) -> None:
        """Adds a copy of a register's first row, or of its first element, to all rows."""
        block = self.move("load", dtype, target, [])
        self.registers[block + operands.ADDRESS] = source
        self.words[block + operands.ACROSS] = across

    def positions(self, axis: int, register: int, down: int, across: int) -> None:
        """Adds the positions on an axis, and what they grow by from row to row, and column."""
        block = self.step(instruction_set.positions(), operands.STEPS_ACROSS + 1)
        self.registers[block + operands.REGISTER] = register
        self.inner[block + operands.ADDRESS] = self.position(axis)
        self.words[block + operands.STEPS_DOWN] = down
        self.words[block + operands.STEPS_ACROSS] = across

    def section(self, write: Callable[[], object]) -> None:
        """Adds a section of what is written meanwhile."""
        first = len(self._steps)
        write()
        self._sections.append((first, len(self._steps)))

    def program(self, machine: LibraryKernel) -> Program:
        """Ends the program."""
        self.words[layout.SECTIONS] = len(self.words)
        self.words += [number for section in self._sections for number in section]
        code = self.words[layout.CODE] = len(self.words)
        kernels: dict[AnyKernel, int] = {}
        calls: dict[int, int] = {}
        for number, (kernel, block, form) in enumerate(self._steps):
            at = code + layout.STEP * number
            self.words += [0, 0, form]
            calls[at] = kernels.setdefault(kernel, len(kernels))
            self.inner[at + 1] = block
        lines = -(-8 * len(self.words) // layout.LINE) * layout.LINE
        return Program(
            machine,
            tuple(kernels),
            np.array(self.words, np.int64),
            calls=_pairs(calls),
            registers=_pairs(self.registers),
            inner=_pairs(self.inner),
            given=_pairs(self.given),
            constants=tuple((place, _filled(node)) for node, place in self._constants.items()),
            size=lines + self._count * REGISTER,
        )


def _pairs(found: dict[int, int]) -> Pairs:
    return np.array([*found], np.int64), np.array([*found.values()], np.int64)


def _filled(node: Const) -> np.ndarray[Any, Any]:
    return np.full(layout.LIMIT, node.value, numpy_dtype(wide(node.dtype)))
