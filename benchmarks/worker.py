# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison: a process that builds and times workloads on request.

Reads JSON commands, one a line, from standard input and answers each with one line of JSON.
Runs under any Python that has the module named by BENCHMARK_MODULE.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workloads import WORKLOADS, images, mlp


class Worker:
    """Holds the current workload's session between commands."""

    def __init__(self, module: str, threads: int) -> None:
        self.tf: Any = importlib.import_module(module)
        if hasattr(self.tf, "disable_v2_behavior"):
            self.tf.disable_v2_behavior()
        self.config = self.tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        self.session: Any = None
        self.step: Any = None

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Does one command: version, build, measure or new_batch."""
        return dict(getattr(self, command.pop("do"))(**command))

    def version(self) -> dict[str, Any]:
        name = "__numbaflow_version__"
        return {"version": getattr(self.tf, name, None) or self.tf.__version__}

    def build(self, workload: str) -> dict[str, Any]:
        """Builds a workload and warms it up; the seconds of its first step."""
        if self.session is not None:
            self.session.close()
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.set_random_seed(0)
            fetches, feeds = WORKLOADS[workload](self.tf)
            start = self.tf.global_variables_initializer()
        session = self.session = self.tf.Session(graph=graph, config=self.config)
        session.run(start)
        self.step = lambda: session.run(fetches, feeds)
        first = _seconds(self.step)
        for _ in range(4):
            self.step()
        return {"first": first}

    def measure(self, seconds: float) -> dict[str, Any]:
        """Times steps for about `seconds`; their median and number."""
        times: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 5:
            times.append(_seconds(self.step))
        return {"median": statistics.median(times), "runs": len(times)}

    def new_batch(self) -> dict[str, Any]:
        """First step at batch sizes never seen before, against a later step at the same size."""
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.set_random_seed(0)
            train, loss, x, labels = mlp(self.tf)
            start = self.tf.global_variables_initializer()
        ratios, compiled = [], 0
        with self.tf.Session(graph=graph, config=self.config) as session:
            session.run(start)
            for size in (128, 100, *range(64, 76)):
                pixels, classes = images(size)
                if size == 64:
                    compiled = _kernels_compiled()
                feeds = {x: pixels, labels: classes}

                def step(feeds: dict[Any, Any] = feeds) -> None:
                    session.run([train, loss], feeds)

                first = _seconds(step)
                later = statistics.median(_seconds(step) for _ in range(10))
                if size < 100:
                    ratios.append(first / later)
        compiled = _kernels_compiled() - compiled
        return {"ratio": statistics.median(ratios), "compiled": compiled}


def _seconds(step: Any) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def _kernels_compiled() -> int:
    """How many kernels this process has compiled; zero under TensorFlow."""
    if "numbaflow" not in sys.modules:
        return 0
    from start import kernels_compiled

    return kernels_compiled()


def main() -> None:
    """Answers commands until the input ends."""
    # Whatever a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    module = os.environ.get("BENCHMARK_MODULE", "numbaflow")
    worker = Worker(module, int(os.environ.get("BENCHMARK_THREADS", "2")))
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
