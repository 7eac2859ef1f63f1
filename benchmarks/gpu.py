# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu`: what a GPU does of what it could, into benchmarks/results/gpu/.

Values stay on the card, in variables.  Rates are of bytes that must move, beside a copy's, and of
operations of products; every figure is the median of several series of runs, which begin one behind
the other and are awaited together.  PyTorch, where it is installed, does the same beside.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numbaflow as tf
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit import threads

from .report import machine

RESULTS = Path(__file__).parent / "results" / "gpu"
_SERIES, _RUNS = 7, 10


def seconds(run: Callable[[], object], wait: Callable[[], object]) -> float:
    """What a run takes of a series, to the end of what the card does; the median of some series."""
    taken = []
    for _ in range(_SERIES + 2):
        wait()
        start = time.perf_counter()
        for _ in range(_RUNS):
            run()
        wait()
        taken.append((time.perf_counter() - start) / _RUNS)
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


def normed(scale: int) -> tuple[Any, float, float]:
    """Layer norms of rows of 4,096."""
    x, y = variable([scale // 4096, 4096]), variable([scale // 4096, 4096])
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return tf.assign(y, (x - mean) * tf.rsqrt(variance + 1e-6)).op, 8.0 * scale, 0.0


def summed(scale: int) -> tuple[Any, float, float]:
    """A sum of all."""
    x, y = variable([scale]), variable([])
    return tf.assign(y, tf.reduce_sum(x)).op, 4.0 * scale, 0.0


def columns(scale: int) -> tuple[Any, float, float]:
    """Sums of 64 columns, as gradients of biases are."""
    x, y = variable([scale // 64, 64]), variable([64])
    return tf.assign(y, tf.reduce_sum(x, 0)).op, 4.0 * scale, 0.0


def turned(scale: int) -> tuple[Any, float, float]:
    """The transpose of a matrix of 4,096 columns."""
    x, y = variable([scale // 4096, 4096]), variable([4096, scale // 4096])
    return tf.assign(y, tf.transpose(x)).op, 8.0 * scale, 0.0


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
    *(copied, chained, softmax, normed, summed, columns, turned, adam, product)
]


def in_torch(scale: int) -> dict[str, Callable[[Any], Callable[[], object]]]:
    """What PyTorch does of the same, by case; each makes its values and gives what is timed."""

    def of(shape: list[int], make: Callable[[Any, Any], Callable[[], object]]) -> Any:
        return lambda torch: make(torch, torch.rand(shape, device="cuda") + 0.5)

    wide, side = [scale // 4096, 4096], int(scale**0.5) // 128 * 128

    def copy(torch: Any, x: Any) -> Callable[[], object]:
        y = torch.empty_like(x)
        return lambda: y.copy_(x)

    return {
        "copied": of([scale], copy),
        "softmax": of(wide, lambda torch, x: lambda: torch.softmax(x, 1)),
        "normed": of(wide, lambda torch, x: lambda: torch.layer_norm(x, (4096,))),
        "summed": of([scale], lambda torch, x: x.sum),
        "columns": of([scale // 64, 64], lambda torch, x: lambda: x.sum(0)),
        "turned": of(wide, lambda torch, x: lambda: x.t().contiguous()),
        "product": of([side, side], lambda torch, x: lambda: x @ x),
    }


def measured(scale: int) -> Iterator[dict[str, Any]]:
    """A row per case."""
    copy_rate = 0.0
    for case in CASES:
        with tf.Graph().as_default(), tf.Session() as session:
            operation, moved, operations = case(scale)
            session.run(tf.global_variables_initializer())
            taken = seconds(partial(session.run, operation), session.gpu.device.synchronize)
        copy_rate = copy_rate or moved / taken
        yield {
            "case": case.__name__,
            "seconds": taken,
            "bytes_per_second": moved / taken,
            "of_a_copy": moved / taken / copy_rate if moved else None,
            "operations_per_second": operations / taken,
            "torch_seconds": torch_seconds(case.__name__, scale),
        }


def torch_seconds(name: str, scale: int) -> float | None:
    """What PyTorch takes for a case; None where it is not installed or has no such thing."""
    make = in_torch(scale).get(name)
    try:
        import torch
    except ImportError:
        return None
    if make is None or not torch.cuda.is_available():
        return None
    return seconds(make(torch), torch.cuda.synchronize)


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
        beside, torch = "", row["torch_seconds"]
        if torch is not None:
            beside = f"  PyTorch {torch * 1e3:.3f} ms"
        print(f"{row['case']:10} {row['seconds'] * 1e3:9.3f} ms{share}{beside}")
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
