# SPDX-License-Identifier: Apache-2.0
"""How much of an image outputs of convolutional nets see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


def _conv(x: Any, size: int, stride: int, padding: str, name: str) -> Any:
    shape = [size, size, x.shape[-1].value, 2]
    weights = tf.get_variable(f"{name}_weights", shape)
    return tf.nn.conv2d(x, weights, [1, stride, stride, 1], padding, name=name)


def _field(output: Any, **given: Any) -> Any:
    return tf.contrib.receptive_field.compute_receptive_field_from_graph_def(
        tf.get_default_graph(), "image", output, **given
    )


def test_layers_one_behind_another() -> None:
    with tf.Graph().as_default():
        image = tf.placeholder(tf.float32, [1, None, None, 3], name="image")
        net = tf.nn.relu(_conv(image, 3, 2, "VALID", "first"))
        net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        net = tf.pad(net, [[0, 0], [1, 1], [1, 1], [0, 0]])
        net = _conv(net, 3, 1, "VALID", "second")
        field = _field(net)
        assert [int(n) for n in field] == [13, 13, 4, 4, 4, 4]
        centers = field.compute_input_center_coordinates([[0, 0], [1, 2]])
        np.testing.assert_array_equal(centers, [[2, 2], [6, 10]])
        np.testing.assert_array_equal(field.compute_feature_coordinates(centers), [[0, 0], [1, 2]])
        np.testing.assert_array_equal(field.compute_input_center_coordinates([3], axis=[1]), [14])
        with pytest.raises(ValueError, match="does not match dimensionality of `axis`"):
            field.compute_feature_coordinates([1, 2, 3])


def test_paddings_depend_on_the_image() -> None:
    with tf.Graph().as_default():
        image = tf.placeholder(tf.float32, [1, None, None, 3], name="image")
        net = _conv(image, 3, 2, "SAME", "net")
        assert list(_field(net))[4:] == [None, None]
        assert [int(n) for n in _field(net, input_resolution=[224, 224])] == [3, 3, 2, 2, 0, 0]
        assert [int(n) for n in _field(net, input_resolution=[225, 225])] == [3, 3, 2, 2, 1, 1]


def test_several_ways_must_fit_each_other() -> None:
    with tf.Graph().as_default():
        image = tf.placeholder(tf.float32, [1, None, None, 3], name="image")
        near, far = _conv(image, 1, 2, "VALID", "near"), _conv(image, 3, 2, "VALID", "far")
        both = tf.add(near, far, name="both")
        with pytest.raises(ValueError, match="center shift from different paths is different in h"):
            _field(both)
        assert [int(n) for n in _field(both, stop_propagation=["far"])] == [1, 1, 2, 2, 0, 0]
        other = tf.add(near, _conv(image, 1, 1, "VALID", "other"))
        with pytest.raises(ValueError, match="effective stride from different paths"):
            _field(other)
        with pytest.raises(ValueError, match="Output node was not found"):
            _field("nothing")
        with pytest.raises(ValueError, match="Unknown layer for operation 'odd': Tanh"):
            _field(tf.tanh(near, name="odd"))


def test_order_and_sizes_on_the_way() -> None:
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, [1, 9, 9, 3], name="image")
        net = tf.identity(_conv(image, 3, 2, "VALID", "net"), name="end")
        found, nodes = tf.contrib.receptive_field.get_compute_order(
            graph.as_graph_def(), "image", [9, 9]
        )
        assert set(nodes) == set(found) == {op.name for op in graph.get_operations()}
        assert found["end"].order == found["net"].order + 1 > found["image"].order == 0
        assert (found["net"].input_size, found["net"].output_size) == ([9, 9], [4, 4])
        assert net.shape.as_list() == [1, 4, 4, 2]
