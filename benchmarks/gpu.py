# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu`: what a GPU does of what it could, into benchmarks/results/gpu/.

Values stay on the card, in variables.  Rates are of bytes that must move, beside a copy's, and of
operations of products; every figure is the median of several runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numbaflow as tf
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit import threads

from .report import machine

RESULTS = Path(__file__).parent / "results" / "gpu"
_RUNS = 20


def seconds(session: Any, operation: Any) -> float:
    """The median of a few runs, each to the end of what the card does."""
    device = session.gpu.device
    taken = []
    for _ in range(_RUNS + 2):
        device.synchronize()
        start = time.perf_counter()
        session.run(operation)
        device.synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[2:])


def variable(shape: list[int]) -> Any:
    """A variable of ordinary numbers that is made on the card."""
    return tf.Variable(tf.random_uniform(shape, 0.5, 1.5, seed=1))


def copied(scale: int) -> tuple[Any, float, float]:
    """A copy: what memory gives."""
    x, y = variable([scale]), variable([scale])
    return tf.assign(y, x).op, 8.0 * scale, 0.0


def chained(scale: int) -> tuple[Any, float, float]:
    """A chain of elementwise work."""
    x, y = variable([scale]), variable([scale])
    return tf.assign(y, tf.tanh(x * 2.0 + 1.0) * tf.exp(-x)).op, 8.0 * scale, 0.0


def softmax(scale: int) -> tuple[Any, float, float]:
    """Softmax of rows of 4,096."""
    x, y = variable([scale // 4096, 4096]), variable([scale // 4096, 4096])
    return tf.assign(y, tf.nn.softmax(x)).op, 8.0 * scale, 0.0


def summed(scale: int) -> tuple[Any, float, float]:
    """A sum of all."""
    x, y = variable([scale]), variable([])
    return tf.assign(y, tf.reduce_sum(x)).op, 4.0 * scale, 0.0


def adam(scale: int) -> tuple[Any, float, float]:
    """Adam's update of a variable by what it holds."""
    x = variable([scale])
    step = tf.train.AdamOptimizer().apply_gradients([(x * 1.0, x)])
    return step, 28.0 * scale, 0.0


def product(scale: int) -> tuple[Any, float, float]:
    """A product of square matrices."""
    side = int(scale**0.5) // 128 * 128
    x, y, z = variable([side, side]), variable([side, side]), variable([side, side])
    return tf.assign(z, tf.matmul(x, y)).op, 0.0, 2.0 * side**3


CASES: list[Callable[[int], tuple[Any, float, float]]] = [
    *(copied, chained, softmax, summed, adam, product)
]


def measured(scale: int) -> Iterator[dict[str, Any]]:
    """A row per case."""
    copy_rate = 0.0
    for case in CASES:
        with tf.Graph().as_default(), tf.Session() as session:
            operation, moved, operations = case(scale)
            session.run(tf.global_variables_initializer())
            taken = seconds(session, operation)
        copy_rate = copy_rate or moved / taken
        yield {
            "case": case.__name__,
            "seconds": taken,
            "bytes_per_second": moved / taken,
            "of_a_copy": moved / taken / copy_rate if moved else None,
            "operations_per_second": operations / taken,
        }


def main() -> None:
    """Measures, prints and writes a dated report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--scale", type=int, default=1 << 26, help="elements of a value")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not gpus():
        raise SystemExit("This machine has no GPU that CUDA knows: see docs/cuda.md.")
    device = gpus()[0]
    rows = list(measured(options.scale))
    for row in rows:
        share = "" if row["of_a_copy"] is None else f"  {row['of_a_copy']:.0%} of a copy"
        print(f"{row['case']:10} {row['seconds'] * 1e3:9.3f} ms{share}")
    now = datetime.now(UTC)
    found = {
        "date": now.isoformat(),
        "machine": machine(threads.cores()),
        "gpu": device.name,
        "rows": rows,
    }
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"{now:%Y-%m-%d-%H%M%S}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    print(file)


if __name__ == "__main__":
    main()
