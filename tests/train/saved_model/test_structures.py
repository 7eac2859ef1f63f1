# SPDX-License-Identifier: Apache-2.0
"""Nested structures as messages, and back."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.saved_model.structures import NotEncodableError, StructureCoder

pytestmark = pytest.mark.pure

Pair = namedtuple("Pair", ["left", "right"])
SPECS = [
    tf.TensorSpec([2, None], tf.float32, "x"),
    tf.SparseTensorSpec([10, 20], tf.int64),
    tf.IndexedSlicesSpec([3, 2], tf.float32),
    tf.RaggedTensorSpec([1, None, 3], tf.int64, 1, tf.int32),
    tf.TensorArraySpec([2], tf.int32, dynamic_size=True),
    tf.data.DatasetSpec({"a": tf.TensorSpec([], tf.string), "b": tf.SparseTensorSpec([None])}),
    tf.OptionalSpec((tf.TensorSpec([4], tf.bool), tf.TensorSpec([], tf.int32))),
]


@pytest.mark.parametrize("value", [[None, True, 3, 2.5, "a"], {"k": (1, [])}, tf.int8, *SPECS])
def test_what_is_written_is_read(value: Any) -> None:
    coder = StructureCoder()
    assert coder.can_encode(value)
    found = coder.decode_proto(coder.encode_structure(value))
    assert found == value and type(found) is type(value)


def test_named_tuples_come_back_as_ones_with_these_fields() -> None:
    coder = StructureCoder()
    found = coder.decode_proto(coder.encode_structure(Pair([1], tf.TensorShape([2, None]))))
    assert type(found).__name__ == "Pair" and found.left == [1]
    assert found.right.as_list() == [2, None]


def test_what_no_message_can_hold() -> None:
    coder = StructureCoder()
    assert not coder.can_encode([object()])
    with pytest.raises(NotEncodableError, match="No encoder for object"):
        coder.encode_structure({"a": object()})
    message = coder.encode_structure(SPECS[1])
    message.type_spec_value.type_spec_class = 0
    message.type_spec_value.type_spec_class_name = "FutureSpec"
    with pytest.raises(ValueError, match="The type 'FutureSpec' is not supported"):
        coder.decode_proto(message)
