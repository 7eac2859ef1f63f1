# SPDX-License-Identifier: Apache-2.0
"""Variant tensors as messages: states of iterators go to files and come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.variants import VariantData, variant_tensor_proto, variants_of

pytestmark = pytest.mark.cpu


def test_a_state_written_to_a_file_is_gone_on_from(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(9))
        element, handle = iterator.get_next(), iterator._iterator_resource
        state = tf.raw_ops.SerializeIterator(resource_handle=handle)
        write = tf.write_file(path, tf.serialize_tensor(state))
        read = tf.parse_tensor(tf.read_file(path), tf.variant)
        restore = tf.raw_ops.DeserializeIterator(resource_handle=handle, serialized=read)
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(3)] == [0, 1, 2]
        session.run(write)
        session.run(iterator.initializer)
        session.run(restore)
        assert [session.run(element) for _ in range(2)] == [3, 4]


def test_variants_are_listed_and_read_back() -> None:
    array = np.empty((2, 1), object)
    array[:, 0] = [VariantData("a", b"\x00\xff", (np.arange(3),)), VariantData("b", b"", ())]
    message = protos.TensorProto.FromString(variant_tensor_proto(array).SerializeToString())
    found = variants_of(message)
    assert found.shape == (2, 1) and found[0, 0][:2] == ("a", b"\x00\xff")
    assert found[0, 0].tensors[0].tolist() == [0, 1, 2] and found[1, 0] == VariantData("b", b"", ())
    del message.variant_val[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 variants lists 1"):
        variants_of(message)


def test_what_cannot_be_written_is_refused_in_place_of_its_address() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(3)._as_variant_tensor()
        with pytest.raises(tf.errors.UnimplementedError, match="not yet supported"):
            session.run(tf.serialize_tensor(dataset))
        handle = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))._iterator_resource
        with pytest.raises(tf.errors.UnimplementedError, match="resource cannot be written"):
            session.run(tf.serialize_tensor(handle))
