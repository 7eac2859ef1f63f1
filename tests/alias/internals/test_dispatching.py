# SPDX-License-Identifier: Apache-2.0
"""Functions that do something with classes of a program's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals.dispatching import add_dispatch_support, dispatch_for_types

pytestmark = pytest.mark.programs


class Scored:
    def __init__(self, tensor: Any, score: float) -> None:
        self.tensor, self.score = tf.convert_to_tensor(tensor), score


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = [(op, list(op._tf_dispatchers)) for op in (tf.add, tf.concat, tf.reduce_sum)]
    with tf.Graph().as_default():
        yield
    for op, dispatchers in before:
        op._tf_dispatchers = dispatchers


def test_an_op_takes_objects_of_a_class() -> None:
    @dispatch_for_types(tf.add, Scored)
    def add(x: Any, y: Any, name: Any = None) -> Any:
        return Scored(tf.add(x.tensor, y.tensor, name), x.score + y.score)

    total = tf.add(Scored([1, 2], 0.5), Scored([3, 4], 0.25))
    assert total.score == 0.75
    assert len(tf.raw_ops.Add._tf_dispatchers) == len(tf.add._tf_dispatchers)
    with tf.Session() as session:
        assert session.run(total.tensor).tolist() == [4, 6]
        assert session.run(tf.add([1], [2])).tolist() == [3]
    with pytest.raises((TypeError, ValueError, AttributeError)):
        tf.add([1], None)


def test_lists_of_objects_count() -> None:
    @dispatch_for_types(tf.concat, Scored)
    def concat(values: Any, axis: Any, name: Any = "concat") -> Any:
        return tf.concat([value.tensor for value in values], axis, name)

    joined = tf.concat([Scored([1], 0.0), Scored([2], 0.0)], 0)
    with tf.Session() as session:
        assert session.run(joined).tolist() == [1, 2]


def test_functions_of_programs_ask_as_well() -> None:
    @add_dispatch_support
    def double(x: Any) -> Any:
        return tf.convert_to_tensor(x) * 2

    @dispatch_for_types(double, Scored)
    def of_scored(x: Any) -> Any:
        return Scored(double(x.tensor), x.score)

    assert double(Scored([1], 0.5)).score == 0.5
    with pytest.raises((TypeError, ValueError)):
        double(object())


def test_wrong_overrides() -> None:
    with pytest.raises(AssertionError, match="signature must exactly match"):
        dispatch_for_types(tf.add, Scored)(lambda a, b: a)
    with pytest.raises(AssertionError, match="Dispatching not enabled for"):
        dispatch_for_types(test_wrong_overrides, Scored)(lambda: None)
