# SPDX-License-Identifier: Apache-2.0
"""TensorArrays of old GraphDefs; the expected results are what TensorFlow 1.15.5 gave for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

AGES = pytest.mark.parametrize("age", ["", "V2"])
X = np.float32([[1, 2], [3, 4], [5, 6]])


class Array:
    """An array of float32 made and used by the ops of an age."""

    def __init__(self, age: str, **attrs: Any) -> None:
        self.age, self.flow = age, tf.constant(0.0)
        self.handle = self.raw("")(size=3, dtype=tf.float32, **attrs)

    def raw(self, what: str) -> Any:
        return getattr(tf.raw_ops, f"TensorArray{what}{self.age}")

    def do(self, what: str, *values: Any, handle: Any = None, **attrs: Any) -> Any:
        op = self.raw(what)
        names = [arg.name for arg in op.definition.inputs]
        given = (self.handle if handle is None else handle, *values, self.flow)
        return op(**dict(zip(names, given, strict=True)), **attrs)


def run(fetches: Any) -> Any:
    """What both the interpreter and the plan give."""
    with tf.Session() as session:
        first = session.run(fetches)
        again = session.run(fetches)
    for a, b in zip(tf.contrib.framework.nest.flatten(first), again, strict=True):
        np.testing.assert_array_equal(a, b)
    return first


@AGES
def test_rows_come_back(age: str) -> None:
    with tf.Graph().as_default():
        array = Array(age)
        array.flow = array.do("Scatter", [2, 0, 1], X)
        rows = array.do("Gather", [0, 2, 1], dtype=tf.float32)
        size = array.do("Size")
        rows, size = run([rows, size])
        np.testing.assert_array_equal(rows, X[[1, 0, 2]])
        assert size == 3


@AGES
def test_parts_come_back(age: str) -> None:
    with tf.Graph().as_default():
        array = Array(age)
        array.flow = array.do("Split", X, np.array([1, 0, 2]))
        whole, lengths = run(list(array.do("Concat", dtype=tf.float32)))
        np.testing.assert_array_equal(whole, X)
        assert lengths.tolist() == [1, 0, 2]


def test_the_oldest_ops_pack_and_unpack() -> None:
    with tf.Graph().as_default():
        array = Array("")
        array.flow = array.do("Unpack", X)
        (found,) = run([array.do("Pack", dtype=tf.float32)])
        np.testing.assert_array_equal(found, X)


@AGES
def test_gradients_of_several_reads_add_up(age: str) -> None:
    with tf.Graph().as_default():
        x = tf.constant(X)
        array = Array(age, clear_after_read=False)
        array.flow = array.do("Scatter", [2, 0, 1], x)
        read = [array.do("Read", i, dtype=tf.float32) for i in (0, 2, 2)]
        (found,) = run(tf.gradients(3.0 * read[0] + read[1] + read[2], x))
        np.testing.assert_array_equal(found, np.float32([[2, 2], [3, 3], [0, 0]]))


@AGES
def test_gradients_of_parts_and_elements(age: str) -> None:
    with tf.Graph().as_default():
        x, row = tf.constant(X), tf.constant([7.0, 8.0])
        parts, elements = Array(age), Array(age)
        parts.flow = parts.do("Split", x, np.array([1, 0, 2]))
        whole = parts.do("Concat", dtype=tf.float32)[0]
        elements.flow = elements.do("Write", 1, row)
        rows = elements.do("Gather", [1], dtype=tf.float32)
        dx, dr = run(tf.gradients([whole * whole, rows * rows], [x, row]))
        np.testing.assert_array_equal(dx, 2 * X)
        np.testing.assert_array_equal(dr, np.float32([14, 16]))


@AGES
def test_what_is_refused(age: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        array = Array(age)
        with pytest.raises(tf.errors.InvalidArgumentError, match="write to index 5 but array"):
            session.run(array.do("Write", 5, [7.0, 8.0]))
        text = tf.constant(["_tensor_arrays", "mine"])
        if age:
            with pytest.raises(tf.errors.NotFoundError, match="_tensor_arrays/mine"):
                session.run(array.do("Size", handle=text))
            with pytest.raises(ValueError, match="rank 0"):
                array.do("Read", [1], dtype=tf.float32)


def test_shapes_are_told_since_the_second_age() -> None:
    with tf.Graph().as_default():
        old, later = Array(""), Array("V2")
        assert (old.handle.shape.ndims, later.handle.shape) == (None, [2])
        assert (old.do("Size").shape.ndims, later.do("Size").shape.ndims) == (None, 0)
