# SPDX-License-Identifier: Apache-2.0
"""Variables and operations in another graph."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

copy_graph = tf.contrib.copy_graph


def test_a_model_goes_into_another_graph():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        w = tf.Variable([2.0, 3.0], name="w", collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
        y = tf.reduce_sum(x * w, name="y")
        tf.add_to_collection("results", y)
    variable = copy_graph.copy_variable_to_graph(w, second, "in")
    copied = copy_graph.copy_op_to_graph(y, second, [variable], "in")
    assert copied.name == "in/y:0" and copied.graph is second
    assert second.get_collection("in/results") == [copied]
    assert second.get_collection("in/mine") == [variable]
    assert copy_graph.get_copied_op(x, second, "in").name == "in/x:0"
    assert copy_graph.copy_op_to_graph(y, second, [variable], "in") is copied
    with tf.Session(graph=second) as session:
        session.run(variable.initializer)
        assert session.run(copied, {"in/x:0": [1.0, 10.0]}) == 32.0
    with pytest.raises(TypeError, match="is not a Variable"):
        copy_graph.copy_variable_to_graph(y, second)
    with pytest.raises(TypeError, match="Could not copy instance"):
        copy_graph.copy_op_to_graph("y", second, [])
