# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison: a process that builds and times models on request.

`python -m benchmarks.models.worker PEER THREADS` reads JSON commands, one a line, from standard
input and answers each with one line of JSON.  Runs under any Python that has the peer's package.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

from ..serving import serve
from ..warm_up import settle
from .session import has, module_of, steps_of

_STATUS = "/proc/self/status"
_FIRST = 5


def memory(which: str) -> int | None:
    """Resident bytes now (VmRSS) or at most so far (VmHWM); None where that is not told."""
    if not os.path.exists(_STATUS):
        return None
    with open(_STATUS) as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))


def compiled() -> tuple[int, int]:
    """Kernels compiled and loaded so far; none elsewhere than here."""
    if "numbaflow" not in sys.modules:
        return 0, 0
    from numbaflow.jit.codegen.compile import STATS

    return STATS.compiles, STATS.hits


class Worker:
    """Holds a model between commands; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        start = time.perf_counter()
        self._peer, self._tf, self._threads = peer, module_of(peer), threads
        self._imported, self._baseline = time.perf_counter() - start, memory("VmRSS")
        self._steps: Any = None

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": getattr(self._tf, "__numbaflow_version__", None) or self._tf.__version__}

    def build(self, model: str, sizes: dict[str, Any] | None = None) -> dict[str, Any]:
        """Builds a model; the seconds until its variables are there, of its first step, and of the
        first five together.  It goes on until all is compiled that later ones need.
        """
        if not has(self._peer, model):
            return {"absent": True}
        if self._steps is not None:
            self._steps.close()
        start = time.perf_counter()
        self._steps = steps_of(self._peer, self._tf, model, self._threads, sizes or {})
        ready = time.perf_counter()
        taken = [self._step()[0] for _ in range(_FIRST)]
        settle(self._step)
        seconds = {"build": ready - start, "first": taken[0], "five": sum(taken)}
        return {**seconds, "compiled": compiled()[0]}

    def block(self, seconds: float) -> dict[str, Any]:
        """Steps for about `seconds`: what each takes on average, by the clock and of processors.

        A first one, which brings back the caches, does not count unless it takes most of the turn.
        """
        first = self._step()
        taken = [first] if first[0] > seconds / 2 else []
        while sum(clock for clock, _ in taken) < seconds:
            taken.append(self._step())
        clock, processor = (sum(values) / len(taken) for values in zip(*taken))
        return {"mean": clock, "processor": processor}

    def peak(self, steps: int) -> dict[str, Any]:
        """The greatest size of the process after more steps, and its size after the import."""
        for _ in range(steps):
            self._steps.run()
        return {"peak": memory("VmHWM"), "baseline": self._baseline, "imported": self._imported}

    def losses(
        self, model: str, sizes: dict[str, Any], steps: int, first: str | None = None
    ) -> dict[str, Any]:
        """What the first steps give; `first` is a file of the variables' first values."""
        taken = steps_of(self._peer, self._tf, model, self._threads, sizes, first)
        found = [[np.asarray(value).tolist() for value in taken.run()] for _ in range(steps)]
        taken.close()
        return {"losses": found}

    def _step(self) -> tuple[float, float]:
        clock, processor = time.perf_counter(), time.process_time()
        self._steps.run()
        return time.perf_counter() - clock, time.process_time() - processor


if __name__ == "__main__":
    serve(Worker)
