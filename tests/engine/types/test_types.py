# SPDX-License-Identifier: Apache-2.0
"""DTypes, shapes, devices and errors against what TensorFlow 1.15 says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import errors
from numbaflow.engine.graph import devices
from numbaflow.engine.types import dtypes, shape

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("float", tf.float32),
        ("double", tf.float64),
        ("half", tf.float16),
        (np.int32, tf.int32),
        (np.dtype("S3"), tf.string),
        (np.dtype("U3"), tf.string),
        (np.longlong, tf.int64),
        (float, tf.float32),
        (bool, tf.bool),
        (object, tf.string),
        (1, tf.float32),
        ("int32_ref", tf.int32._as_ref),
    ],
)
def test_as_dtype(given: object, wanted: tf.DType) -> None:
    assert tf.as_dtype(given) is wanted


@pytest.mark.parametrize("given", [int, "no such", np.dtype("M8[s]"), None, []])
def test_as_dtype_refuses(given: object) -> None:
    with pytest.raises(TypeError, match="Cannot convert value"):
        tf.as_dtype(given)


def test_dtype_properties() -> None:
    reference = tf.float32._as_ref
    assert reference.name == "float32_ref" and reference.base_dtype is tf.float32
    assert tf.float32.is_compatible_with(reference) and not reference.is_compatible_with(tf.float32)
    assert tf.float32 == "float32" and tf.float32 != "int32" and tf.float32 != None  # noqa: E711
    assert repr(tf.int8) == "tf.int8" and str(tf.int8) == "<dtype: 'int8'>"
    assert tf.uint8.max == 255 and tf.uint8.is_unsigned and tf.uint8.limits == (0, 255)
    assert tf.complex64.real_dtype is tf.float32 and tf.qint8.is_quantized
    assert tf.bfloat16.is_floating and tf.bfloat16.size == 2 and tf.bfloat16.max > 3e38
    assert hash(tf.float32) == tf.float32.as_datatype_enum == 1
    assert pickle.loads(pickle.dumps(reference)) is reference
    with pytest.raises(TypeError, match="minimum value"):
        _ = tf.string.min
    with pytest.raises(TypeError, match="not a valid types_pb2"):
        dtypes.DType(77)


def test_all_numpy_types_survive_the_way_there_and_back() -> None:
    for kind in set(dtypes.BY_NAME.values()):
        if kind.is_numpy_compatible:
            assert tf.as_dtype(kind.as_numpy_dtype) is kind.base_dtype


def test_shape_text() -> None:
    partly = tf.TensorShape([None, 3])
    assert str(partly) == "(?, 3)" and str(tf.TensorShape([2])) == "(2,)"
    assert repr(partly) == "TensorShape([Dimension(None), Dimension(3)])"
    assert str(tf.TensorShape(None)) == "<unknown>"


def test_shape_equality_needs_known_sizes() -> None:
    partly = tf.TensorShape([None, 3])
    assert partly == partly and partly != tf.TensorShape([None, 3])
    assert tf.TensorShape([2, 3]) == [2, 3] and tf.TensorShape(None) == tf.TensorShape(None)
    with pytest.raises(ValueError, match="inequality of unknown"):
        _ = tf.TensorShape(None) != tf.TensorShape([1])


def test_shape_merging() -> None:
    merged = tf.TensorShape([None, 3]).merge_with([2, None])
    assert merged.as_list() == [2, 3] and merged.num_elements() == 6
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are not compatible"):
        tf.TensorShape([2]).merge_with([3])
    with pytest.raises(ValueError, match=r"Shape \(2,\) must have rank 3"):
        tf.TensorShape([2]).with_rank(3)
    assert tf.TensorShape([1, 2]).concatenate([3]).as_list() == [1, 2, 3]
    assert tf.TensorShape(None)[:3].as_list() == [None] * 3
    assert tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4]).sizes == (2, None)


def test_dimensions() -> None:
    three, unknown = tf.Dimension(3), tf.Dimension(None)
    assert (three + 2).value == 5 and (10 // three).value == 3 and (1 + unknown).value is None
    assert (three == unknown) is None and (three < 4) is True and list(range(three)) == [0, 1, 2]
    assert tf.dimension_value(three) == 3 and tf.dimension_value(7) == 7
    with pytest.raises(TypeError, match="use // instead"):
        _ = three / 2
    with pytest.raises(ValueError, match="must be >= 0"):
        tf.Dimension(-1)
    with pytest.raises(ValueError, match="Ambiguous dimension: 1.5"):
        tf.Dimension(1.5)
    with pytest.raises(TypeError, match="A string has ambiguous TensorShape"):
        tf.TensorShape("3")


def test_v2_shapes_give_plain_sizes() -> None:
    try:
        tf.enable_v2_tensorshape()
        assert tf.TensorShape([2, None])[0] == 2 and list(tf.TensorShape([1])) == [1]
        assert repr(tf.TensorShape([2, None])) == "TensorShape([2, None])"
    finally:
        tf.disable_v2_tensorshape()


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [
        ([2, 1], [3], [2, 3]),
        ([None, 1], [3], [None, 3]),
        ([None], [5], [5]),
        ([None], [1], [None]),
        (None, [1], None),
    ],
)
def test_static_broadcast(x: list | None, y: list | None, wanted: list | None) -> None:
    result = shape.broadcast_static(x, y)
    assert (None if result.sizes is None else list(result.sizes)) == wanted


def test_device_names() -> None:
    spec = tf.DeviceSpec.from_string("/job:ps/task:2/gpu:1")
    assert spec.to_string() == "/job:ps/task:2/device:GPU:1"
    spec.merge_from(tf.DeviceSpec(job="worker", device_type="cpu"))
    assert spec.to_string() == "/job:worker/task:2/device:CPU:1"
    spec.task = "3"
    assert spec.task == 3 and devices.canonical_name("/cpu:0") == "/device:CPU:0"
    with pytest.raises(ValueError, match="Unknown attribute: 'jub'"):
        tf.DeviceSpec.from_string("/jub:x")
    with pytest.raises(ValueError, match="multiple device types"):
        tf.DeviceSpec.from_string("/cpu:0/gpu:0")


def test_errors_by_code() -> None:
    for code in range(1, 17):
        kind = tf.errors.exception_type_from_error_code(code)
        error = errors.make_error(None, None, "why", code)
        assert type(error) is kind and error.error_code == code and str(error) == "why"
        assert tf.errors.error_code_from_exception_type(kind) == code
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind and copy.message == "why" and copy.error_code == code
    with pytest.warns(UserWarning, match="Unknown error code: 37"):
        assert errors.make_error(None, None, "", 37).error_code == 37


def test_load_op_library_says_why_not(tmp_path: object) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="no_such.so"):
        tf.load_op_library("no_such.so")
    with pytest.raises(tf.errors.UnimplementedError, match="C\\+\\+ runtime"):
        tf.load_op_library(__file__)
