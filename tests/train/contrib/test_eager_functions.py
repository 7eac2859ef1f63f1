# SPDX-License-Identifier: Apache-2.0
"""Functions of tf.contrib.eager are those of tf.function, in graphs."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.contrib.eager import defun_with_attributes

pytestmark = pytest.mark.cpu
tfe = tf.contrib.eager


def test_effects_of_functions_happen_in_order() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [], use_resource=True, initializer=tf.zeros_initializer())

        @tfe.defun(input_signature=[tf.TensorSpec([None], tf.float32)])
        def total(x: Any) -> Any:
            v.assign_add(tf.reduce_sum(x))
            v.assign_add(1.0)
            return v.read_value()

        found = total(tf.constant([1.0, 2.0]))
        session.run(v.initializer)
        assert session.run(found) == 4.0
        with pytest.raises(ValueError, match="signature|shape|fit"):
            total(tf.constant(1.0))


def test_other_names_of_functions() -> None:
    assert tfe.function is tf.function
    with tf.Graph().as_default(), tf.Session() as session:
        twice = defun_with_attributes(lambda x: x + x, attributes={"api_implements": "twice"})
        assert session.run(twice(tf.constant(2))) == 4
