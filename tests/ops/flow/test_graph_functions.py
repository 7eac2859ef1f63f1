# SPDX-License-Identifier: Apache-2.0
"""tf.function in graphs: effects in the order of statements, arguments held to signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_effects_happen_in_the_order_of_statements():
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def change(x):
        v.assign_add(x)
        first = v.read_value()
        v.assign(first * 10.0)
        return {"first": first, "last": v.read_value()}

    assert _run(change(2.0)) == {"first": 3.0, "last": 30.0}


def test_a_function_without_results_is_an_operation():
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def change():
        v.assign_add(1.0)
        v.assign_add(1.0)

    change_op = change()
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(change_op)
        assert session.run(v) == 3.0


class _Layer:
    def __init__(self, value):
        self.w, self.value = None, value

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def apply(self, x):
        if self.w is None:
            self.w = tf.Variable([[self.value], [1.0]])
        return tf.matmul(x, self.w)


def test_numbers_and_texts_that_are_returned_are_tensors():
    assert _run(tf.function(lambda: {"text": "a", "number": 2})()) == {"text": b"a", "number": 2}


def test_methods_are_functions_of_each_object():
    one, two = _Layer(1.0), _Layer(2.0)
    results = [one.apply([[1.0, 0.0]]), two.apply(np.ones([1, 2], np.float32))]
    (slope,) = tf.gradients(one.apply([[3.0, 4.0]]), one.w)
    found = _run([*results, slope])
    assert [value.tolist() for value in found] == [[[1.0]], [[3.0]], [[3.0], [4.0]]]
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        one.apply(np.ones([1, 3], np.float32))


def test_variables_are_made_at_the_first_call():
    @tf.function
    def make():
        return tf.Variable(1.0).read_value()

    make()
    with pytest.raises(ValueError, match="create variables on non-first call"):
        make()


def test_concrete_functions_have_a_graph_of_their_own():
    double = tf.function(lambda x: x * 2.0)
    concrete = double.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert [x.shape.as_list() for x in concrete.inputs + concrete.outputs] == [[2], [2]]
    assert concrete.graph is not tf.get_default_graph()
    assert _run(concrete(tf.constant([1.0, 2.0]))).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="does not fit"):
        concrete(tf.constant([1.0]))


def test_functions_run_as_python_where_that_is_asked_for():
    seen = []
    function = tf.function(lambda x: seen.append(x))
    tf.config.experimental_run_functions_eagerly(True)
    try:
        function(3)
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert seen == [3]


@pytest.mark.parametrize("name", ["_call", "__", "<lambda>", "größe"])
def test_functions_of_any_name_can_be_called(name: str) -> None:
    def twice(x: Any) -> Any:
        return x * 2.0

    twice.__name__ = name
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.function(twice)(tf.constant(2.0))) == 4.0
