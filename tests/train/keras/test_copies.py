# SPDX-License-Identifier: Apache-2.0
"""Copies of compiled models, in the same graph and in another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.saving.copies import clone_and_build_model

pytestmark = pytest.mark.cpu
keras: Any = tf.keras
X, Y = np.ones([6, 4], np.float32), np.zeros([6, 2], np.float32)


def sequential(input_shape: tuple[int, ...] | None = (4,)) -> Any:
    options = {} if input_shape is None else {"input_shape": input_shape}
    model = keras.Sequential([keras.layers.Dense(3, **options), keras.layers.Dense(2)])
    model.compile("rmsprop", "mse", metrics=["acc", keras.metrics.MeanAbsoluteError()])
    return model


def functional() -> Any:
    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Dense(2)(x))
    model.compile(tf.train.AdamOptimizer(0.1), "mse", metrics=["acc"])
    return model


@pytest.mark.parametrize("build", [sequential, functional, lambda: sequential(None)])
def test_a_copy_has_layers_metrics_and_an_optimizer_of_its_own(build: Any) -> None:
    with tf.Graph().as_default(), tf.Session():
        model = build()
        model.train_on_batch(X, Y)
        made = clone_and_build_model(model)
        made.train_on_batch(X, Y)
        assert made.loss == "mse" and made.metrics_names == model.metrics_names
        assert type(made.optimizer) is type(model.optimizer) is not None
        assert made.optimizer is not model.optimizer
        assert not {*map(id, made.weights)} & {*map(id, model.weights)}


@pytest.mark.parametrize("build", [sequential, functional])
def test_updates_are_counted_by_a_given_variable(build: Any) -> None:
    with tf.Graph().as_default(), tf.Session():
        steps = keras.backend.variable(123, dtype="int64")
        made = clone_and_build_model(build(), optimizer_iterations=steps)
        made.train_on_batch(X, Y)
        assert keras.backend.get_value(steps) == 124


def test_a_copy_in_another_graph_has_its_inputs_and_is_compiled_if_it_shall_be() -> None:
    with tf.Graph().as_default(), tf.Session():
        model = sequential()
        model.train_on_batch(X, Y)
        config = model.optimizer.get_config()
    with tf.Graph().as_default() as graph, tf.Session():
        x = tf.ones([6, 4])
        made = clone_and_build_model(model, [x], optimizer_config=config)
        assert made.outputs[0].graph is graph and made.outputs[0].shape.as_list() == [6, 2]
        plain = clone_and_build_model(model, compile_clone=False)
        with pytest.raises(RuntimeError, match="must compile"):
            plain.train_on_batch(X, Y)


def test_what_cannot_be_copied_is_named() -> None:
    class Own(keras.Model):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            return inputs

    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="has not been compiled"):
            clone_and_build_model(keras.Sequential())
        with pytest.raises(ValueError, match="`get_config` and `from_config`"):
            clone_and_build_model(Own(), compile_clone=False)
