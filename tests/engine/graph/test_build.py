# SPDX-License-Identifier: Apache-2.0
"""Making operations: conversion, inference of types, attributes, messages; folding of constants."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.graph import constants, registry
from numbaflow.engine.graph.build import OpFunction, apply_op, build_op, define

pytestmark = [pytest.mark.pure, pytest.mark.usefixtures("own_ops")]


@pytest.mark.parametrize("role", ["transfer", "control_flow_role"])
def test_a_role_that_there_is_not_is_an_error_where_the_op_is_defined(role: str) -> None:
    with pytest.raises(ValueError, match="op OddForTest cannot have the role 'walue'; it is one"):
        define("OddForTest", "x: T -> y: T", **{role: "walue"})
    with pytest.raises(ValueError, match="op OddForTest cannot have the role 'walue'; it is one"):
        registry.OpDef("OddForTest", (), (), (), **{role: "walue"})


@pytest.mark.programs
def test_define_makes_a_function() -> None:
    scale = define(
        "ScaleForTest",
        "x: T -> y: T, count: int32",
        "T: {float32, float64}; factor: float; mode: {'a', 'b'} = 'a'; n: int >= 1 = 1",
        shape=lambda c: [c.inputs[0], tf.TensorShape([])],
        kernel=lambda c, x: (x * np.float32(c.attr("factor")), np.int32(c.attr("n"))),
    )
    assert isinstance(scale, OpFunction) and scale.__name__ == "scale_for_test"
    y, count = result = scale([1.0, 2.0], 3.0, n=2)
    assert type(result).__name__ == "ScaleForTest" and result.count is count
    assert y.op.type == "ScaleForTest" and y.shape.as_list() == [2] and y.op.attr("mode") == "a"
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), [3.0, 6.0])
    for arguments, error, text in (
        ({"factor": "x"}, TypeError, "Expected float for argument 'factor' not 'x'"),
        ({"factor": 1.0, "mode": "c"}, ValueError, 'passed string \'c\' not in: "a", "b"'),
        ({"factor": 1.0, "n": 0}, ValueError, "passed 0 less than minimum 1"),
        ({}, TypeError, "No argument for attr factor"),
        ({"factor": 1.0, "other": 1}, TypeError, "an unexpected keyword argument 'other'"),
    ):
        with pytest.raises(error, match=text):
            scale([1.0], **arguments)
    with pytest.raises(TypeError, match="Value passed to parameter 'x' has DataType int32 not in"):
        scale([1], 1.0)


def test_types_must_agree() -> None:
    x = tf.placeholder(tf.float32)
    with pytest.raises(
        TypeError,
        match=r"Input 'y' of 'Mul' Op has type int32 that does not match "
        r"type float32 of argument 'x'\.",
    ):
        build_op("Mul", {"x": x, "y": tf.constant(1)}, {})
    with pytest.raises(
        TypeError,
        match="Expected float32 passed to parameter 'y' of op 'Mul', got 'a' of type 'str' instead",
    ):
        build_op("Mul", {"x": x, "y": "a"}, {})
    with pytest.raises(
        TypeError,
        match=r"Tensors in list passed to 'values' of 'Pack' Op have "
        r"types \[float32, int32\] that don't all match",
    ):
        build_op("Pack", {"values": [x, tf.constant(1)]}, {"axis": 0})
    with pytest.raises(TypeError, match="Expected list for 'values' argument to 'Pack' Op, not"):
        build_op("Pack", {"values": x}, {"axis": 0})
    with pytest.raises(TypeError, match="No argument for input y"):
        build_op("Mul", {"x": x}, {})
    with pytest.raises(TypeError, match="Should not specify value for inferred attr 'T'"):
        build_op("Mul", {"x": x, "y": x}, {"T": tf.float32})
    with pytest.raises(RuntimeError, match="Unrecognized Op name NoSuchOp"):
        apply_op("NoSuchOp")


def test_references_are_required_where_stated() -> None:
    with pytest.raises(
        TypeError, match="'Assign' Op requires that input 'ref' be a mutable tensor"
    ):
        build_op("Assign", {"ref": tf.constant(1.0), "value": 2.0}, {})
    variable = tf.Variable(1.0)
    assigned = build_op("Assign", {"ref": variable, "value": 2.0}, {})
    assert assigned.outputs[0].dtype._is_ref_dtype
    assert assigned.get_attr("_class") == [b"loc:@Variable"]


def test_shape_errors_read_as_in_tensorflow() -> None:
    x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, None])
    with pytest.raises(
        ValueError,
        match=r"for 'MatMul' \(op: 'MatMul'\) with input shapes: "
        r"\[2,3\], \[4,\?\]\.",
    ):
        tf.matmul(x, y)


def test_create_op_reads_types_off_its_inputs() -> None:
    graph = tf.get_default_graph()
    x = tf.constant(1.0)
    op = graph.create_op("Mul", [x, x], [tf.float32], name="twice")
    assert op.get_attr("T") == tf.float32 and op.name == "twice"
    with pytest.raises(TypeError, match="Input #0 is not a tensor: 1"):
        graph.create_op("Mul", [1, x])
    with pytest.raises(ValueError, match="'_bad' is not a valid node name"):
        graph.create_op("NoOp", [], name="_bad")
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'twice'"):
        graph.create_op("NoOp", [], name="twice/")
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'NoSuch'"):
        graph.create_op("NoSuch", [])


def test_convert_to_tensor() -> None:
    x = tf.convert_to_tensor([1, 2], preferred_dtype=tf.float32)
    assert x.dtype == tf.float32 and tf.convert_to_tensor(x) is x
    assert tf.convert_to_tensor([1.5], dtype_hint=tf.int32).dtype == tf.float32
    with pytest.raises(
        ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"
    ):
        tf.convert_to_tensor(x, tf.int32)
    with pytest.raises(TypeError, match="Can't convert Operation 'init' to Tensor"):
        tf.convert_to_tensor(tf.no_op(name="init"))

    class Pair:
        pass

    tf.register_tensor_conversion_function(
        Pair, lambda value, dtype=None, name=None, as_ref=False: tf.constant([1.0, 2.0], name=name)
    )
    assert tf.convert_to_tensor(Pair(), name="pair").op.name == "pair"
    with pytest.raises(RuntimeError, match="returned incompatible dtype: requested = int32"):
        tf.convert_to_tensor(Pair(), dtype=tf.int32)
    with pytest.raises(TypeError, match="base_type must be a type or a tuple of types"):
        tf.register_tensor_conversion_function("x", lambda *a: None)


@pytest.mark.programs
def test_constant_folding() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert constants.constant_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert constants.constant_value(tf.shape(tf.zeros([2, 3]))).tolist() == [2, 3]
    assert constants.constant_value(tf.shape(x)) is None and constants.constant_value(x) is None
    assert constants.constant_value(tf.rank(x)) == 2
    assert constants.constant_value_as_shape(tf.shape(x)).as_list() == [None, 3]
    assert constants.evaluate_shape(tf.stack([tf.shape(x)[0], 7])).as_list() == [None, 7]
    assert tf.reshape(x, [-1]).shape.as_list() == [None]
    # A shape may come from constants by whatever ops, as TensorFlow's shape refiner has it.
    cut = tf.sparse_slice(tf.SparseTensor([[1, 2]], [5.0], [4, 3]), [0, 1], [2, 9])
    assert tf.sparse_tensor_to_dense(cut).shape.as_list() == [2, 2]
    longest = tf.reduce_max(tf.unique([2, 3, 2])[0])
    assert tf.fill([longest, 2], 0.0).shape.as_list() == [3, 2]
    default = tf.placeholder_with_default(3, [])  # which a run may feed
    assert tf.fill([default, 2], 0.0).shape.as_list() == [None, 2]
    assert tf.fill(tf.abs([default, 2]), 0.0).shape.as_list() == [None, None]
    folded = tf.constant([4])
    constants.constant_value(folded)
    with pytest.raises(ValueError, match="may not be fed"):
        tf.Session().run(folded, {folded: [5]})


@pytest.mark.programs
def test_sparse_classes() -> None:
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
    assert sparse.shape.as_list() == [3, 4] and sparse.dtype == tf.float32
    with tf.Session() as session:
        value = session.run(sparse)
    assert isinstance(value, tf.SparseTensorValue) and value.values.tolist() == [1.0, 2.0]
    assert isinstance(tf.convert_to_tensor_or_sparse_tensor(value), tf.SparseTensor)
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1]))
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    assert slices.shape.as_list() == [5, 1] and slices.op.type == "Const"
    assert tf.is_tensor(sparse) and tf.is_tensor(slices) and not tf.is_tensor(3)
