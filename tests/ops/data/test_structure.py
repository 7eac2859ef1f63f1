# SPDX-License-Identifier: Apache-2.0
"""Types of elements, as newer and older programs state them."""

from __future__ import annotations

import pytest

import numbaflow as tf
from numbaflow.ops.data import structure

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("facts", [(None, True), (True, None), (True, False), (False, True)])
def test_arrays_keep_what_is_known_of_them_in_old_shapes(
    facts: tuple[bool | None, bool | None],
) -> None:
    spec = tf.TensorArraySpec([2, 2], tf.int32, *facts)
    old = tf.TensorShape([*(None if fact is None else int(fact) for fact in facts), 2, 2])
    assert structure.convert_legacy_structure(tf.int32, old, tf.TensorArray) == spec
    assert spec._to_legacy_output_shapes().as_list() == old.as_list()


def test_a_sparse_value_of_lists_has_the_dtypes_of_tensors() -> None:
    value = tf.SparseTensorValue([[1, 1], [3, 4]], [10, -1], [4, 5])
    assert structure.type_spec_from_value(value) == tf.SparseTensorSpec([4, 5], tf.int32)
    with pytest.raises(TypeError, match="Neither a SparseTensor nor SparseTensorValue"):
        structure.to_tensor_list(tf.SparseTensorSpec([4, 5], tf.int32), tf.constant(1))
