# SPDX-License-Identifier: Apache-2.0
"""Templates share their variables; partitioners cut variables."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def scaled(x, name="w"):
    return x * tf.get_variable(name, [], initializer=tf.ones_initializer())


def test_calls_share_variables_and_scopes_count_up():
    template = tf.make_template("scale", scaled, name="v")
    first, second = template(1.0), template(2.0)
    assert first.name == "scale/mul:0"
    assert second.name == "scale_1/mul:0"
    assert [v.name for v in template.variables] == ["scale/v:0"]
    assert template.trainable_variables == template.weights
    assert template.variable_scope_name == "scale/"


def test_two_templates_have_variables_of_their_own():
    one, two = (tf.make_template("scale", scaled) for _ in range(2))
    one(1.0), two(1.0)
    assert two.variables[0].name == "scale_1/w:0"


def test_the_scope_can_be_opened_early():
    template = tf.make_template("scale", scaled, create_scope_now_=True)
    tf.make_template("scale", scaled)(1.0)
    template(1.0)
    assert template.variables[0].name == "scale/w:0"


def test_unique_names_collide():
    tf.make_template("_", scaled, unique_name_="scale")(1.0)
    with pytest.raises(ValueError, match=r"(?s)already exists.*originally defined at"):
        tf.make_template("_", scaled, unique_name_="scale")(1.0)


def test_trainable_variables_of_later_calls_are_errors():
    template = tf.make_template("bad", lambda: tf.Variable(1.0))
    template()
    with pytest.raises(ValueError, match="Trainable variable created when calling a template"):
        template()


def test_a_failing_first_call_does_not_count():
    outcomes = iter([True, False])

    def maybe():
        v = tf.get_variable("v", [])
        if next(outcomes):
            raise OSError
        return v

    template = tf.make_template("t", maybe)
    with pytest.raises(OSError, match="originally defined"):
        template()
    assert not template.variables


@pytest.mark.parametrize(
    ("partitioner", "parts"),
    [
        (tf.fixed_size_partitioner(3), [3, 1]),
        (tf.fixed_size_partitioner(9, axis=1), [1, 4]),
        (tf.variable_axis_size_partitioner(64), [2, 1]),
        (tf.variable_axis_size_partitioner(16, max_shards=3), [3, 1]),
        (tf.min_max_variable_partitioner(5, min_slice_size=64), [2, 1]),
        (tf.min_max_variable_partitioner(5, axis=1, min_slice_size=1), [1, 4]),
    ],
)
def test_partitioners(partitioner, parts):
    assert partitioner(shape=tf.TensorShape([8, 4]), dtype=tf.float32) == parts


@pytest.mark.programs
def test_partitioned_variables_are_found_again():
    initial = tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]])
    with tf.variable_scope("root") as scope:
        parts = tf.create_partitioned_variables([2, 4], [1, 3], initial, name="x")
    assert [v.name for v in parts] == [f"root/x/part_{i}:0" for i in range(3)]
    with tf.variable_scope(scope, reuse=True):
        again = tf.create_partitioned_variables([2, 4], [1, 3], initial, tf.int32, name="x")
    assert again == parts
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.concat(parts, 1)).tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def unchanged(x):
    return x


# Arguments of `get_variable` and what of the variable shows them.
ASKED = {
    "an int32 value": {"initializer": 0, "dtype": tf.int32},
    "a value's own type": {"initializer": True},
    "a text": {"initializer": "x"},
    "an array's type": {"initializer": np.arange(4)},
    "an int64 function": {"initializer": lambda: 3, "dtype": tf.int64},
    "a function's own type": {"initializer": lambda: 3},
    "half": {"shape": [2], "dtype": tf.float16},
    "everything": {
        "shape": [4],
        "dtype": tf.float64,
        "trainable": False,
        "collections": ["kept"],
        "caching_device": "/cpu:0",
        "constraint": unchanged,
        "use_resource": True,
        "synchronization": tf.VariableSynchronization.ON_WRITE,
        "aggregation": tf.VariableAggregation.MEAN,
        "regularizer": tf.reduce_sum,
    },
}


def facts_of(make):
    with tf.Graph().as_default() as graph:
        variable = make()
        names = [key for key in graph.get_all_collection_keys() if isinstance(key, str)]
        return (
            variable.dtype,
            type(variable),
            variable.shape,
            variable.trainable,
            variable.constraint,
            variable.synchronization,
            variable.aggregation,
            variable.value().device,
            [key for key in names if any(v is variable for v in graph.get_collection(key))],
            len(tf.losses.get_regularization_losses()),
        )


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_variable_in_a_template_is_as_one_outside(asked):
    def make():
        return tf.get_variable("v", **asked)

    def nested():
        return tf.make_template("inner", make)()

    alone = facts_of(make)
    assert facts_of(lambda: tf.make_template("t", make)()) == alone
    assert facts_of(lambda: tf.make_template("t", nested, create_scope_now_=True)()) == alone


@pytest.mark.parametrize("asked", [{}, {"dtype": tf.float64}], ids=["its own", "another"])
def test_a_plain_variable_in_a_template_keeps_its_type(asked):
    variable = tf.make_template("t", lambda: tf.Variable(3, **asked))()
    assert variable.dtype.base_dtype == asked.get("dtype", tf.int32)
