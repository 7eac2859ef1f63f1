# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison: a process that builds and times workloads on request.

Reads JSON commands, one a line, from standard input and answers each with one line of JSON.
`python -m benchmarks.worker PEER THREADS` runs under any Python that has the peer's package.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from . import limits, sides
from .serving import serve
from .warm_up import settle

# Sizes that the small network has never seen, and how many of them a peer that compiles tries.
_SEEN, _UNSEEN, _FEW = (128, 100), range(64, 76), 3


class Worker:
    """Holds the current workload's step between commands; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        self._side = sides.load(peer, threads)
        self._threads = threads
        self._step: Any = None
        self._few = peer in ("jax", "tensorflow_xla")

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": self._side.version()}

    def build(self, workload: str, sizes: dict[str, int] | None = None) -> dict[str, Any]:
        """Builds a workload and warms it up; the seconds until nothing new is compiled."""
        if workload not in self._side.workloads:
            return {"absent": True}
        self._step = None
        compiled = kernels(self._side)[0]
        self._step = self._side.step(workload, **(sizes or {}))
        first = first_call(self._side, self._step)
        settle(self._step)
        return {"first": first, "compiled": kernels(self._side)[0] - compiled}

    def measure(self, seconds: float) -> dict[str, Any]:
        """A turn: times steps for about `seconds`, after one that brings back the caches."""
        self._step()
        times: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 3:
            times.append(elapsed(self._step))
        return {"median": statistics.median(times), "least": min(times), "runs": len(times)}

    def new_batch(self) -> dict[str, Any]:
        """First step at batch sizes never seen before, against a later step at the same size."""
        at = self._side.batches()
        if at is None:
            return {"absent": True}
        ratios = []
        for size in _SEEN:
            settle(at(size))
        compiled = kernels(self._side)[0]
        for size in _UNSEEN[:_FEW] if self._few else _UNSEEN:
            step = at(size)
            first = elapsed(step)
            ratios.append(first / statistics.median(elapsed(step) for _ in range(10)))
        return {"ratios": ratios, "compiled": kernels(self._side)[0] - compiled}

    def copies(self) -> dict[str, Any]:
        """The machine's copy bandwidth, by the memory that is touched."""
        return {"copies": limits.copy_rates(self._threads)}

    def copy(self, footprint: int) -> dict[str, Any]:
        """The copy bandwidth of one footprint, now."""
        return {"rate": limits.copy_rate(footprint, self._threads)}

    def products(self, dtype: str) -> dict[str, Any]:
        """The rate of fused multiply-adds in NumPy's and the package's own matrix products."""
        return {
            "numpy": limits.numpy_rate(dtype),
            "numbaflow": limits.own_rate(self._side.tf, dtype),
        }

    def instructions(self, functions: list[str], dtype: str) -> dict[str, Any]:
        """How many instructions the package's scalar functions take."""
        return {name: limits.instructions(name, dtype) for name in functions}


def elapsed(step: Any) -> float:
    """The seconds of one step."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def kernels(side: Any) -> tuple[int, int, float]:
    """Kernels compiled and loaded so far, and the seconds of compiling, where the peer tells."""
    return side.kernels() if hasattr(side, "kernels") else (0, 0, 0.0)


def first_call(side: Any, step: Any) -> float:
    """Seconds until all is compiled: a first step may be interpreted and only the second compiled.

    Steps are taken until one of them compiles and loads nothing; that one does not count.
    """
    total, known = 0.0, kernels(side)[:2]
    while True:
        seconds = elapsed(step)
        now = kernels(side)[:2]
        if total and now == known:
            return total
        total, known = total + seconds, now


if __name__ == "__main__":
    serve(Worker)
