# SPDX-License-Identifier: Apache-2.0
"""The sizes of a plan as code for jit/library/binding_kernels.py, which takes some microseconds.

Python's own function of the sizes (jit/schedule/bind.py) takes some hundred times as long, but
there is nothing to prepare: it does for a plan that meets few sizes.  Imports the compiler.
"""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..codegen import compile as compiler
from ..library import binding_kernels as kernels
from ..library.library_kernel import LibraryKernel
from ..library.template import specialise

_OPERATIONS: dict[type[ast.AST], int] = {
    ast.Add: kernels.ADD,
    ast.Mult: kernels.MULTIPLY,
    ast.FloorDiv: kernels.DIVIDE,
    ast.Mod: kernels.REMAINDER,
}
_FUNCTIONS = {"min": kernels.LEAST, "max": kernels.MOST}
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)


def closed() -> Iterator[LibraryKernel]:
    """The kernels that bind plans."""
    yield specialise("plan_bind", kernels.bind)
    yield specialise("plan_hand_over", kernels.hand_over)


@cache
def functions() -> list[Callable[..., None]]:
    """The machine code of both."""
    compiled = compiler.compile_kernels([(kernel, None) for kernel in closed()])
    return [_FUNCTION(kernel.address) for kernel in compiled]


def address(array: np.ndarray) -> int:
    """Where an array's elements are."""
    return int(array.__array_interface__["data"][0])


class SizeCode:
    """Expressions of sizes as operations on registers.

    `registers` are those that an evaluation begins with; `code` has three words for each operation,
    whose results stand one behind the other from `result` on; `outputs` are the registers of the
    expressions.
    """

    def __init__(self, symbols: Sequence[str], texts: Sequence[str]) -> None:
        # (At once, which takes a third of the time.)
        whole = ast.parse("[" + ",".join(texts) + "]", mode="eval").body
        assert isinstance(whole, ast.List)
        nodes = whole.elts
        self._at = {name: kernels.SYMBOLS + number for number, name in enumerate(symbols)}
        found = {n.value for n in ast.walk(whole) if type(n) is ast.Constant}
        self.constants: list[int] = sorted({*found, *(-n for n in found)})  # type: ignore[operator,arg-type]
        first = kernels.SYMBOLS + len(symbols)
        self._constants = {number: first + place for place, number in enumerate(self.constants)}
        self.result = first + len(self.constants)
        self._made: dict[tuple[int, int, int], int] = {}
        self.outputs = np.array([self._register(node) for node in nodes], np.int64)
        self.code = np.array(list(self._made), np.int64).reshape(-1, 3)
        self.registers = np.zeros(self.result + len(self.code), np.int64)
        # (Whoever uses it looks first whether they are numbers that registers can hold.)
        held = [number if abs(number) < kernels.BOUND else 0 for number in self.constants]
        self.registers[first : self.result] = held

    def _register(self, node: ast.expr) -> int:
        """The register that an expression is in."""
        match node:
            case ast.Name(id=name):
                return self._at[name]
            case ast.Constant(value=int(number)):
                return self._constants[number]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return self._constants[-number]
            case ast.BinOp(left=left, op=operation, right=right):
                return self._operation(_OPERATIONS[type(operation)], left, right)
            case ast.Call(func=ast.Name(id=name), args=[left, right]):
                return self._operation(_FUNCTIONS[name], left, right)
        raise AssertionError(f"{ast.unparse(node)} is no size")

    def _operation(self, number: int, left: ast.expr, right: ast.expr) -> int:
        key = number, self._register(left), self._register(right)
        return self._made.setdefault(key, self.result + len(self._made))


class Binder:
    """Computes the numbers of a plan, and writes arguments and rows, in compiled code."""

    def __init__(
        self,
        code: SizeCode,
        arguments: tuple[np.ndarray, np.ndarray],
        scratch: tuple[np.ndarray, np.ndarray],
        steps: np.ndarray,
        costs: np.ndarray,
    ) -> None:
        """arguments, scratch: positions, and the numbers that go there; steps: see the kernels."""
        self._registers, self._count = code.registers, len(code.outputs)
        self._run = functions()[0]
        # (Kept: the words hold their addresses.)
        self._tables = code.code, code.outputs, *arguments, *scratch, steps, costs
        operations, outputs, *rest, rows, cost = map(address, self._tables)
        words = [operations, len(code.code), code.result, outputs, len(code.outputs)]
        words += [*rest[:2], len(arguments[0]), *rest[2:], len(scratch[0]), rows, len(steps), cost]
        self._words = np.array(words, np.int64)
        self._at = address(self._words)

    def run(
        self, symbols: Sequence[int], args: np.ndarray, table: np.ndarray
    ) -> tuple[np.ndarray, int, int] | None:
        """Writes both for some symbols; the numbers, the most scratch memory of a worker, and how
        many steps are cut.  None if numbers are too large for it."""
        registers, numbers = self._registers.copy(), np.empty(self._count, np.int64)
        try:
            registers[kernels.SYMBOLS : kernels.SYMBOLS + len(symbols)] = symbols
        except OverflowError:
            return None
        self._run(self._at, *map(address, (registers, numbers, args, table)), 0)
        if registers[kernels.TOO_LARGE]:
            return None
        return numbers, int(registers[kernels.SCRATCH]), int(registers[kernels.CUT])


class HandOver:
    """Writes what a binding computed where a run's steps read it."""

    def __init__(self, positions: np.ndarray, args: np.ndarray, rows: Sequence[Any]) -> None:
        """positions: of numbers among the arguments; rows: the numbers of steps, with the addresses
        of their rows."""
        table = np.array(rows, np.int64).reshape(-1, 2)
        self._kept = positions, args, table[:, 0].copy(), table[:, 1].copy()
        taken, self._args, *places = map(address, self._kept)
        self._words = np.array([taken, len(positions), *places, len(table)], np.int64)
        self._at, self._run = address(self._words), functions()[1]

    def run(self, args: np.ndarray, table: np.ndarray) -> None:
        """Takes over the arguments and rows of a binding."""
        self._run(self._at, address(args), self._args, address(table), 0, 0)
