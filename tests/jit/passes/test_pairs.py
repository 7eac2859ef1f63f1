# SPDX-License-Identifier: Apache-2.0
"""Ops that move, pick, join and reduce elements, each behind each other: compiled as by reference.

All of a producer's graphs run in mode `always`, which lets no fault of the compiler pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

Step = Callable[[Any, Any], Any]


def _index(x: Any, i: Any) -> Any:
    """A fed index, brought within the first dimension."""
    return tf.floormod(i, tf.maximum(tf.shape(x)[0], 1))


def _rows(x: Any) -> Any:
    """A tensor with at least one dimension."""
    return tf.reshape(x, [-1]) if x.shape.ndims == 0 else x


def _of_matrix(step: Callable[[Any], Any]) -> Step:
    """A step on matrices, for any rank."""
    return lambda x, i: step(tf.reshape(x, [1, -1] if x.shape.ndims < 2 else [tf.shape(x)[0], -1]))


def _first(step: Step) -> Step:
    return lambda x, i: step(_rows(x), i)


STEPS: dict[str, Step] = {
    "map": lambda x, i: tf.tanh(x) * 0.5,
    "reduce first": _first(lambda x, i: tf.reduce_sum(x, 0)),
    "reduce last": _first(lambda x, i: tf.reduce_max(x, -1)),
    "reduce kept": _first(lambda x, i: tf.reduce_mean(x, 0, keepdims=True)),
    "reduce all": lambda x, i: tf.reduce_sum(x),
    "argmax": _first(lambda x, i: tf.cast(tf.argmax(x, 0), tf.float32)),
    "softmax": _first(lambda x, i: tf.nn.softmax(x)),
    "normalise": _first(lambda x, i: x - tf.reduce_mean(x, -1, keepdims=True)),
    "cumsum": _first(lambda x, i: tf.cumsum(x)),
    "gather scalar": _first(lambda x, i: tf.gather(x, _index(x, i))),
    "gather vector": _first(lambda x, i: tf.gather(x, tf.stack([_index(x, i), 0, _index(x, i)]))),
    "gather matrix": _first(lambda x, i: tf.gather(x, tf.fill([2, 2], _index(x, i)))),
    "gather last": _first(lambda x, i: tf.gather(x, [0, 0], axis=-1)),
    "gather nd": _first(lambda x, i: tf.gather_nd(x, [[_index(x, i)], [0]])),
    "element": _first(lambda x, i: x[_index(x, i)]),
    "slice": _first(lambda x, i: x[1:]),
    "strided": _first(lambda x, i: x[::2]),
    "reverse": _first(lambda x, i: tf.reverse(x, [0])),
    "transpose": lambda x, i: tf.transpose(x),
    "flatten": lambda x, i: tf.reshape(x, [-1]),
    "expand": lambda x, i: tf.expand_dims(x, 0),
    "pad": _first(lambda x, i: tf.pad(x, [[1, 2]] + [[0, 0]] * (x.shape.ndims - 1))),
    "tile": _first(lambda x, i: tf.tile(x, [2] + [1] * (x.shape.ndims - 1))),
    "concat": _first(lambda x, i: tf.concat([x, tf.exp(-x * x)], 0)),
    "stack": lambda x, i: tf.stack([x, x + 1.0]),
    "broadcast": lambda x, i: x + tf.zeros(tf.concat([[2], tf.shape(x)], 0)),
    "select": lambda x, i: tf.where(x > 0.0, x, tf.zeros_like(x)),
    "one hot": _first(lambda x, i: tf.one_hot(tf.cast(tf.abs(x), tf.int32) % 3, 3)),
    "segment": _first(lambda x, i: tf.unsorted_segment_sum(x, tf.zeros_like(x, tf.int32), 2)),
    "matmul": _of_matrix(lambda x: tf.matmul(x, x, transpose_b=True)),
    "top": _first(lambda x, i: tf.nn.top_k(x, 1)[0]),
    "meets itself": _first(lambda x, i: x * tf.reduce_sum(x, 0)),
}
SIZES = ((3, 4), (1, 4), (3, 1))


def _values(shape: tuple[int, ...], steps: tuple[str, ...], mode: str) -> Any:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x, i = tf.placeholder(tf.float32, [None] * len(shape)), tf.placeholder(tf.int32, [])
        y = x
        for step in steps:
            y = STEPS[step](y, i)
        data = np.random.default_rng(3).uniform(-2, 2, shape).astype(np.float32)
        try:
            return session.run(y, {x: data, i: 2})
        except tf.errors.InvalidArgumentError as error:
            return error


def compare(shape: tuple[int, ...], *steps: str) -> None:
    """Holds the compiled value of steps in a row, or what is wrong, against the reference."""
    want, got = (_values(shape, steps, mode) for mode in ("never", "always"))
    if isinstance(want, Exception):
        assert str(got).split("[[")[0] == str(want).split("[[")[0], (shape, steps)
        return
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=str((shape, steps)))


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_one_element_of_a_reduction_is_compiled(shape):
    for producer in ("reduce first", "reduce last", "reduce kept", "argmax", "normalise"):
        for consumer in ("gather scalar", "gather matrix", "element"):
            compare(shape, producer, consumer, "map")


@pytest.mark.deep
@pytest.mark.parametrize("producer", STEPS)
def test_any_op_behind_any_other_equals_the_reference(producer):
    for shape in SIZES:
        for consumer in STEPS:
            compare(shape, producer, consumer)


@pytest.mark.deep
@pytest.mark.parametrize("first", STEPS)
def test_three_ops_in_a_row_equal_the_reference(first):
    random = np.random.default_rng(len(first))
    for _ in range(24):
        second, third = random.choice(list(STEPS), 2)
        compare((3, 4), first, second, third)
