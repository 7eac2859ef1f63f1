# SPDX-License-Identifier: Apache-2.0
"""Kernels that are not compiled yet, run as bytecode.

Most plans run once or twice, and what a kernel takes to be compiled would do for a thousand runs of
small ones.  So a plan's new kernels begin as bytecode, with the bits that they have when they are
compiled (jit/codegen/bytecode.py): a machine that is compiled already runs it, which takes up to
some times as long, and no Python.  A kernel that has had more time than it takes to compile it is
compiled, in the middle of a run, too.  Once a plan's runs have taken a part of what it takes to
compile its kernels, threads do that meanwhile, and each goes on by its machine code when it is
there.  Whether, and when, shows in no result.  Imports the compiler.
"""

from __future__ import annotations

import contextvars
import signal
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..codegen import compile as compiler
from ..codegen import compile_workers
from ..codegen.machine import Desk, address_of, is_ready
from ..codegen.signature import SIGNATURE
from ..kernel.ir import Kernel
from ..trace.segment import Segment

# Seconds that a kernel's bytecode may take before it is compiled, which takes about as long; and
# what the first that a process compiles takes longer, as LLVM is loaded.
_PATIENCE, _LOADING = 0.03, 0.05
# Seconds of bytecode, behind the first run, for each kernel that is not compiled yet, before who
# runs waits for all of them: of a few, which are there soon, and at most, which is about what it
# takes to compile one; by then threads have made many, as a rule.
_WORTH, _FEW, _MOST = 0.003, 5, 0.015
_BEGIN = 0.12  # the part of these seconds after which threads begin
_LLVM = "llvmlite.binding"
# Handlers of these may raise an exception wherever Python runs.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


class Interpreted:
    """A kernel that is bytecode, and compiled if that takes long."""

    def __init__(self, kernel: Kernel, origin: compiler.Origin | None, plan: FirstKernels) -> None:
        self.kernel, self.origin, self._plan = kernel, origin, plan
        self._lock = threading.Lock()
        # Settings belong to whoever runs the plan; threads that share its tiles have others.
        self._context = contextvars.copy_context()
        self._symbol = compiler.symbol_of(kernel)
        # They live as long as this does.
        self._entry = SIGNATURE(self._ask)
        self._desk = Desk(kernel, address_of(self._entry))
        self._desk.allow(_PATIENCE + (0.0 if _LLVM in sys.modules else _LOADING))
        self._made: compiler.Compiled | None = None

    @property
    def compiled(self) -> compiler.Compiled:
        """It as plans have kernels; there is no source of it yet."""
        return compiler.Compiled(self._desk.entry, self.kernel.name, "", 0.0, False, "")

    @property
    def lead(self) -> tuple[int, int]:
        """What its argument blocks have in front of them, see Desk."""
        return self._desk.lead

    @property
    def is_bytecode(self) -> bool:
        """Is it bytecode still?"""
        return self._made is None

    @property
    def seconds(self) -> float:
        """About how long its bytecode was run so far, by all threads together."""
        return self._desk.seconds

    def take(self) -> None:
        """Goes on by its machine code if a thread has made that."""
        if self.is_bytecode and compile_workers.here().has_made(self._symbol):
            self._compile()

    def give_up(self) -> None:
        """Does nothing any more: what it would read may not be there."""
        self._desk.give_up()

    def _ask(self, *_: int) -> None:
        """Called from a run, in which it has had its time."""
        # (No exception passes through machine code.)
        errors = self._plan.errors
        try:
            with _held_signals(errors):
                self._compile()
        except BaseException as error:
            errors.append(error)
        if errors:
            self._plan.give_up()

    def _compile(self) -> None:
        with self._lock:
            if self._made is None:
                made = self._context.copy().run(compiler.compile_kernel, self.kernel, self.origin)
                self._desk.give_way(made.address)
                self._made = made


@contextmanager
def _held_signals(errors: list[BaseException]) -> Iterator[None]:
    """Signals that come meanwhile are handled afterwards; what that raises is an error."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, Any]] = []
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS}
    held = [number for number, handler in before.items() if callable(handler)]
    for number in held:
        signal.signal(number, lambda *arrived: came.append(arrived))
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, before[number])
    for number, frame in came:
        try:
            before[number](number, frame)
        except BaseException as error:
            errors.append(error)


class FirstKernels:
    """The kernels of a plan that are bytecode in its first runs, and what went wrong in these."""

    def __init__(self, is_ahead: bool) -> None:
        """is_ahead: whether threads may compile them meanwhile."""
        self.kernels: list[Interpreted] = []
        self.errors: list[BaseException] = []
        self._is_ahead = is_ahead
        self._first: float | None = None  # the seconds of the first run
        self._left: list[Interpreted] = []  # those that are still bytecode
        _BEGUN.add(self)

    @classmethod
    def of(cls, segment: Segment) -> FirstKernels:
        """None yet, of a plan of a segment."""
        # A session of one thread has said what it may take of the machine.
        return cls(segment.evaluate.threads != 1)

    @property
    def is_new(self) -> bool:
        """Has no run ended yet?"""
        return self._first is None

    def may_go_on(self) -> bool:
        """Ends a run: is the next one to have bytecode, too?"""
        seconds = self.seconds
        if self._first is None:
            self._first, self._left = seconds, [*self.kernels]
            return bool(self._left)
        for kernel in self._left:
            kernel.take()
        self._left = [kernel for kernel in self._left if kernel.is_bytecode]
        seconds -= self._first
        worth = _worth(len(self._left))
        if self._is_ahead and seconds > _BEGIN * worth:
            self._is_ahead = False
            self._left.sort(key=lambda kernel: kernel.seconds, reverse=True)
            compiler.compile_ahead(kernel.kernel for kernel in self._left)
        return seconds < worth

    @property
    def seconds(self) -> float:
        """About how long bytecode was run, by all threads together."""
        return sum(kernel.seconds for kernel in self.kernels)

    def give_up(self) -> None:
        """Nothing goes on: see `errors`."""
        for kernel in self.kernels:
            kernel.give_up()


def _worth(count: int) -> float:
    """The seconds of bytecode that are rather spent than a wait for so many kernels."""
    return count * min(_WORTH * max(count / _FEW, 1.0), _MOST)


_BEGUN: weakref.WeakSet[FirstKernels] = weakref.WeakSet()


def seconds() -> float:
    """About how long this process has run bytecode of plans that are still there."""
    return sum(first.seconds for first in _BEGUN)


# Those of some kernels that are in no cache; tests have others.
new = compiler.absent


def first_kernels(
    kernels: Sequence[compiler.Wanted], plan: FirstKernels
) -> list[Interpreted | None]:
    """For each of several kernels its bytecode; None for those to be had or compiled now."""
    own = {kernel: origin for kernel, origin in kernels if isinstance(kernel, Kernel)}
    made: dict[Any, Interpreted] = {
        kernel: Interpreted(kernel, own[kernel], plan)
        for kernel in new(own)
        # An instruction that would have to be compiled takes as long as the kernel itself.
        if is_ready(kernel)
    }
    plan.kernels += made.values()
    return [made.get(kernel) for kernel, _ in kernels]
