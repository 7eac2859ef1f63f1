# SPDX-License-Identifier: Apache-2.0
"""Arrays as TensorProtos: what is written where, round trips, and shapes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from numbaflow.engine.types import dtypes
from numbaflow.engine.types.shape import TensorShape
from numbaflow.io import protos
from numbaflow.io.tensor_proto import (
    make_ndarray,
    make_tensor_proto,
    shape_equals,
    shape_from_proto,
    shape_proto,
)

pytestmark = pytest.mark.pure

RAW = "float32 float64 int32 uint8 int16 int8 int64 uint32 uint64".split()
LISTED = "float16 uint16 bool complex64 complex128".split()

_shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@given(st.sampled_from(RAW + LISTED).flatmap(lambda kind: arrays.arrays(np.dtype(kind), _shapes)))
def test_arrays_come_back_bit_for_bit(array: np.ndarray) -> None:
    back = make_ndarray(make_tensor_proto(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@given(st.lists(st.binary(max_size=5), max_size=4))
def test_strings_come_back_with_their_null_bytes(texts: list[bytes]) -> None:
    back = make_ndarray(make_tensor_proto(texts, dtype=dtypes.string))
    assert back.tolist() == texts


def test_bfloat16_is_written_as_its_bits() -> None:
    proto = make_tensor_proto([1.0, -2.5], dtype=dtypes.bfloat16)
    assert list(proto.half_val) == [0x3F80, 0xC020]
    assert make_ndarray(proto).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("kind", RAW)
def test_arrays_are_raw_and_scalars_are_listed(kind: str) -> None:
    array = np.arange(3, dtype=kind)
    assert make_tensor_proto(array).tensor_content == array.tobytes()
    assert not make_tensor_proto(array[1]).tensor_content
    assert make_ndarray(make_tensor_proto(array[1])) == 1


def test_a_repeated_last_element_is_written_once() -> None:
    proto = make_tensor_proto([1, 2], shape=[2, 3])
    assert list(proto.int_val) == [1, 2]
    assert make_ndarray(proto).tolist() == [[1, 2, 2], [2, 2, 2]]
    proto = make_tensor_proto(0.5, shape=[1000])
    assert list(proto.float_val) == [0.5]
    assert make_ndarray(proto).shape == (1000,)


def test_an_empty_message_means_zeros() -> None:
    proto = protos.TensorProto(dtype=protos.DT_INT32, tensor_shape=shape_proto([2]))
    assert make_ndarray(proto).tolist() == [0, 0]
    proto = protos.TensorProto(dtype=protos.DT_STRING, tensor_shape=shape_proto([1]))
    assert make_ndarray(proto).tolist() == [b""]


def test_negative_numbers_in_the_list_of_an_unsigned_type_wrap() -> None:
    proto = protos.TensorProto(dtype=protos.DT_UINT8, int_val=[-1], tensor_shape=shape_proto([]))
    assert make_ndarray(proto) == 255


@pytest.mark.parametrize(
    ("values", "options", "kind", "message"),
    [
        (None, {}, ValueError, "None values not supported."),
        ([1.5], {"dtype": dtypes.int32}, TypeError, "Expected int32, got 1.5 of type 'float'"),
        ([1, 2, 3], {"shape": [2]}, ValueError, "Too many elements provided. Needed at most 2"),
        (1.0, {"shape": [2], "verify_shape": True}, TypeError, "Expected Tensor's shape: (2,)"),
        ([[1], [2, 3]], {}, ValueError, "Argument must be a dense tensor"),
        (5, {"dtype": dtypes.quint8}, TypeError, "Expected quint8, got 5 of type 'int'"),
    ],
)
def test_values_that_no_tensor_holds(
    values: object, options: dict, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        make_tensor_proto(values, **options)
    assert message in str(caught.value)


def test_a_resource_cannot_be_read() -> None:
    with pytest.raises(TypeError, match="Unsupported tensor type: 20"):
        make_ndarray(protos.TensorProto(dtype=protos.DT_RESOURCE))


@pytest.mark.parametrize("sizes", [None, [], [None, 3], [0, 2]])
def test_shapes_come_back(sizes: list[int | None] | None) -> None:
    back = shape_from_proto(shape_proto(TensorShape(sizes)))
    assert back.sizes == TensorShape(sizes).sizes


def test_shape_equals() -> None:
    proto = make_tensor_proto([1, 2])
    assert shape_equals(proto, [2])
    assert not shape_equals(proto, [3])
    with pytest.raises(TypeError):
        shape_equals(proto, 2)
