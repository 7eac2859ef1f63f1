# SPDX-License-Identifier: Apache-2.0
"""Kernels that the machine of jit/library/bytecode_kernels.py runs, and what it keeps of each.

Imports the compiler.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import target
from ..kernel.ir import Kernel
from ..library import bytecode_kernels as layout
from .bytecode import is_fit, program
from .compile import absent, compile_kernels
from .program_words import AnyKernel, Pairs, Program

# Instructions that have been found, by target: all kernels ask for the same ones.
_KNOWN: dict[str, set[AnyKernel]] = {}
# What an instruction takes for one element, in seconds: about a cycle, with its way to memory.
_SECONDS = 3e-10


def is_ready(kernel: Kernel) -> bool:
    """Are this kernel's instructions in the cache, or did they come with the package?"""
    if not is_fit(kernel):
        return False
    made, known = program(kernel), _KNOWN.setdefault(repr(target.current()), set())
    new = [part for part in (made.machine, *made.kernels) if part not in known]
    missing = absent(new)
    known.update(part for part in new if part not in missing)
    return not missing


class Desk:
    """What all threads that run a kernel's bytecode share: the program, and how far it got.

    entry: the address of what does what the kernel's machine code does, for arguments behind
    `lead`; bytes: of memory that each thread needs for it.
    """

    def __init__(self, kernel: Kernel, ask: int) -> None:
        """ask: what is called, as a kernel is, before more is done than `allow` says."""
        made = program(kernel)
        wanted = [(part, None) for part in (made.machine, *made.kernels)]
        self.entry, *parts = (part.address for part in compile_kernels(wanted))
        self.bytes = made.size
        self._words = _laid_out(made, parts)
        self._words[layout.ASK] = ask
        self.address = _address(self._words)

    @property
    def lead(self) -> tuple[int, int]:
        """What stands for the kernel where argument blocks are laid out: the bytes of memory for a
        thread, whose address is in front of them, and the desk, which comes behind them."""
        return self.bytes, self.address

    @property
    def seconds(self) -> float:
        """About how long threads were at it so far."""
        return float(self._words[layout.DONE]) * _SECONDS

    def allow(self, seconds: float) -> None:
        """Has threads ask before they are at it for longer."""
        self._words[layout.ENOUGH] = int(seconds / _SECONDS)

    def give_way(self, address: int) -> None:
        """Machine code does it from here on."""
        self._words[layout.TARGET] = address

    def give_up(self) -> None:
        """Nothing is done any more."""
        self._words[layout.IS_BROKEN] = 1


def _laid_out(made: Program, parts: list[int]) -> np.ndarray[Any, Any]:
    words = made.words.copy()
    where, told = made.calls
    words[where] = np.array(parts, np.int64)[told]
    head = np.zeros(layout.DESK_WORDS, np.int64)
    tables = (
        (layout.WORDS, words, 1),
        (layout.REGISTERS, _rows(made.registers), 2),
        (layout.INNER_WORDS, _rows(made.inner), 2),
        (layout.GIVEN_WORDS, _rows(made.given), 2),
        (layout.CONSTANTS, _constants(made), 3),
    )
    place = len(head)
    for kind, table, width in tables:
        head[kind], head[kind + 1] = table.size // width, place
        place += table.size
    return np.concatenate([head, *(table for _, table, _ in tables)])


def _rows(pairs: Pairs) -> np.ndarray[Any, Any]:
    return np.stack(pairs, 1).ravel()


def _constants(made: Program) -> np.ndarray[Any, Any]:
    """Of each register where it is, eight bytes of what it is filled with, and how often."""
    rows = [(place, int(v.view(np.int64)[0]), v.nbytes // 8) for place, v in made.constants]
    return np.array(rows, np.int64).ravel()


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def address_of(entry: Any) -> int:
    """That of a function of Python's that machine code calls."""
    return ctypes.cast(entry, ctypes.c_void_p).value or 0
