# SPDX-License-Identifier: Apache-2.0
"""Gradients of gradients through tensor arrays: those of the same function without arrays.

(TensorFlow refuses them: "Wrong input container", "Perhaps you used the multiple_writes...".)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

X = np.random.default_rng(4).standard_normal((3, 2))


def _array(x: Any, **options: Any) -> Any:
    return tf.TensorArray(x.dtype, 3, clear_after_read=False, **options).unstack(x)


def _written(x: Any) -> Any:
    out = tf.TensorArray(x.dtype, 3)
    rows = _array(x)
    for i in range(3):
        out = out.write(2 - i, tf.exp(rows.read(i)) * rows.read((i + 1) % 3))
    return out.stack()


def _in_parts(x: Any) -> Any:
    array = tf.TensorArray(x.dtype, 2, infer_shape=False).split(x, [1, 2])
    rows = [array.read(0), array.read(1)]
    return tf.concat([rows[1] ** 2, rows[0] ** 3], 0)


def _grown(x: Any) -> Any:
    array = _array(x, dynamic_size=True)
    return tf.sin(array.write(3, array.read(0) * array.read(2)).stack())


def _slope(y: Any, x: Any, **name: str) -> Any:
    return tf.convert_to_tensor(tf.gradients(y, x, **name)[0])


FUNCTIONS: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (
        lambda x: tf.exp(_array(x).read(1)) * _array(x).read(1),
        lambda x: tf.exp(x[1]) * x[1],
    ),
    (_written, lambda x: (tf.exp(x) * tf.gather(x, [1, 2, 0]))[::-1]),
    (
        lambda x: _array(x).gather([0, 0, 2]) ** 3,
        lambda x: tf.gather(x, [0, 0, 2]) ** 3,
    ),
    (lambda x: _array(x).concat() ** 2, lambda x: tf.reshape(x, [-1]) ** 2),
    (_in_parts, lambda x: tf.concat([x[1:] ** 2, x[:1] ** 3], 0)),
    (_grown, lambda x: tf.sin(tf.concat([x, x[:1] * x[2:]], 0))),
]


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize(("with_arrays", "plain"), FUNCTIONS)
def test_second_derivatives(with_arrays: Any, plain: Any, mode: str) -> None:
    results = []
    for function in (with_arrays, plain):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.constant(X)
            slope = _slope(tf.sin(function(x)), x)
            again = _slope(tf.square(slope), x, name="outer/gradients")
            third = _slope(again * tf.constant(X[::-1].copy()), x)
            results.append(session.run([slope, again, third]))
    for got, want in zip(*results):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.pure
def test_arrays_of_gradients_are_those_of_one_call() -> None:
    """By name: TensorFlow's for first derivatives, and one name a call for further ones."""
    with tf.Graph().as_default() as graph, tf.name_scope("model"):
        x = tf.placeholder(tf.float32, [3, 2])
        slope = tf.gradients(_array(x).read(1) ** 3, x)[0]
        tf.gradients(slope, x)
        operations = graph.get_operations()
    sources = {op.get_attr("source") for op in operations if op.type == "TensorArrayGradV3"}
    assert sources == {b"model/gradients", b"model/gradients_1"}
