# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu_latency`: what a run costs on a GPU beside its work.

An empty run, a plan of 200 small kernels with its launches replayed and one by one, feeds and
fetches of some sizes, and what a process needs to its first result, with cached kernels or none.
Medians; a table and a dated file in benchmarks/results/gpu/.  It runs with an emulated device too
(NUMBAFLOW_GPU=emulated), whose figures say nothing of a card.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit import threads
from numbaflow.jit.cuda import stretch

from .report import machine

RESULTS = Path(__file__).parent / "results" / "gpu"
KERNELS = 200
_RUNS = 200
_SECONDS = 1.0  # that one figure takes at most
_LONG = 25_000_000  # numbers of a long feed
Row = tuple[str, float, str]

# What a process does whose time is taken: a training step of a small network.
_FIRST = """
import time
began = time.perf_counter()
import numpy as np
import numbaflow as tf
x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(x, 64, tf.nn.relu)
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 8))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([loss, step], {x: np.ones((32, 64)), y: np.zeros(32)})
print(time.perf_counter() - began)
"""


def median(work: Callable[[], Any]) -> float:
    """The median time of several calls; a few come before, in which plans are made."""
    for _ in range(5):
        work()
    taken: list[float] = []
    end = time.perf_counter() + _SECONDS
    while len(taken) < _RUNS and (len(taken) < 3 or time.perf_counter() < end):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def chain(x: Any) -> Any:
    """So many kernels: sums over all, each of which the next one needs."""
    for _ in range(KERNELS):
        x = x / (1.0 + tf.reduce_sum(tf.abs(x)))
    return x


def empty() -> Iterator[Row]:
    """Runs that have nothing to do, and next to nothing."""
    with tf.Graph().as_default(), tf.Session() as session:
        nothing, v = tf.no_op(), tf.Variable(1.0)
        once = tf.assign_add(v, 1.0).op
        session.run(v.initializer)
        yield "an operation that does nothing", median(lambda: session.run(nothing)), ""
        yield "one kernel, not awaited", _begun(session, once), ""
        yield "a variable's number comes back", median(lambda: session.run(v)), ""


def _begun(session: Any, operation: Any) -> float:
    """The median time to begin an operation; what it does is awaited outside."""
    device = session.gpu.device
    taken = []
    for _ in range(_RUNS):
        device.synchronize()
        start = time.perf_counter()
        session.run(operation)
        taken.append(time.perf_counter() - start)
    device.synchronize()
    return statistics.median(taken)


def plan() -> Iterator[Row]:
    """A plan of many small kernels."""
    least = stretch.LEAST
    for name, least_launches in (("replayed", least), ("one by one", sys.maxsize)):
        stretch.LEAST = least_launches
        try:
            with tf.Graph().as_default(), tf.Session() as session:
                begun, done, rows = _of_plan(session)
        finally:
            stretch.LEAST = least
        yield f"{KERNELS} kernels begun, {name}", begun, f"{rows} rows"
        yield f"{KERNELS} kernels done, {name}", done, f"{rows} rows"


def _of_plan(session: Any) -> tuple[float, float, int]:
    """Seconds to begin a plan and to its end, and how many rows it has."""
    v, out = tf.Variable(tf.ones([64])), tf.Variable(tf.ones([64]))
    step, device = tf.assign(out, chain(v)).op, session.gpu.device
    session.run(tf.global_variables_initializer())
    for _ in range(5):
        session.run(step)
    rows = max(len(run.launches) for run in _runs(session))
    begun = _begun(session, step)
    return begun, median(lambda: (session.run(step), device.synchronize())), rows


def _runs(session: Any) -> list[Any]:
    return [run for arena in session.gpu.arenas(session) for run in arena.runs.values()]


def copies() -> Iterator[Row]:
    """Feeds and fetches."""
    for count in (1, 250_000, _LONG):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None])
            v = tf.Variable(tf.zeros([count]))
            sink = tf.assign(v, x).op
            # (A run of its own makes what is fetched: a variable is copied only when it is newer.)
            source = v + 1.0
            session.run(v.initializer)
            values = np.ones(count, np.float32)
            device = session.gpu.device

            def fed(
                sink: Any = sink, x: Any = x, values: Any = values, device: Any = device
            ) -> None:
                session.run(sink, {x: values})
                device.synchronize()

            for name, work in (("fed", fed), ("fetched", lambda y=source: session.run(y))):
                taken = median(work)
                yield f"{4 * count:,} bytes {name}", taken, f"{4e-9 * count / taken:.1f} GB/s"


def starts() -> Iterator[Row]:
    """Processes to the first result of a training step."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "NUMBAFLOW_CACHE": folder,
            "NUMBAFLOW_JIT": "always",
            # The driver's own cache would hide what there is to compile.
            "CUDA_CACHE_DISABLE": "1",
        }
        for name in ("nothing cached", "all cached"):
            command = [sys.executable, "-c", _FIRST]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            yield f"a process to its first step, {name}", float(done.stdout), ""


def main() -> None:
    """Measures, prints and writes a dated report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_latency", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not gpus():
        raise SystemExit("This machine has no GPU that CUDA knows: see docs/cuda.md.")
    rows = []
    for part in (empty, plan, copies, starts):
        for name, seconds, note in part():
            print(f"{name:50} {seconds * 1e6:14,.1f} us  {note}", flush=True)
            rows.append({"case": name, "seconds": seconds, "note": note})
    now = datetime.now(UTC)
    found = {"date": now.isoformat(), "machine": machine(threads.cores())}
    found |= {"gpu": gpus()[0].name, "rows": rows}
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"latency-{now:%Y-%m-%d-%H%M%S}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    print(file)


if __name__ == "__main__":
    main()
