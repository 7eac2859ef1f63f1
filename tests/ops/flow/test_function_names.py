# SPDX-License-Identifier: Apache-2.0
"""The names of what functions make: variables have them without the function's scope."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


def test_variables_are_named_without_the_function_and_its_caller() -> None:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(1.0, name="plain"))
            with tf.name_scope("foo"):
                made.append(tf.Variable(1.0, name="bar"))
            with tf.variable_scope("scope"):
                made.append(tf.get_variable("got", []))
            dense = tf.keras.layers.Dense(2)
            dense(x)
            made.extend(dense.variables)
        return tf.identity(x * made[0], name="result")

    with tf.Graph().as_default():
        with tf.name_scope("outer"):
            f(tf.ones([1, 3]))
        names = [v.op.name for v in tf.global_variables()]
        # As TensorFlow 1.15 names them, in its checkpoints too.
        assert names[:3] == ["plain", "foo/bar", "scope/got"]
        assert [name.rpartition("/")[2] for name in names[3:]] == ["kernel", "bias"]
        assert not any(name.startswith(("outer", "f/")) for name in names)
        assert tf.get_default_graph().get_operation_by_name("outer/f/result")
