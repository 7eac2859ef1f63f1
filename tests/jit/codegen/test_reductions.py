# SPDX-License-Identifier: Apache-2.0
"""Positions of extremes, of every dtype in every form of kernel, against the reference."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

# More columns than a kernel keeps accumulators for at a time.
SHAPE = (5, 3, 150)
DTYPES = (
    *("float16", "bfloat16", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
INDEX = ("int32", "int64")
FUNCTIONS = (tf.argmax, tf.argmin)


def data(dtype: str) -> np.ndarray:
    """Numbers with many equal ones."""
    low = 0 if dtype.startswith("u") else -9
    drawn = np.random.default_rng(1).integers(low, 9, SHAPE)
    return drawn.astype(tf.as_dtype(dtype).as_numpy_dtype)


def agree(build, feed: np.ndarray, dtype: str) -> None:
    """Holds two compiled runs against one by the reference kernels."""
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.placeholder(dtype, [None, None, None])
            fetches = build(x)
            session.run(tf.global_variables_initializer())
            found += [session.run(fetches, {x: feed}) for _ in range(2)]
    for index, expected in enumerate(found[1]):
        for other in found[2:]:
            assert other[index].dtype == expected.dtype
            np.testing.assert_array_equal(other[index], expected)


def test_every_axis_function_and_type_of_position():
    def build(x):
        return [
            fn(x, axis, output_type=kind) for fn in FUNCTIONS for axis in range(3) for kind in INDEX
        ]

    agree(build, data("float32"), "float32")


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_by_rows_and_by_columns(dtype):
    def build(x):
        return [tf.argmax(x, 0, output_type=tf.int32), tf.argmin(x, 2, output_type=tf.int32)]

    agree(build, data(dtype), dtype)


def test_positions_among_other_work():
    def build(x):
        where = tf.argmax(tf.exp(x), 0, output_type=tf.int32)
        kept = tf.expand_dims(where, 0) + tf.cast(x, tf.int32)
        chained = tf.argmin(where * 2 - 3, 0, output_type=tf.int32)
        rows = tf.argmax(x - tf.reduce_max(x, 2, keepdims=True), 2, output_type=tf.int32)
        both = tf.reduce_sum(x, 0), tf.argmax(x, 0, output_type=tf.int32)
        hot = tf.one_hot(where, 5)
        return [where, kept, chained, rows, *both, hot, tf.gather(x, tf.reduce_max(where))]

    agree(build, data("float32"), "float32")


@pytest.mark.parametrize("kind", INDEX)
def test_positions_in_loops_and_variables(kind):
    def build(x):
        kept = tf.Variable(tf.zeros(SHAPE[1:], kind))

        def body(i, total):
            return i + 1, total + tf.argmax(x * tf.cast(i, tf.float32), 0, output_type=kind)

        start = tf.constant(-2), tf.zeros(SHAPE[1:], kind)
        looped = tf.while_loop(lambda i, _: i < 3, body, start)[1]
        branch = tf.cond(
            tf.reduce_sum(x) > 0,
            lambda: tf.argmin(x, 1, output_type=kind),
            lambda: tf.argmax(x, 1, output_type=kind),
        )
        return [looped, branch, kept.assign(tf.argmin(x, 0, output_type=kind))]

    agree(build, data("float32"), "float32")
