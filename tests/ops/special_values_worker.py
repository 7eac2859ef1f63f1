# SPDX-License-Identifier: Apache-2.0
"""Maxima, minima, orders and norms of NaN, infinities and zeros; run once per implementation.

As a script, `python special_values_worker.py MODULE OUT.json` imports a TensorFlow 1.x API by
name.  Works under Python 3.7 with NumPy 1.18.
"""

import importlib
import json
import sys

import numpy as np

NAN, INF = np.nan, np.inf
FOURS = [
    [NAN, 3, 2, -5], [1, NAN, 2, -5], [1, 3, NAN, -5], [1, 3, 2, NAN], [NAN, NAN, 2, 1],
    [1, NAN, NAN, 2], [NAN] * 4, [-INF] * 4, [-INF, NAN, -INF, -INF], [NAN, -INF, -INF, -INF],
    [INF] * 4, [INF, NAN, 1, 2], [0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, 0.0, -0.0], [-1] * 4,
    [-INF, -3.4028234663852886e38, -INF, NAN],
]  # fmt: skip
CHANNELS = (1, 3, 16)
LENGTHS = (1, 2, 9, 40)


def _one_nan_each(length):
    """Rows with a NaN at each place, rising and falling, and rows of one value."""
    rising = np.arange(length) - 3.0
    rows = [row.copy() for row in (rising, rising[::-1]) for _ in range(length)]
    for i, row in enumerate(rows):
        row[i % length] = NAN
    return np.array([*rows, *np.full((3, length), [[NAN], [-INF], [INF]])])


class _Cases:
    """Tensors by name, and the arrays that their placeholders are fed."""

    def __init__(self, tf):
        self.tf, self.fetches, self.feeds = tf, {}, {}

    def feed(self, array):
        placeholder = self.tf.placeholder(array.dtype, array.shape)
        self.feeds[placeholder] = array
        return placeholder


def _reductions(cases):
    tf = cases.tf
    for dtype in ("float32", "float64", "float16"):
        for length in LENGTHS:
            rows = _one_nan_each(length).astype(dtype)
            by_row, by_column = cases.feed(rows), cases.feed(np.ascontiguousarray(rows.T))
            for name in ("reduce_max", "reduce_min"):
                function, key = getattr(tf, name), f"{name}/{dtype}/{length}"
                cases.fetches[key + "/rows"] = function(by_row, axis=1)
                cases.fetches[key + "/columns"] = function(by_column, axis=0)
                cases.fetches[key + "/all"] = function(by_row[-3])
        empty = cases.feed(np.zeros((2, 0), dtype))
        cases.fetches["reduce_max/empty/" + dtype] = tf.reduce_max(empty, axis=1)
        cases.fetches["reduce_min/empty/" + dtype] = tf.reduce_min(empty, axis=1)


def _norms(cases):
    norm = cases.tf.math.reduce_euclidean_norm
    for dtype in ("float32", "float64", "float16", "int32", "complex64"):
        for shape in ((1,), (1, 3), (3, 1), (1, 3, 1), (0, 1)):
            x = cases.feed((np.arange(np.prod(shape)) - 3).reshape(shape).astype(dtype))
            for axes in ([0], [len(shape) - 1], sorted({0, len(shape) - 1}), None):
                key = f"euclidean_norm/{dtype}/{shape}/{axes}"
                cases.fetches[key] = norm(x, axis=axes)


def _pools(cases):
    nn, gradients = cases.tf.nn, cases.tf.gradients
    fours = np.float32(FOURS)
    for depth in CHANNELS:
        x = cases.feed(np.tile(fours.reshape(-1, 2, 2, 1), (1, 2, 2, depth)))
        for size in (2, 3):
            key = f"{depth}/{size}"
            window = [1, size, size, 1], [1, 2, 2, 1], "SAME"
            top = nn.max_pool(x, *window)
            cases.fetches["max_pool/" + key] = top
            cases.fetches["max_pool_gradient/" + key] = gradients(top, x)[0]
            top, places = nn.max_pool_with_argmax(x, *window)
            cases.fetches["max_pool_with_argmax/" + key] = top
            cases.fetches["places/" + key] = places
    flat = cases.feed(fours.reshape(-1, 1, 1, 4))
    cases.fetches["depth/"] = nn.max_pool(flat, [1, 1, 1, 4], [1, 1, 1, 4], "VALID")
    volume = cases.feed(fours.reshape(-1, 2, 2, 1, 1))
    top = nn.max_pool3d(volume, [1, 2, 2, 1, 1], [1, 2, 2, 1, 1], "SAME")
    cases.fetches["max_pool3d/"] = top
    cases.fetches["max_pool3d_gradient/"] = gradients(top, volume)[0]


def _segments(cases):
    tf, fours = cases.tf, np.float32(FOURS)
    x = cases.feed(np.ascontiguousarray(fours.T))
    for name in ("segment_max", "segment_min"):
        in_order, unsorted = getattr(tf, name), getattr(tf, "unsorted_" + name)
        cases.fetches[name + "/one"] = in_order(x, np.int32([0, 0, 0, 0]))
        cases.fetches[name + "/gap"] = in_order(x, np.int32([0, 2, 2, 2]))
        cases.fetches["unsorted_" + name + "/two"] = unsorted(x, np.int32([2, 0, 2, 0]), 4)
        cases.fetches["unsorted_" + name + "/one"] = unsorted(x, np.int32([1, 1, 1, 1]), 2)


def _orders(cases):
    tf, random = cases.tf, np.random.RandomState(1)
    fours = np.float32(FOURS)
    x, y = cases.feed(fours), cases.feed(np.ascontiguousarray(fours.T))
    for name in ("argmax", "argmin"):
        cases.fetches[name + "/rows"] = getattr(tf, name)(x, axis=1)
        cases.fetches[name + "/columns"] = getattr(tf, name)(y, axis=0)
    for i, four in enumerate(FOURS):
        cases.fetches[f"unique/{four}"] = tf.unique(x[i])[1]
    for length in (2, 4, 16, 17, 64, 100):
        rows = random.randn(24, length).astype(np.float32).round(1)
        rows[random.rand(*rows.shape) < np.linspace(0, 1, 24)[:, None]] = NAN
        x = cases.feed(rows)
        for count in sorted({1, 2, length // 2, length - 1, length}):
            top, places = tf.nn.top_k(x, count)
            cases.fetches[f"top_k/{length}/{count}"] = top
            cases.fetches[f"top_k/places/{length}/{count}"] = places


FAMILIES = [_reductions, _norms, _pools, _segments, _orders]


def compute(tf):
    """Values of all cases, by name."""
    results = {}
    for family in FAMILIES:
        with tf.Graph().as_default(), tf.Session() as session:
            cases = _Cases(tf)
            family(cases)
            results.update(session.run(cases.fetches, cases.feeds))
    return {name: _texts(np.asarray(value)) for name, value in results.items()}


def _texts(value):
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], -1)
    return " ".join(f"{number:.9g}" for number in value.ravel().tolist())


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    if sys.argv[1] == "tensorflow.compat.v1":
        module.disable_eager_execution()
    with open(sys.argv[2], "w") as file:
        json.dump(compute(module), file, indent=0, sort_keys=True)
        file.write("\n")
