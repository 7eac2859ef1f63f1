# SPDX-License-Identifier: Apache-2.0
"""The sizes of a plan as code for jit/library/binding_kernels.py, which takes some microseconds.

Python's own function of the sizes (jit/schedule/bind.py) takes some hundred times as long, but
there is nothing to prepare: it does for a plan that meets few sizes.  Imports the compiler.
"""

from __future__ import annotations

import ast
import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ...engine.syntax import tree_of
from ..codegen import compile as compiler
from ..codegen.signature import SIGNATURE
from ..library import binding_kernels as kernels
from ..library.library_kernel import LibraryKernel
from ..library.step_table import ROW
from ..library.template import specialise

_OPERATIONS: dict[type[ast.AST], int] = {
    ast.Add: kernels.ADD,
    ast.Mult: kernels.MULTIPLY,
    ast.FloorDiv: kernels.DIVIDE,
    ast.Mod: kernels.REMAINDER,
}
_CONSTANTS = re.compile(r"\b\d+\b")
_FUNCTIONS = {"min": kernels.LEAST, "max": kernels.MOST}


def closed() -> Iterator[LibraryKernel]:
    """The kernels that bind plans."""
    yield specialise("plan_bind", kernels.bind)
    yield specialise("plan_hand_over", kernels.hand_over)


@cache
def functions() -> list[Callable[..., None]]:
    """The machine code of both."""
    compiled = compiler.compile_kernels([(kernel, None) for kernel in closed()])
    return [SIGNATURE(kernel.address) for kernel in compiled]


def address(array: np.ndarray) -> int:
    """Where the elements of an array are that may be written."""
    # (In a tenth of the time that NumPy takes to tell; nothing can be made of no elements.)
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data)) if array.size else 0


class SizeCode:
    """Expressions of sizes as operations on registers.

    `registers` are those that an evaluation begins with; `code` has three words for each operation,
    whose results stand one behind the other from `result` on; `outputs` are the registers of the
    expressions.
    """

    def __init__(self, symbols: Sequence[str], texts: Sequence[str]) -> None:
        # (At once, which takes a third of the time.)
        whole = ",".join(texts)
        parsed = tree_of(f"[{whole}]", mode="eval").body
        assert isinstance(parsed, ast.List)
        self._at = {name: kernels.SYMBOLS + number for number, name in enumerate(symbols)}
        found = set(map(int, _CONSTANTS.findall(whole)))
        self.constants = sorted({*found, *(-number for number in found)})
        first = kernels.SYMBOLS + len(symbols)
        self._constants = {number: first + place for place, number in enumerate(self.constants)}
        self.result = first + len(self.constants)
        self._made: dict[tuple[int, int, int], int] = {}
        self.outputs = np.array([self._register(node) for node in parsed.elts], np.int64)
        self.code = np.array(list(self._made), np.int64).reshape(-1, 3)
        self.registers = np.zeros(self.result + len(self.code), np.int64)
        # (Whoever uses it looks first whether they are numbers that registers can hold.)
        held = [number if abs(number) < kernels.BOUND else 0 for number in self.constants]
        self.registers[first : self.result] = held

    def _register(self, node: ast.expr) -> int:
        """The register that an expression is in."""
        # (Sums may be long, and each term is one level further in.)
        spine: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):
            spine.append(node)
            node = node.left
        place = self._atom(node)
        for outer in reversed(spine):
            number = _OPERATIONS[type(outer.op)]
            place = self._operation(number, place, self._register(outer.right))
        return place

    def _atom(self, node: ast.expr) -> int:
        match node:
            case ast.Name(id=name):
                return self._at[name]
            case ast.Constant(value=int(number)):
                return self._constants[number]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return self._constants[-number]
            case ast.Call(func=ast.Name(id=name), args=[left, right]):
                number = _FUNCTIONS[name]
                return self._operation(number, self._register(left), self._register(right))
        raise AssertionError(f"{ast.unparse(node)} is no size")

    def _operation(self, number: int, left: int, right: int) -> int:
        return self._made.setdefault((number, left, right), self.result + len(self._made))


class Written(NamedTuple):
    """What was computed for some symbols: the numbers, and the bytes of each slot.

    With them the arguments, the rows of all steps, and where both are; the most scratch memory that
    a step needs, per worker, how many steps are cut into tiles, and the bytes of all slots.
    """

    numbers: np.ndarray
    counts: np.ndarray
    args: np.ndarray
    table: np.ndarray
    places: tuple[int, int]
    scratch_bytes: int
    cut: int
    total: int


class Binder:
    """Computes the numbers of a plan, and writes arguments and rows, in compiled code."""

    def __init__(
        self,
        code: SizeCode,
        blocks: tuple[np.ndarray, np.ndarray],
        arguments: tuple[np.ndarray, np.ndarray],
        scratch: tuple[np.ndarray, np.ndarray],
        steps: tuple[np.ndarray, np.ndarray],
        slots: np.ndarray,
    ) -> None:
        """blocks: arguments and rows as far as they never change; arguments, scratch: positions,
        and the numbers that go there; steps: see the kernels, and what they cost; slots: the
        numbers that are bytes of slots."""
        self._run = functions()[0]
        # One piece of memory for all that is written, whose address is asked for once.
        parts = [code.registers, np.zeros(len(code.outputs), np.int64), slots, *blocks]
        self._block = np.concatenate([part.ravel() for part in parts])
        ends = np.cumsum([part.size for part in parts]).tolist()
        self._parts = list(zip(ends, ends[1:]))
        # (Kept: the words hold their addresses.)
        self._tables = code.code, code.outputs, *arguments, *scratch, *steps, slots
        operations, outputs, *rest, rows, cost, bytes_of = map(address, self._tables)
        words = [operations, len(code.code), code.result, outputs, len(code.outputs)]
        words += [*rest[:2], len(arguments[0]), *rest[2:], len(scratch[0])]
        words += [rows, len(steps[0]), cost, bytes_of, len(slots)]
        self._words = np.array(words, np.int64)
        self._at = address(self._words)

    def run(self, symbols: Sequence[int]) -> Written | None:
        """Writes all of it for some symbols; None if numbers are too large for it."""
        block = self._block.copy()
        try:
            block[kernels.SYMBOLS : kernels.SYMBOLS + len(symbols)] = symbols
        except OverflowError:
            return None
        at = address(block)
        numbers, counts, args, table = self._parts
        places = at + 8 * args[0], at + 8 * table[0]
        self._run(self._at, at, at + 8 * numbers[0], *places, 0)
        too_large, scratch, cut, total = block[: kernels.SYMBOLS].tolist()
        if too_large:
            return None
        return Written(
            block[slice(*numbers)],
            block[slice(*counts)],
            block[slice(*args)],
            block[slice(*table)].reshape(-1, ROW),
            places,
            scratch,
            cut,
            total,
        )


class HandOver:
    """Writes what a binding computed where a run's steps read it."""

    def __init__(
        self, positions: np.ndarray, args: np.ndarray, rows: Sequence[tuple[int, int, int]]
    ) -> None:
        """positions: of numbers among the arguments; rows: the numbers of steps, with the addresses
        of their rows, and the number of the table that these are in."""
        table = np.array(rows, np.int64).reshape(-1, 3)
        columns = [column.copy() for column in table.T]
        self._cuts = np.zeros(int(table[:, 2].max(initial=-1)) + 1, np.int64)
        self._kept = positions, args, *columns, self._cuts
        taken, self._args, *places, cuts = map(address, self._kept)
        words = [taken, len(positions), *places, len(table), cuts, len(self._cuts)]
        self._words = np.array(words, np.int64)
        self._at, self._run = address(self._words), functions()[1]

    def run(self, places: tuple[int, int]) -> list[int]:
        """Takes over the arguments and rows of a binding, which are at these addresses; how many
        rows of each table are cut."""
        args, table = places
        self._run(self._at, args, self._args, table, 0, 0)
        return self._cuts.tolist()  # type: ignore[no-any-return]
