# SPDX-License-Identifier: Apache-2.0
"""Tensors as they cross processes: both ways, by hand as by protobuf, and damaged."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.types import dtypes
from numbaflow.io import protos
from numbaflow.io.variants import VariantData
from numbaflow.train.cluster.tensor_messages import decoded, encoded, received, received_bytes

pytestmark = pytest.mark.pure

VALUES = {
    "float32": np.array([[1.5, -0.0], [np.inf, np.nan]], np.float32),
    "float16": np.array([1, 2, 65504], np.float16),
    "int8": np.arange(-3, 3, dtype=np.int8),
    "bool": np.array([True, False, True]),
    "complex64": np.array([1 + 2j, -3j], np.complex64),
    "int64": np.array(1 << 40, np.int64),
    "uint16": np.zeros((0, 3), np.uint16),
    "string": np.array([[b"a", b""], [b"\x00\xff" * 100, b"z"]], object),
}


def bytes_of(array):
    """What tells arrays apart, NaN and signs of zero among it."""
    content = array.tolist() if array.dtype.hasobject else array.tobytes()
    return array.shape, array.dtype, content


@pytest.mark.parametrize("name", VALUES)
def test_values_cross_as_they_are(name):
    value, dtype = VALUES[name], dtypes.as_dtype(name)
    message = protos.TensorProto.FromString(encoded(value, dtype).SerializeToString())
    assert bytes_of(decoded(message)) == bytes_of(value)
    assert bytes_of(received(received_bytes(value, dtype))) == bytes_of(value)


@pytest.mark.parametrize("name", VALUES)
def test_what_is_written_by_hand_is_what_protobuf_reads(name):
    value, dtype = VALUES[name], dtypes.as_dtype(name)
    response = protos.RecvTensorResponse.FromString(received_bytes(value, dtype))
    assert not response.is_dead and response.send_start_micros > 0
    assert bytes_of(decoded(response.tensor)) == bytes_of(value)


def test_what_protobuf_writes_is_read_by_hand():
    response = protos.RecvTensorResponse(send_start_micros=7, require_ack=True)
    response.tensor.CopyFrom(encoded(VALUES["float32"], dtypes.float32))
    assert bytes_of(received(response.SerializeToString())) == bytes_of(VALUES["float32"])
    # A scalar that lists its element, as TensorFlow writes small ones.
    response.tensor.CopyFrom(tf.make_tensor_proto(np.float32(2.5)))
    assert received(response.SerializeToString()) == np.float32(2.5)


def test_dead_tensors_have_no_value():
    data = received_bytes(None, dtypes.float32)
    assert protos.RecvTensorResponse.FromString(data).is_dead
    assert received(data) is None


def test_scalars_of_runs_are_arrays():
    assert bytes_of(decoded(encoded(np.float32(3), dtypes.float32)))[0] == ()
    assert decoded(encoded(b"text", dtypes.string)).item() == b"text"


def test_texts_as_the_runtime_packs_them():
    message = protos.TensorProto(dtype=protos.DT_STRING, tensor_content=b"\x02\x00\x01abc")
    message.tensor_shape.dim.add(size=3)
    assert decoded(message).tolist() == [b"ab", b"", b"c"]
    message.tensor_content = b"\x02\x00\x01abcd"
    with pytest.raises(tf.errors.DataLossError, match="other lengths"):
        decoded(message)


@pytest.mark.parametrize("cut", [1, 5, 12, 20])
def test_messages_that_are_cut_short_are_refused(cut):
    data = received_bytes(VALUES["float32"], dtypes.float32)
    with pytest.raises(tf.errors.DataLossError, match="Cannot parse a tensor"):
        received(data[:-cut])


def test_variants_cross_if_they_can_be_written():
    array = np.empty((), object)
    array[()] = VariantData("kind", b"text", (np.arange(3),))
    message = protos.TensorProto.FromString(encoded(array, dtypes.variant).SerializeToString())
    assert decoded(message).item().metadata == b"text"
    with pytest.raises(tf.errors.UnimplementedError, match="variant"):
        encoded(np.empty((), object), dtypes.variant)
