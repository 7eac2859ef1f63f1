# SPDX-License-Identifier: Apache-2.0
"""Variant tensors as messages: states of iterators go to files and come back."""

from __future__ import annotations

import base64
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


# A list of two elements and one that was not set, as TensorFlow 1.15.5's SerializeTensor gives it.
LIST = (
    "CBUSACJUUwoWdGVuc29yZmxvdzo6VGVuc29yTGlzdBIRAQIB////////////ARICCAIaEggBEgQSAggCKggAAIA/AAAA"
    "QBoSCAESBBICCAIqCAAAQEAAAIBA"
)


def test_lists_of_tensors_are_read_as_tensorflow_writes_them_and_written_again() -> None:
    given = base64.b64decode(LIST)
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.placeholder(tf.string, [])
        handle = tf.parse_tensor(text, tf.variant)
        raw = tf.raw_ops
        count = raw.TensorListLength(input_handle=handle)
        second = raw.TensorListGetItem(
            input_handle=handle, index=1, element_shape=[2], element_dtype=tf.float32
        )
        again = tf.serialize_tensor(tf.identity(handle))
        for written in (given, session.run(again, {text: given})):
            found = session.run([count, second], {text: written})
            assert found[0] == 3 and found[1].tolist() == [3.0, 4.0]
        for damaged in (given[:-4], given.replace(b"\x01\x02\x01\xff", b"\x01\x7f\x01\xff")):
            with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
                session.run(count, {text: damaged})


def test_lists_of_lists_come_back() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        raw, shape = tf.raw_ops, tf.constant([], tf.int32)
        inner = raw.TensorListFromTensor(tensor=[[1, 2], [3, 4]], element_shape=[2])
        outer = raw.EmptyTensorList(
            element_shape=shape, max_num_elements=5, element_dtype=tf.variant
        )
        outer = raw.TensorListPushBack(input_handle=outer, tensor=inner)
        read = tf.parse_tensor(tf.serialize_tensor(outer), tf.variant)
        found = raw.TensorListPopBack(
            input_handle=read, element_shape=shape, element_dtype=tf.variant
        )[1]
        stack = raw.TensorListStack(
            input_handle=found, element_shape=[2], element_dtype=tf.int32, num_elements=-1
        )
        assert session.run(stack).tolist() == [[1, 2], [3, 4]]


def test_what_cannot_be_written_is_refused_in_place_of_its_address() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(3)._as_variant_tensor()
        with pytest.raises(tf.errors.UnimplementedError, match="not yet supported"):
            session.run(tf.serialize_tensor(dataset))
        handle = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))._iterator_resource
        with pytest.raises(tf.errors.UnimplementedError, match="resource cannot be written"):
            session.run(tf.serialize_tensor(handle))
