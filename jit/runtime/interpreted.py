# SPDX-License-Identifier: Apache-2.0
"""Kernels that are not compiled yet, with addresses to be called at as if they were.

Most plans run once or twice, and what a kernel takes to be compiled would do for a thousand runs of
small ones.  So in a plan's first runs its new kernels are evaluated in NumPy, with the bits that
they have when they are compiled (jit/codegen/evaluate.py), and a kernel that has much to do is
compiled.  From the third run on threads compile the others meanwhile.  Once it takes less to wait
for them than to go on without, they are compiled.  Whether, and when, shows in no result.  Imports
the compiler.
"""

from __future__ import annotations

import contextvars
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..codegen import compile as compiler
from ..codegen import compile_workers
from ..codegen.evaluate import Evaluation, is_independent
from ..codegen.scalar_functions import Functions, kernel_of, wanted
from ..codegen.signature import SIGNATURE
from ..kernel.ir import Kernel

# Seconds of threads that a kernel may take before it is compiled, which takes about as long; and
# what the first that a process compiles takes longer, as LLVM is loaded.
_PATIENCE, _LOADING = 0.03, 0.05
# So many runs of a plan have no threads beside them that compile what is evaluated.
_ALONE = 2
# Seconds of waiting for each kernel that is not compiled in which others are rather evaluated: some
# runs that begin at once are worth a quarter of what it takes to compile them.  And the most runs
# of a plan that evaluate some, however little these do: who times runs lets a few go first.
_WORTH, _MOST_RUNS = 0.003, 4
_LLVM = "llvmlite.binding"
# Handlers of these may raise an exception wherever Python runs.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


class Interpreted:
    """A kernel that is evaluated, and compiled if that takes long.

    errors: where exceptions go, since none passes through machine code.
    is_ahead: whether threads may compile it meanwhile.
    """

    def __init__(
        self,
        kernel: Kernel,
        origin: compiler.Origin | None,
        errors: list[BaseException],
        is_ahead: bool,
    ) -> None:
        self.kernel, self.origin, self._errors = kernel, origin, errors
        self._is_ahead = is_ahead
        self._seconds, self._elements, self._lock = 0.0, 0, threading.Lock()
        # Settings belong to whoever runs the plan; threads that share its tiles have others.
        self._context = contextvars.copy_context()
        self._functions = Functions([*dict.fromkeys(wanted(kernel))])
        self._machine_code: Any = None
        self._symbol, self._is_hurried = compiler.symbol_of(kernel), False
        # It lives as long as this does.
        self._entry = SIGNATURE(self._run)

    @property
    def compiled(self) -> compiler.Compiled:
        """It as plans have kernels; there is no source of it yet."""
        address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0
        return compiler.Compiled(address, self.kernel.name, "", 0.0, False, "")

    @property
    def is_evaluated(self) -> bool:
        """Has it never been compiled?"""
        return self._machine_code is None

    @property
    def seconds(self) -> float:
        """Those of threads that it was evaluated in so far."""
        return self._seconds

    def take(self) -> None:
        """Goes on by its machine code if a thread has made that."""
        if self.is_evaluated and compile_workers.here().has_made(self._symbol):
            self._compile()

    def compile_ahead(self) -> None:
        """Has it compiled by a thread, before others, if there are cores for that."""
        if self.is_evaluated and self._is_ahead:
            compiler.compile_ahead([self.kernel])

    def _run(self, args: int, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
        if self._errors:
            return  # what it would read may not be there
        if self._machine_code is None:
            began = time.thread_time()
            try:
                with _held_signals(self._errors):
                    evaluation = Evaluation(self.kernel, args, self._functions)
                    if not self._is_much(evaluation, r0):
                        evaluation.run(r0, r1, c0, c1)
                        self._seconds += time.thread_time() - began
                        self._elements += (r1 - r0) * (c1 - c0)
                        return
                    self._compile()
            except BaseException as error:
                self._errors.append(error)
                return
        self._machine_code(args, r0, r1, c0, c1, worker)

    def _is_much(self, evaluation: Evaluation, row: int) -> bool:
        """Is machine code to be had for less than it takes to evaluate what is left from a row
        on?"""
        if evaluation.is_in_many_pieces:
            return True
        if not self._elements:
            return False
        rows, columns = evaluation.extent
        left = self._seconds / self._elements * (rows - row) * columns
        patience = _PATIENCE + (0.0 if _LLVM in sys.modules else _LOADING)
        if self._seconds + left > patience:
            return True
        # It comes again and again, as in a loop.
        if self._seconds > patience / 2 and not self._is_hurried:
            self._is_hurried = True
            self.compile_ahead()
        return self._is_hurried and compile_workers.here().has_made(self._symbol)

    def _compile(self) -> None:
        with self._lock:
            if self._machine_code is None:
                made = self._context.copy().run(compiler.compile_kernel, self.kernel, self.origin)
                self._machine_code = SIGNATURE(made.address)


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
    """The kernels of a plan that are evaluated in its first runs, and what went wrong in that."""

    def __init__(self, kernels: Sequence[Interpreted], errors: list[BaseException]) -> None:
        self.kernels, self.errors = kernels, errors
        self._runs, self._first = 0, 0.0  # so far, and the seconds of threads in the first

    def begin(self) -> None:
        """Begins a run: unless it is one of the first, what is evaluated is compiled meanwhile.

        (Most plans run once or twice.  And a thread that compiles holds Python's lock for a fifth
        of the time, which evaluating needs nearly all the time.)
        """
        if self._runs == _ALONE:
            for kernel in sorted(self.kernels, key=lambda kernel: kernel.seconds):
                kernel.compile_ahead()  # the last of them first

    def may_go_on(self) -> bool:
        """Ends a run: is the next one to evaluate what is not compiled by then, too?"""
        for kernel in self.kernels:
            kernel.take()
        seconds = sum(kernel.seconds for kernel in self.kernels)
        if not self._runs:
            self._first = seconds
        self._runs += 1
        worth = _WORTH * sum(kernel.is_evaluated for kernel in self.kernels)
        return self._runs < _MOST_RUNS and seconds - self._first < worth


# Those of some kernels that are in no cache; tests have others.
new = compiler.absent


def first_kernels(
    kernels: Sequence[compiler.Wanted], errors: list[BaseException], is_ahead: bool
) -> list[Interpreted | None]:
    """For each of several kernels how it is evaluated; None for those to be had or compiled now.

    is_ahead: those that are evaluated are compiled by threads before they are asked for.
    """
    own = {kernel: origin for kernel, origin in kernels if isinstance(kernel, Kernel)}
    made: dict[Any, Interpreted] = {
        kernel: Interpreted(kernel, own[kernel], errors, is_ahead)
        for kernel in new(own)
        if is_independent(kernel)
        # One that would have to be compiled takes as long as the kernel itself.
        and not compiler.absent(kernel_of(*function) for function in wanted(kernel))
    }
    return [made.get(kernel) for kernel, _ in kernels]
