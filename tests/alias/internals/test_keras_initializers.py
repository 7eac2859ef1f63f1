# SPDX-License-Identifier: Apache-2.0
"""Initializers of tf.keras: their own spreads, their names, and tf.contrib.keras."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.finder import resolve

pytestmark = pytest.mark.cpu

INITIALIZERS = tf.keras.initializers


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("RandomNormal", {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}),
        ("normal", {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}),
        ("truncated_normal", {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}),
        ("uniform", {"minval": -0.05, "maxval": 0.05, "seed": None, "dtype": "float32"}),
    ],
)
def test_spreads_are_small(name: str, options: dict[str, Any]) -> None:
    made = getattr(INITIALIZERS, name)()
    assert made.get_config() == options
    assert INITIALIZERS.get(name).get_config() == options
    again = INITIALIZERS.deserialize(INITIALIZERS.serialize(made))
    assert type(again) is type(made) and again.get_config() == options


def test_a_layer_takes_them() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        he = tf.contrib.keras.initializers.he_normal(seed=3)
        dense = tf.layers.Dense(50, kernel_initializer=he)
        dense(tf.zeros([2, 20]))
        same = tf.get_variable("v", [20, 50], initializer=tf.initializers.he_normal(seed=3))
        session.run(tf.global_variables_initializer())
        one, other = session.run([dense.kernel, same])
        assert one.tobytes() == other.tobytes()
        near = session.run(INITIALIZERS.RandomUniform(seed=1)([1000]))
        assert 0.04 < abs(near).max() <= 0.05


def test_they_are_found_by_name() -> None:
    assert INITIALIZERS.get(None) is None
    assert INITIALIZERS.get("zeros").__class__ is INITIALIZERS.Zeros
    described = {"class_name": "RandomUniform", "config": {"minval": 0.0}}
    assert INITIALIZERS.get(described).get_config()["minval"] == 0.0
    mine = INITIALIZERS.deserialize("Mine", {"Mine": INITIALIZERS.Ones})
    assert isinstance(mine, INITIALIZERS.Ones)
    for wrong in ("unheard", "get"):
        with pytest.raises(ValueError, match=f"Unknown initializer:{wrong}"):
            INITIALIZERS.get(wrong)
    with pytest.raises(ValueError, match="Could not interpret initializer identifier: 3"):
        INITIALIZERS.get(3)


def test_contributed_keras_is_the_same() -> None:
    assert tf.contrib.keras is tf.keras
    assert resolve("tensorflow.contrib.keras.initializers") is INITIALIZERS
    assert tf.contrib.keras.layers.ConvLSTM2D is tf.keras.layers.ConvLSTM2D
