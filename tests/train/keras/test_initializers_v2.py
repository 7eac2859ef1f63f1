# SPDX-License-Identifier: Apache-2.0
"""Initializers of TensorFlow 2 draw as those of TensorFlow 1, and have no dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras import initializers_v2

pytestmark = pytest.mark.cpu
FIRST: Any = tf.keras.initializers
NAMES = (
    "Constant GlorotNormal GlorotUniform Identity Ones Orthogonal RandomNormal RandomUniform "
    "TruncatedNormal VarianceScaling Zeros he_normal he_uniform lecun_normal lecun_uniform"
)
FIRST_NAMES = {"GlorotNormal": "glorot_normal", "GlorotUniform": "glorot_uniform"}
ARGUMENTS = {"Constant": {"value": 2.0}, "Identity": {"gain": 3.0}, "Ones": {}, "Zeros": {}}


@pytest.mark.parametrize("name", NAMES.split())
def test_second_initializers_draw_as_the_first(name: str) -> None:
    given = ARGUMENTS.get(name, {"seed": 7})
    with tf.Graph().as_default(), tf.Session() as session:
        made = getattr(initializers_v2, name)(**given)
        config = made.get_config()
        assert "dtype" not in config
        again = type(made).from_config(config)
        first = getattr(FIRST, FIRST_NAMES.get(name, name))(**given)
        got, same, want = session.run([made([4, 4]), again([4, 4]), first([4, 4])])
        assert made([2, 2], dtype="float64").dtype == tf.float64
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(got, same)
    assert got.dtype == np.float32


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Round'"):
        initializers_v2.Round  # noqa: B018


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        ("Orthogonal", tf.string, "floating point type"),
        ("GlorotUniform", tf.int32, "floating point type"),
        ("RandomUniform", tf.bool, "float or integer dtype"),
        ("Zeros", tf.string, "numeric or boolean dtype"),
    ],
)
def test_dtypes_that_have_no_such_values_are_refused(name: str, kind: Any, what: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {what}, got"):
        getattr(initializers_v2, name)()([3, 3], dtype=kind)
    assert initializers_v2.zeros_initializer is initializers_v2.Zeros
