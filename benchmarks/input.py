# SPDX-License-Identifier: Apache-2.0
"""Input pipelines against TensorFlow's: `python -m benchmarks.input [rows]`.

Both sides take turns in processes of their own; the least time of a pass counts.  TensorFlow is the
one of NUMBAFLOW_TF_PYTHON.  With `--side` the module is the worker of one side.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_ELEMENTS = int(os.environ.get("NUMBAFLOW_INPUT_ELEMENTS", "1000000"))
_TURNS, _PASSES = 2, 2


def rows(tf: Any, count: int) -> dict[str, Callable[[], Any]]:
    """By name, what makes a dataset of `count` elements."""
    dataset = tf.data.Dataset
    numbers = np.arange(count, dtype=np.float32)
    pictures = np.zeros((max(count // 500, 1), 32, 32, 3), np.uint8)

    def slices(array: Any = numbers) -> Any:
        return dataset.from_tensor_slices(array)

    return {
        "map, shuffle, batch": lambda: (
            slices().map(lambda x: x * 2 + 1).shuffle(10_000, seed=1).batch(128)
        ),
        "map in parallel, batch, prefetch": lambda: (
            slices().map(lambda x: x * 2 + 1, num_parallel_calls=2).batch(128).prefetch(2)
        ),
        "filter, batch": lambda: (
            dataset.range(count).filter(lambda x: tf.equal(x % 3, 0)).batch(128)
        ),
        "pictures as floats, batch": lambda: (
            slices(pictures).map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(32)
        ),
        "shuffle, repeat, batch": lambda: (
            slices().shuffle(10_000, seed=1).repeat(2).take(count).batch(128)
        ),
        "strings, one by one": lambda: dataset.range(count // 50).map(tf.as_string).batch(128),
    }


def _seconds(tf: Any, make: Callable[[], Any]) -> float:
    """The least time of a pass over a dataset."""
    best = float("inf")
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        element = iterator.get_next()
        with tf.Session() as session:
            for _ in range(_PASSES):
                session.run(iterator.initializer)
                start = time.perf_counter()
                try:
                    while True:
                        session.run(element)
                except tf.errors.OutOfRangeError:
                    best = min(best, time.perf_counter() - start)
    return best


def _worker(side: str, wanted: str) -> None:
    if side == "tensorflow":
        import tensorflow

        tf: Any = tensorflow.compat.v1
        tf.disable_v2_behavior()
    else:
        import numbaflow as tf
    found = {
        name: _seconds(tf, make) for name, make in rows(tf, _ELEMENTS).items() if wanted in name
    }
    print(json.dumps(found))


def _measured(python: str, side: str, wanted: str) -> dict[str, float]:
    command = [python, os.path.abspath(__file__), "--side", side, wanted]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> None:
    """Prints a table of seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", default="")
    parser.add_argument("rows", nargs="?", default="")
    arguments = parser.parse_args()
    if arguments.side:
        _worker(arguments.side, arguments.rows)
        return
    pythons = {"numbaflow": sys.executable}
    if os.environ.get("NUMBAFLOW_TF_PYTHON"):
        pythons["tensorflow"] = os.environ["NUMBAFLOW_TF_PYTHON"]
    best: dict[str, dict[str, float]] = {side: {} for side in pythons}
    for _ in range(_TURNS):
        for side, python in pythons.items():
            for name, seconds in _measured(python, side, arguments.rows).items():
                best[side][name] = min(seconds, best[side].get(name, seconds))
    print(f"{_ELEMENTS} elements; seconds of a pass")
    for name, ours in best["numbaflow"].items():
        theirs = best.get("tensorflow", {}).get(name)
        peer = "" if theirs is None else f"{theirs:10.3f} {ours / theirs:8.2f}"
        print(f"{name:36s} {ours:10.3f} {peer}")


if __name__ == "__main__":
    main()
