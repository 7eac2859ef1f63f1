# SPDX-License-Identifier: Apache-2.0
"""Runs of plans, for tests, in which every kernel computes on memory with guards around it.

With `guards` of jit/kernel/verify_kernel.py set, each step of a plan gets copies of all that it may
access: the buffers of its argument block, the block itself, scratch memory and stacks, each of
exactly its size.

    "bytes"  bytes of a pattern lie around each.  They must be as they were when the step is done.
             The step runs twice, with different patterns, and must give the same: a result that
             depends on what lies outside has read it.
    "pages"  memory that cannot be accessed lies right behind each and, the second time, right
             before.  A forked process runs the step, so that its end tells of any access outside.

Buffers that a step only reads must not change either, and no two may overlap.  What is found is an
`Unguarded` error that names kernel and buffer.  A run looks once, when it is made, whether a test
wants it; nothing imports this module otherwise.  Imports what jit/runtime/execution.py does.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...engine.record_class import record
from ..codegen.compile import parts_of
from ..kernel import ir, sizes, verify_kernel
from ..library.step_table import AGAIN, FIT, HOST, ITEM_BYTES, MEMORY, NEEDED, RECORD, ROOM, SKIP
from ..program.tensor_ir import Read, Register, Value, home
from ..schedule import ir_printer
from ..schedule.bind import Binding
from ..schedule.steps import CallStep, KernelStep, Step, byte_size, has_row
from . import driver

if TYPE_CHECKING:
    from .plan import Plan

_GUARD = 1024  # bytes on either side
_PATTERNS = (0xFF, 0x5A)  # NaN and -1 in every dtype; and something else
_ALIGN = 64
TURNS = 100  # of a loop, after which Python looks whether it may go on
_NO_ACCESS = 0  # PROT_NONE
_SCRATCH = "scratch memory"
_RECORD_BYTES = 8 * RECORD


class Unguarded(AssertionError):
    """A kernel accessed what is not its own; the text names the kernel and the buffer."""


@record
class Buffer:
    """Memory that a step may access: where it is, and what it may do there."""

    name: str
    address: int
    size: int
    is_written: bool


@record
class Copy:
    """A copy of a buffer with guards: all its memory, and where the buffer begins in it."""

    buffer: Buffer
    memory: np.ndarray
    start: int
    pattern: int

    @property
    def address(self) -> int:
        return int(self.memory.ctypes.data) + self.start

    @property
    def contents(self) -> np.ndarray:
        return self.memory[self.start : self.start + self.buffer.size]

    def fill(self) -> None:
        """Puts the pattern around the contents, which become the buffer's."""
        self.memory[...] = self.pattern
        if self.buffer.address:
            self.contents[...] = bytes_at(self.buffer.address, self.buffer.size)

    def found(self) -> str:
        """What is wrong after the step, if anything."""
        sides = {"before": self.memory[: self.start], "behind": self.memory[self._end :]}
        for side, guard in sides.items():
            (changed,) = np.nonzero(guard != self.pattern)
            if len(changed):
                near = self.start - changed[-1] if side == "before" else changed[0] + 1
                return f"wrote {len(changed)} bytes {side} {self.buffer.name}, {near} bytes from it"
        if not self.buffer.is_written and self.buffer.address:
            if (self.contents != bytes_at(self.buffer.address, self.buffer.size)).any():
                return f"wrote to {self.buffer.name}, which it only reads"
        return ""

    @property
    def _end(self) -> int:
        return self.start + self.buffer.size


def bytes_at(address: int, count: int) -> np.ndarray:
    """The bytes at an address, as they are and will be."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(address))


@contextmanager
def among(mode: str) -> Iterator[None]:
    """Has plans that are made within the block run among guards."""
    before, verify_kernel.guards = verify_kernel.guards, mode
    try:
        yield
    finally:
        verify_kernel.guards = before


# Ways to lay out copies: context managers, as some memory must be given back.
Layout = Callable[[Buffer], AbstractContextManager[Copy]]


@contextmanager
def among_bytes(pattern: int, buffer: Buffer) -> Iterator[Copy]:
    memory = np.empty(buffer.size + 2 * _GUARD + _ALIGN, np.uint8)
    start = _GUARD + -(memory.ctypes.data + _GUARD) % _ALIGN
    yield Copy(buffer, memory[: start + buffer.size + _GUARD], start, pattern)


@contextmanager
def among_pages(is_behind: bool, buffer: Buffer) -> Iterator[Copy]:
    """Shared with processes that are forked; a page that cannot be accessed lies on one side."""
    page = mmap.PAGESIZE
    inside = max(-(-buffer.size // page), 1) * page
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    start = libc.mmap(None, inside + page, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "no memory for guard pages")
    try:
        libc.mprotect(start + (inside if is_behind else 0), page, _NO_ACCESS)
        memory = bytes_at(start + (0 if is_behind else page), inside)
        yield Copy(buffer, memory, inside - buffer.size if is_behind else 0, _PATTERNS[0])
    finally:
        libc.munmap(start, inside + page)


class Guarded(driver.Flow):
    """Rows of a plan's table, one at a time and each among guards; stops where a Flow does."""

    __slots__ = ("place", "plan", "starts", "steps", "symbols", "turns", "words")

    def __init__(
        self,
        plan: Plan,
        binding: Binding,
        words: np.ndarray,
        table: np.ndarray,
        segment: tuple[int, int],
    ) -> None:
        """words: the argument blocks of a run; table: its steps; segment: the rows that are run."""
        self.plan, self.words = plan, words
        self.first, last = segment
        self.turns = self.place = 0  # since the last pause; the row where that was
        self.rows, self.table = last - self.first, table
        self.starts = [step.start for step in plan.template.steps] + [len(words)]
        self.symbols = dict(zip(plan.traced.scope.examples, binding.symbols))
        self.steps: list[Step] = [step for step in plan.schedule.steps if has_row(step)]

    @property
    def is_paused(self) -> bool:
        """Whether the run only came by to let Python look whether it may go on."""
        return self.turns == TURNS

    def run(self, row: int) -> int:
        """Runs from a row on; the number of the row where Python is needed, or that of all rows.

        Row -1 says to go on where it paused.
        """
        row = self.place if row < 0 else row
        self.turns = 0
        while row < self.rows and not self.is_paused:
            step = self.steps[self.first + row]
            if isinstance(step, (KernelStep, CallStep)):
                self._guard(step, self.first + row)
                row += 1
                continue
            following = self._jump(row)
            if following is None:
                break
            row = following
        self.place = row
        return row

    def _jump(self, row: int) -> int | None:
        """The row behind one that jumps or stops; None where Python is needed."""
        _, args, kind, target, wanted, _ = (int(n) for n in self.table[self.first + row])
        if kind == AGAIN:
            self.turns += 1
            return target
        if kind == HOST:
            return None
        address = int(bytes_at(args, 8).view(np.int64)[0])
        if kind == ROOM:
            record = bytes_at(address, _RECORD_BYTES).view(np.int64)
            return None if record[NEEDED] > record[FIT] else row + 1
        flag = int(bytes_at(address, 1)[0])
        if kind == SKIP:
            return row + 1 if flag == wanted else target
        return None if flag else row + 1

    def _guard(self, step: KernelStep | CallStep, row: int) -> None:
        """Runs one step among guards, twice, and puts what it wrote where it belongs."""
        buffers = self._buffers(step, self._block(row))
        for one, other in pairwise(sorted((b for b in buffers if b.size), key=lambda b: b.address)):
            if one.address and one.address + one.size > other.address:
                raise self._error(step, f"uses {one.name} and {other.name}, which overlap")
        if verify_kernel.guards == "pages":
            for is_behind in (True, False):
                self._look_for_faults(step, row, partial(among_pages, is_behind))
        results = [
            self._attempt(step, row, partial(among_bytes, pattern), _call) for pattern in _PATTERNS
        ]
        for buffer, first, second in zip(buffers, *results, strict=True):
            if buffer.address and (first != second).any():
                raise self._error(step, f"makes {buffer.name} of what lies outside of its buffers")
            if buffer.address and buffer.is_written:
                bytes_at(buffer.address, buffer.size)[...] = first

    def _look_for_faults(self, step: KernelStep | CallStep, row: int, layout: Layout) -> None:
        """Names the buffer beside which a step faults."""
        try:
            self._attempt(step, row, layout, _call_in_child)
        except Unguarded:
            for buffer in self._buffers(step, self._block(row)):

                def alone(other: Buffer, name: str = buffer.name) -> AbstractContextManager[Copy]:
                    is_it = other.name == name
                    return layout(other) if is_it else among_bytes(_PATTERNS[0], other)

                try:
                    self._attempt(step, row, alone, _call_in_child)
                except Unguarded as error:
                    raise self._error(step, f"faults beside {buffer.name}") from error
            raise

    def _attempt(
        self,
        step: KernelStep | CallStep,
        row: int,
        layout: Layout,
        call: Callable[[np.ndarray], str],
    ) -> list[np.ndarray]:
        """One run on copies; the contents of all buffers afterwards."""
        block = self._block(row)
        buffers = self._buffers(step, block)
        with ExitStack() as held:
            copies = [held.enter_context(layout(buffer)) for buffer in buffers]
            for copy in copies:
                copy.fill()
            self._aim(step, block, copies)
            arguments = held.enter_context(layout(_arguments(block)))
            arguments.fill()
            line = self.table[row : row + 1].copy()
            line[0, 1] = arguments.address
            problem = call(line)
            for copy in (*copies, arguments):
                problem = problem or copy.found()
            if problem:
                raise self._error(step, problem)
            if self._stack(step) is not None:
                _record(copies)[MEMORY] = buffers[-1].address
            return [copy.contents.copy() for copy in copies]

    def _aim(self, step: KernelStep | CallStep, block: np.ndarray, copies: list[Copy]) -> None:
        """Has an argument block point to copies."""
        # (Empty buffers may have the address of another one.)
        places = {(c.buffer.address, c.buffer.size > 0): c.address for c in copies}
        for number, value in enumerate(step.reads):
            block[number] = places[int(block[number]), self._bytes(value) > 0]
        if self._scratch(step):
            parts = len(parts_of(step.kernel))
            block[-2 - parts] = next(c.address for c in copies if c.buffer.name == _SCRATCH)
        if self._stack(step) is not None:
            block[self._stack(step)] = copies[-2].address
            _record(copies)[MEMORY] = copies[-1].address

    # What a step accesses

    def _block(self, row: int) -> np.ndarray:
        """A step's argument block as it is now."""
        return self.words[self.starts[row] : self.starts[row + 1]].copy()

    def _bytes(self, value: Value) -> int:
        """How many bytes there are at a value's address: of a variable, as many as it has now."""
        value = home(value)
        node, cell = value.node, value.cell
        if isinstance(node, Read):
            cell = node.cell
        if cell is not None:
            return int(cell.value.nbytes)
        return sizes.number(byte_size(value), self.symbols)

    def _scratch(self, step: KernelStep | CallStep) -> int:
        """How many bytes of scratch memory a step asks for."""
        if isinstance(step, KernelStep):
            return 0
        return sizes.number(step.node.launch.scratch, self.symbols)

    def _stack(self, step: KernelStep | CallStep) -> int | None:
        """Where in the argument block the record of a stack is, if there is one."""
        if isinstance(step, CallStep) and step.node.effects.stack is not None:
            return len(step.reads) + len(step.node.launch.params)
        return None

    def _buffers(self, step: KernelStep | CallStep, block: np.ndarray) -> list[Buffer]:
        """Each buffer once, then scratch memory, then a stack's record and its memory."""
        found: dict[tuple[int, bool], Buffer] = {}
        written = _written(step)
        for number, value in enumerate(step.reads):
            address, size = int(block[number]), self._bytes(value)
            name = f"buffer {number} ({value!r} of {getattr(value.node.origin, 'name', '?')})"
            known = found.setdefault(
                (address, size > 0), Buffer(name, address, size, written[number])
            )
            known.is_written |= written[number]
            known.size = max(known.size, size)
        buffers = list(found.values())
        if self._scratch(step):
            buffers.append(Buffer(_SCRATCH, 0, self._scratch(step), True))
        place = self._stack(step)
        if place is not None:
            record = bytes_at(int(block[place]), _RECORD_BYTES).view(np.int64)
            room = int(record[FIT] * record[ITEM_BYTES])
            buffers.append(Buffer("its stack's record", int(block[place]), _RECORD_BYTES, True))
            buffers.append(Buffer("its stack", int(record[MEMORY]), room, True))
        return buffers

    def _error(self, step: KernelStep | CallStep, problem: str) -> Unguarded:
        traced = self.plan.traced
        facts = ir_printer.origin(step, traced.segment.operations, list(traced.exports))
        return Unguarded(f"kernel {step.kernel.name} ({', '.join(facts.ops)}) {problem}")


def _arguments(block: np.ndarray) -> Buffer:
    return Buffer("its argument block", block.ctypes.data, block.nbytes, False)


def _record(copies: Sequence[Copy]) -> np.ndarray:
    """The words of the record of a stack, which comes before its memory."""
    return copies[-2].contents.view(np.int64)


def _written(step: KernelStep | CallStep) -> Sequence[bool]:
    """Which values of its argument block a step may write to."""
    kernel = step.kernel
    if isinstance(kernel, ir.Kernel):
        return ["w" in buffer.access for buffer in kernel.buffers]
    assert isinstance(step, CallStep)
    node, count = step.node, len(step.node.inputs)
    homes = [cell.home for cell in node.effects.writes if isinstance(cell, Register)]
    inputs = [any(home(value) is own for own in homes) for value in step.reads[:count]]
    return inputs + [True] * len(node.outputs)


def _call(line: np.ndarray) -> str:
    """Runs one row of a table on this thread."""
    driver.Program(line, 1).run()
    return ""


def _call_in_child(line: np.ndarray) -> str:
    """Runs one row in a process of its own; what became of that, if it did not end well."""
    program = driver.Program(line, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child runs one kernel alone
        child = os.fork()
    if not child:
        faulthandler.disable()  # its report would be one of the parent
        program.run()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return f"ended by {signal.strsignal(status & 0x7F)}" if status else ""
