# SPDX-License-Identifier: Apache-2.0
"""Summaries of many values as bytes, and what is refused; Python 3.7 reads this too.

    python summary_bytes.py OUT.json

records what TensorFlow 1.15 gives.
"""

from __future__ import annotations

import base64
import json
import pathlib
import sys
from typing import Any

import numpy as np

NOT_FINITE = {"nan": [1, np.nan, np.inf], "inf": [1, -np.inf, np.nan]}
EDGES = {
    "big": [1e300, -1e300, 1e200],
    "last": [1e20, 9e19, 1.7e308],
    "tiny": [1e-13, -1e-13, 0.0, -0.0, 1e-12, -1e-12, 1.1e-12],
    "limits": [s * 1e-12 * 1.1**i for i in range(40) for s in (1, -1)],
}
SAMPLES = [0, 1, -1, 0.5 / 32768, 1.5 / 32768, -1.5 / 32768, 0.99999, 2, -2, np.inf, -np.inf]


def _histograms(tf: Any, draw: Any) -> Any:
    for dtype in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64"):
        for size in (0, 1, 300):
            values = np.abs(draw.standard_cauchy(size) * 3 + 20).clip(0, 100).astype(dtype)
            yield f"histogram {dtype} {size}", tf.summary.histogram, values
    for name, edges in list(EDGES.items()) + list(NOT_FINITE.items()):
        yield "histogram " + name, tf.summary.histogram, np.array(edges)


def _images(tf: Any, draw: Any) -> Any:
    for dtype in ("uint8", "float16", "float32", "float64"):
        for depth in (1, 2, 3, 4):
            for scale, offset in ((100, 0), (0.3, -0.1), (1e-7, 0)):
                values = draw.rand(2, 3, 2, depth) * scale + offset * (dtype != "uint8")
                name = f"image {dtype} {depth} {scale:g}"
                yield name, tf.summary.image, values.astype(dtype)
                if dtype != "uint8":
                    values[0, 0, 0, 0], values[1, 2, 1, -1] = np.nan, -np.inf
                    yield name + " bad", tf.summary.image, values.astype(dtype)
    yield "image of none", tf.summary.image, np.zeros((1, 0, 2, 3), "f")
    yield "image flat", tf.summary.image, np.zeros((2, 2, 3), "f")


def _sounds(tf: Any, draw: Any) -> Any:
    def at(rate: float) -> Any:
        return lambda name, values: tf.summary.audio(name, values, rate, max_outputs=2)

    yield "audio edges", at(8000), np.array([SAMPLES], "f")
    for rate in (-1, 0, 0.2, 0.5, 1.5, 44100.5):
        yield f"audio at {rate:g}", at(rate), (draw.rand(3, 4, 2) * 2 - 1).astype("f")
    for shape in ((1, 0), (1, 2, 0), (0, 2), (3,), (1, 1, 1, 1)):
        yield f"audio of {shape}", at(8000), np.zeros(shape, "f")


def _tensors(tf: Any, draw: Any) -> Any:
    for dtype in ("float16", "float32", "int8", "uint16", "int64", "bool", "complex64"):
        for shape in ((), (2, 2), (0,)):
            values = np.asarray(draw.rand(*shape) * 3).astype(dtype)
            yield f"tensor {dtype} {shape}", tf.summary.tensor_summary, values
    for i, texts in enumerate((b"abc", [b"a", b"", b"a", b"a"], [[b"\xff\x00"]])):
        yield f"text {i}", tf.summary.text, np.array(texts, object)


def _numbers(tf: Any, draw: Any) -> Any:
    for dtype in ("float16", "float32", "float64", "uint8", "int64"):
        yield f"scalar {dtype}", tf.summary.scalar, np.asarray(draw.rand() * 9).astype(dtype)
    yield "scalars", tf.summary.scalar, np.zeros(2, "f")
    twice = lambda name, x: tf.summary.merge([tf.summary.scalar(name, x)] * 2)  # noqa: E731
    yield "merged twice", twice, np.zeros((), "f")
    kinds = (tf.summary.scalar, tf.summary.histogram, tf.summary.tensor_summary)
    merged = lambda name, x: tf.summary.merge([kind(name, x) for kind in kinds])  # noqa: E731
    yield "merged", merged, np.ones((), "f")


def results(tf: Any) -> dict[str, str]:
    """What each case gives: the bytes in base64, or the error's first line."""
    found = {}
    draw = np.random.RandomState(1)
    for family in (_histograms, _images, _sounds, _tensors, _numbers):
        for name, make, values in family(tf, draw):
            with tf.Graph().as_default(), tf.Session() as session:
                dtype = tf.string if values.dtype == object else values.dtype
                try:
                    x = tf.placeholder(dtype)
                    out = session.run(make("name", x), {x: values})
                    found[name] = base64.b64encode(out).decode()
                except tf.errors.OpError as error:
                    first = str(error).split("\n")[0]
                    found[name] = f"{type(error).__name__}: {first}"
    return found


if __name__ == "__main__":
    import tensorflow

    text = json.dumps(results(tensorflow), indent=0, sort_keys=True)
    pathlib.Path(sys.argv[1]).write_text(text + "\n")
