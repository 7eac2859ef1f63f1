# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu_kernels`: what a GPU takes to scan, scatter, sort, pick and transpose.

Every result is held against NumPy's, then timed with values that stay on the card; PyTorch does the
same in the same process where it is installed.  Writes a table into benchmarks/results/gpu/.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit import threads

from .report import machine

RESULTS = Path(__file__).parent / "results" / "gpu"
_RUNS = 9
rng = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """What is computed of arrays: by us, by NumPy, and by PyTorch (if it has it)."""

    arrays: tuple[np.ndarray, ...]
    ours: Callable[..., Any]
    numpy: Callable[..., Any]
    torch: Callable[..., Any] | None = None


def cases(scale: int) -> Iterator[tuple[str, Callable[[], Case]]]:
    """By name; `scale` is how many elements the large ones have."""
    yield "cumsum of a vector", lambda: cumsum((scale,), 0)
    yield "cumsum of rows", lambda: cumsum((max(scale >> 12, 1), min(1 << 12, scale)), 1)
    yield "cumsum of columns", lambda: cumsum((min(1 << 10, scale), max(scale >> 10, 1)), 0)
    yield "sum of 512 rows into 8000", lambda: embedding(min(512, scale), 8000, scale)
    yield "sum of 65536 rows into 50000", lambda: embedding(min(1 << 16, scale), 50_000, scale)
    yield "sum into 10 rows", lambda: embedding(min(1 << 16, scale), 10, scale)
    yield "counts of bins", lambda: counts(scale >> 2)
    yield "sums of sorted segments", lambda: segments(min(1 << 16, scale))
    yield "gather of rows", lambda: gathered(min(1 << 16, scale), scale)
    yield "top 100 of a vector", lambda: top((scale >> 2,), 100)
    yield "top 5 of rows", lambda: top((max(scale >> 12, 1), 1000), 5)
    yield "sort of a vector", lambda: ordered((scale >> 2,))
    yield "sort of rows", lambda: ordered((max(scale >> 14, 1), 4096))
    yield "places of what is true", lambda: places(scale >> 2)
    yield "unique", lambda: unique(scale >> 4)
    yield "transpose", lambda: transposed((int(scale**0.5), int(scale**0.5)), (1, 0))
    yield "NHWC to NCHW", lambda: transposed((max(scale >> 16, 1), 32, 32, 64), (0, 3, 1, 2))


def numbers(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def cumsum(shape: tuple[int, ...], axis: int) -> Case:
    return Case(
        (numbers(*shape),),
        lambda x: tf.cumsum(x, axis),
        lambda x: np.cumsum(x, axis, np.float64),
        lambda torch, x: torch.cumsum(x, axis),
    )


def embedding(count: int, rows: int, scale: int) -> Case:
    width = min(256 if count <= 512 else 128, scale)
    ids = rng.integers(0, rows, count).astype(np.int32)

    def summed(data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        found = np.zeros((rows, width))
        np.add.at(found, ids, data)
        return found

    return Case(
        (numbers(count, width), ids),
        lambda data, ids: tf.unsorted_segment_sum(data, ids, rows),
        summed,
        lambda torch, data, ids: torch.zeros((rows, width), device="cuda").index_add(0, ids, data),
    )


def counts(count: int) -> Case:
    return Case(
        (rng.integers(0, 1000, count).astype(np.int32),),
        lambda x: tf.math.bincount(x, minlength=1000, maxlength=1000),
        lambda x: np.bincount(x, minlength=1000),
        lambda torch, x: torch.bincount(x, minlength=1000),
    )


def segments(count: int) -> Case:
    ids = np.sort(rng.integers(0, max(count // 8, 1), count)).astype(np.int32)
    ids[-1] = max(count // 8, 1) - 1

    def summed(data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        found = np.zeros((ids[-1] + 1, 64))
        np.add.at(found, ids, data)
        return found

    return Case((numbers(count, 64), ids), tf.segment_sum, summed)


def gathered(count: int, scale: int) -> Case:
    return Case(
        (numbers(min(50_000, scale), 128), rng.integers(0, min(50_000, scale), count)),
        tf.gather,
        lambda x, ids: x[ids],
        lambda torch, x, ids: torch.index_select(x, 0, ids),
    )


def top(shape: tuple[int, ...], kept: int) -> Case:
    return Case(
        (numbers(*shape),),
        lambda x: tf.nn.top_k(x, kept)[0],
        lambda x: -np.sort(-x, -1)[..., :kept],
        lambda torch, x: torch.topk(x, kept)[0],
    )


def ordered(shape: tuple[int, ...]) -> Case:
    return Case(
        (numbers(*shape),),
        lambda x: tf.sort(x, axis=-1),
        lambda x: np.sort(x, -1),
        lambda torch, x: torch.sort(x, -1)[0],
    )


def places(count: int) -> Case:
    return Case(
        (rng.random(count) < 0.5,),
        tf.where,
        np.argwhere,
        lambda torch, x: torch.nonzero(x),
    )


def unique(count: int) -> Case:
    def first_met(x: np.ndarray) -> np.ndarray:
        new, first = np.unique(x, return_index=True)
        return new[np.argsort(first)]

    return Case(
        (rng.integers(0, max(count // 4, 1), count).astype(np.int32),),
        lambda x: tf.unique(x)[0],
        first_met,
        lambda torch, x: torch.unique(x),
    )


def transposed(shape: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    return Case(
        (numbers(*shape),),
        lambda x: tf.transpose(x, axes),
        lambda x: x.transpose(axes),
        lambda torch, x: x.permute(axes).contiguous(),
    )


def timed(run: Callable[[], object], wait: Callable[[], object]) -> float:
    """The median of a few runs, each to the end of what the card does."""
    taken = []
    for _ in range(_RUNS + 2):
        wait()
        start = time.perf_counter()
        run()
        wait()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[2:])


def ours(case: Case) -> tuple[float, bool]:
    """Seconds, and whether the result is NumPy's."""
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.placeholder(a.dtype, a.shape) for a in case.arrays]
        held = [tf.Variable(value, trainable=False) for value in given]
        made = case.ours(*held)
        # (Of what nobody has, nothing is computed; of what has a size of the run, its greatest.)
        kept = made if made.shape.is_fully_defined() else tf.reduce_max(made)
        into = tf.Variable(tf.zeros(kept.shape, kept.dtype), trainable=False)
        step = tf.assign(into, kept).op
        session.run(tf.global_variables_initializer(), dict(zip(given, case.arrays)))
        found = session.run(made)
        wanted = case.numpy(*case.arrays)
        is_right = found.shape == wanted.shape and bool(
            np.allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max(initial=1))
        )
        session.run(step)
        return timed(lambda: session.run(step), session.gpu.device.synchronize), is_right


def theirs(case: Case) -> float | None:
    """PyTorch's seconds, where it is installed and has a card."""
    try:
        import torch
    except ImportError:
        return None
    if case.torch is None or not torch.cuda.is_available():
        return None
    arrays = [torch.from_numpy(a).cuda() for a in case.arrays]
    return timed(lambda: case.torch(torch, *arrays), torch.cuda.synchronize)


def main() -> None:
    """Measures, prints and writes a dated report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_kernels", description=__doc__)
    parser.add_argument("--scale", type=int, default=1 << 24, help="elements of a large value")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--only", default="", help="cases whose names have this")
    options = parser.parse_args()
    if not gpus():
        raise SystemExit("This machine has no GPU that CUDA knows: see docs/cuda.md.")
    rows = []
    for name, make in cases(options.scale):
        if options.only not in name:
            continue
        case = make()
        seconds, is_right = ours(case)
        other = theirs(case)
        rows.append({"case": name, "seconds": seconds, "torch": other, "is_right": is_right})
        beside = "" if other is None else f"  PyTorch {other * 1e6:9.1f} us"
        wrong = "" if is_right else "  WRONG"
        print(f"{name:30} {seconds * 1e6:9.1f} us{beside}{wrong}", flush=True)
    now = datetime.now(UTC)
    found = {"date": now.isoformat(), "machine": machine(threads.cores()), "gpu": gpus()[0].name}
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"kernels-{now:%Y-%m-%d-%H%M%S}.json"
    file.write_text(json.dumps({**found, "rows": rows}, indent=1) + "\n")
    print(file)
    if not all(row["is_right"] for row in rows):
        raise SystemExit("not all results are those of NumPy")


if __name__ == "__main__":
    main()
