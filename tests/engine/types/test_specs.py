# SPDX-License-Identifier: Apache-2.0
"""Type specifications, and statistics of operations."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.interface import specs, statistics

pytestmark = pytest.mark.pure


def test_tensor_specs() -> None:
    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(?, 3), dtype=tf.float32, name='x')"
    assert spec == tf.TensorSpec([None, 3], tf.float32, "x") and hash(spec) == hash(
        tf.TensorSpec([None, 3], name="x")
    )
    assert spec.is_compatible_with(tf.zeros([2, 3])) and not spec.is_compatible_with(tf.zeros([3]))
    common = spec.most_specific_compatible_type(tf.TensorSpec([2, 3], name="x"))
    assert common.shape.as_list() == [None, 3]
    assert tf.TensorSpec.from_tensor(tf.constant(1, name="c")) == tf.TensorSpec([], tf.int32, "c")
    with pytest.raises(ValueError, match="is not convertible to a tensor with dtype"):
        spec._to_components("a")


def test_composite_specs() -> None:
    sparse = tf.SparseTensor([[0, 1]], [1.0], [3, 4])
    spec = specs.type_spec_from_value(sparse)
    assert spec == tf.SparseTensorSpec([3, 4], tf.float32)
    assert isinstance(spec._from_components(spec._to_components(sparse)), tf.SparseTensor)
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]))
    found = specs.type_spec_from_value(slices)
    assert isinstance(found, tf.IndexedSlicesSpec) and found.value_type is tf.IndexedSlices
    bounded = specs.BoundedTensorSpec([2], tf.float32, 0.0, [1.0, 2.0])
    assert bounded == specs.BoundedTensorSpec([2], tf.float32, 0.0, np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="maximum is not compatible with shape"):
        specs.BoundedTensorSpec([2], tf.float32, 0.0, [1.0, 2.0, 3.0])


def test_statistics() -> None:
    @statistics.RegisterStatistics("NoSuchOpForTest", "flops")
    def flops(graph: tf.Graph, node: object) -> statistics.OpStats:
        return statistics.OpStats("flops", 5)

    node = tf.NodeDef(op="NoSuchOpForTest")
    total = statistics.get_stats_for_node_def(None, node, "flops")
    total += statistics.get_stats_for_node_def(None, tf.NodeDef(op="Other"), "flops")
    assert total.value == 5
    with pytest.raises(KeyError, match="Registering two statistical functions"):
        statistics.RegisterStatistics("NoSuchOpForTest", "flops")(flops)
    with pytest.raises(ValueError, match="Can't add an OpStat of type"):
        total += statistics.OpStats("weight_parameters", 1)


def test_statistics_of_tensorflows_own_types_are_there() -> None:
    product = tf.matmul(tf.ones([2, 3]), tf.ones([3, 5]))
    found = statistics.get_stats_for_node_def(tf.get_default_graph(), product.op.node_def, "flops")
    assert found.value == 2 * 2 * 3 * 5
    volume = tf.nn.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([3, 3, 3, 2, 5]), [1] * 5, "VALID")
    found = statistics.get_stats_for_node_def(tf.get_default_graph(), volume.op.node_def, "flops")
    assert found.value == 2 * (8 * 5) * (27 * 2)
    with pytest.raises(KeyError, match="Registering two statistical functions"):
        statistics.RegisterStatistics("MatMul", "flops")(lambda graph, node: None)


def test_operations_from_node_defs() -> None:
    graph = tf.get_default_graph()
    op = tf.Operation(tf.NodeDef(op="NoOp", name="here", device="/cpu:0"), graph)
    assert graph.get_operation_by_name("here") is op and op.device == "/cpu:0"
    with pytest.raises(TypeError, match="node_def needs to be a NodeDef"):
        tf.Operation(None, graph)
    with pytest.raises(ValueError, match="'' is not a valid node name"):
        tf.Operation(tf.NodeDef(op="NoOp", name=""), graph)


def test_types_of_sparse_values():
    value = tf.SparseTensorValue([[0, 1]], np.float64([1.0]), [2, 3])
    with tf.Graph().as_default():
        for given in (value, tf.SparseTensor.from_value(value)):
            assert tf.SparseTensorSpec.from_value(given) == tf.SparseTensorSpec([2, 3], tf.float64)
    with pytest.raises(TypeError, match="Expected SparseTensor"):
        tf.SparseTensorSpec.from_value(3.0)


@pytest.mark.programs
def test_sparse_tensors_travel_serialized():
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
        spec = tf.SparseTensorSpec([2, None], tf.float32)
        listed = spec._to_tensor_list(given)
        assert [tensor.dtype for tensor in listed] == [tf.variant]
        back = spec._from_tensor_list(listed)
        assert back.indices.shape.as_list() == [None, 2]
        found, expected = session.run([back, given])
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.dense_shape, expected.dense_shape)
