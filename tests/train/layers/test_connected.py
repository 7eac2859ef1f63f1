# SPDX-License-Identifier: Apache-2.0
"""Layers of plain graphs are not connected, and masks go from layer to layer."""

from __future__ import annotations

import re
import types
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_layers_of_plain_graphs_are_not_connected() -> None:
    """As TensorFlow 1.15.5 says, before a call and behind it."""
    layer = tf.layers.Dense(4)
    for _ in range(2):
        assert layer.inbound_nodes == [] and layer.outbound_nodes == [] and layer.metrics == []
        for name, text in (
            ("input", "Layer dense_1 is not connected, no input to return."),
            ("input_mask", "Layer dense_1 is not connected, no input to return."),
            ("output", "Layer dense_1 has no inbound nodes."),
            ("output_mask", "Layer dense_1 has no inbound nodes."),
            ("input_shape", "The layer has never been called and thus has no defined input shape."),
            ("output_shape", "has no defined output shape."),
        ):
            with pytest.raises(AttributeError, match=re.escape(text)):
                getattr(layer, name)
        for name in ("input", "output", "input_shape", "output_shape", "input_mask", "output_mask"):
            with pytest.raises(RuntimeError, match="never been called and thus has no defined"):
                getattr(layer, f"get_{name}_at")(0)
        layer(tf.zeros([2, 3]))


def test_nodes_that_there_are_say_what_a_layer_was_given() -> None:
    class Node:
        def __init__(self, x: Any) -> None:
            self.input_tensors, self.output_tensors = [x], x + 1.0
            self.input_shapes, self.output_shapes = [tuple(x.shape.as_list())], (2,)

    layer = tf.layers.Dense(4)
    layer.inbound_nodes.extend([Node(tf.zeros([2])), Node(tf.zeros([3]))])
    assert layer.input is layer.inbound_nodes[0].input_tensors[0]
    assert layer.get_input_shape_at(1) == (3,) and layer.output_shape == (2,)
    with pytest.raises(AttributeError, match="multiple inbound nodes, with different input shapes"):
        _ = layer.input_shape
    with pytest.raises(ValueError, match="Asked to get output at node 2, but the layer has only 2"):
        layer.get_output_at(2)


def test_signatures() -> None:
    spec = tf.TensorSpec([1, 8, 8, 3], tf.float64)
    assert tf.layers.Conv2D(4, 3).compute_output_signature(spec).shape == [1, 6, 6, 4]
    assert tf.layers.Conv2D(4, 3).compute_output_signature(spec).dtype == tf.float64
    with pytest.raises(TypeError, match="Only TensorSpec signature types are supported"):
        tf.layers.Dense(4).compute_output_signature(tf.zeros([2, 3]))


class Masked(tf.layers.Layer):
    """Remembers the mask that it was given."""

    def __init__(self, supports_masking: bool) -> None:
        super().__init__()
        self.supports_masking = supports_masking

    def call(self, inputs: Any, mask: Any = None) -> Any:
        self.given = mask
        return inputs * 2.0


def test_masks_are_carried_on_by_layers_that_support_them() -> None:
    x, mask = tf.zeros([3, 3]), tf.ones([3, 3], tf.bool)
    x._keras_mask = mask
    layer = Masked(True)
    assert layer(x)._keras_mask is mask and layer.given is mask
    assert tf.layers.dropout(x)._keras_mask is mask
    assert not hasattr(tf.layers.Flatten()(x), "_keras_mask")
    other = Masked(False)
    assert not hasattr(other(x), "_keras_mask") and other.given is mask
    other(x, mask=tf.zeros([3, 3], tf.bool))
    assert other.given is not mask
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        other.compute_mask(x, mask)


@pytest.mark.parametrize(
    ("value", "options", "error", "text"),
    [
        (1.0, {"name": "a"}, ValueError, "Expected a symbolic Tensor for the metric value"),
        ("x", {"name": "a"}, ValueError, "We do not support adding an aggregated metric result"),
        ("x", {"aggregation": "mean"}, ValueError, "Please provide a name for your metric"),
        ("x", {"aggregation": "sum"}, ValueError, "We currently support only `mean` sample-wise"),
    ],
)
def test_metrics(value: Any, options: dict[str, str], error: type, text: str) -> None:
    layer = tf.layers.Dense(4)
    with pytest.raises(error, match=re.escape(text)):
        layer.add_metric(tf.zeros([2]) if value == "x" else value, **options)
    result = tf.zeros([2])
    result._metric_obj = metric = types.SimpleNamespace(name="own")
    layer.add_metric(result)
    layer.add_metric(result)
    assert layer.metrics == [metric]


def half_of_variables(getter: Any, name: str, shape: Any, dtype: Any = None, **others: Any) -> Any:
    """A custom getter of mixed precision: variables are float32, what layers see is float16."""
    variable = getter(name, shape, dtype=tf.float32, **others)
    return tf.cast(variable, dtype) if dtype == tf.float16 else variable


def test_layers_take_what_a_custom_getter_makes_of_their_variables() -> None:
    x = tf.placeholder(tf.float16, [None, 8, 8, 3])
    regularizer = tf.contrib.layers.l2_regularizer(0.1)
    with tf.variable_scope("half", custom_getter=half_of_variables, dtype=tf.float16):
        layer = tf.layers.Conv2D(4, 3, kernel_regularizer=regularizer)
        y = layer(x)
        z = tf.layers.dense(tf.layers.flatten(y), 2)
    assert (y.dtype, z.dtype) == (tf.float16, tf.float16)
    # As in TensorFlow 1.15: what is cast is among the layer's variables, and trained is none of it.
    assert [v.dtype for v in layer.variables] == [tf.float16] * 2
    assert layer.variables[0] is layer.kernel and not layer.trainable_weights
    assert [v.dtype.base_dtype for v in tf.trainable_variables()] == [tf.float32] * 4
    assert len(layer.losses) == 1 and layer.losses[0].dtype == tf.float16
