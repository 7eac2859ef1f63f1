# SPDX-License-Identifier: Apache-2.0
"""Ragged and sparse inputs and outputs of models, and ragged labels of metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.engine.composites import concatenated

pytestmark = pytest.mark.cpu
keras: Any = tf.keras
ROWS = [[1, 2], [3], []]
PADDED = [[1, 2], [3, -1], [-1, -1]]


class ToDense(keras.layers.Layer):
    def call(self, inputs: Any) -> Any:
        if isinstance(inputs, tf.SparseTensor):
            dense = tf.sparse_tensor_to_dense(inputs, default_value=-1)
        else:
            dense = inputs.to_tensor(-1)
        return tf.cast(dense, tf.float32)


class ToRagged(keras.layers.Layer):
    def call(self, inputs: Any) -> Any:
        return tf.RaggedTensor.from_tensor(inputs, padding=0)


@pytest.fixture(autouse=True)
def _session() -> Any:
    with tf.Graph().as_default(), tf.Session():
        yield


def dense_of(**options: Any) -> Any:
    x = keras.Input((None,), dtype="int32", **options)
    model = keras.Model(x, ToDense()(x))
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def ragged() -> Any:
    return tf.ragged.constant(ROWS, tf.int32)


def sparse() -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [3, 2])


@pytest.mark.parametrize("form", ["ragged", "sparse"])
@pytest.mark.parametrize("from_dataset", [False, True])
def test_inputs_of_several_parts_are_fed(form: str, from_dataset: bool) -> None:
    model = dense_of(**{form: True})
    x = ragged() if form == "ragged" else sparse()
    y = np.asarray(PADDED, np.float32)
    if from_dataset:
        assert model.predict(tf.data.Dataset.from_tensor_slices(x).batch(3)).tolist() == PADDED
        both = tf.data.Dataset.from_tensor_slices((x, y)).batch(3)
        assert model.evaluate(both, verbose=0) == [0, 0]
        return
    steps = {} if form == "ragged" else {"steps": 1}
    assert model.predict(x, **steps).tolist() == PADDED
    assert model.evaluate(x, y, verbose=0, **steps) == [0, 0]
    assert model.train_on_batch(x, y + 1)[0] == 1


def test_values_are_fed_in_one_batch() -> None:
    model = dense_of(ragged=True)
    value = tf.ragged.constant_value(ROWS, np.int32)
    assert model.predict(value).tolist() == PADDED
    with pytest.raises(TypeError, match="cannot be divided into batches"):
        model.predict(value, batch_size=2)


def test_values_of_other_parts_or_shapes_are_refused() -> None:
    model = dense_of(ragged=True)
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        model.predict(sparse(), steps=1)
    x = keras.Input((3,), sparse=True)
    with pytest.raises(ValueError, match="got array with shape"):
        keras.Model(x, ToDense()(x)).predict(sparse(), steps=1)
    with pytest.raises(ValueError, match="Cannot set both sparse and ragged"):
        keras.Input((None,), sparse=True, ragged=True)
    with pytest.raises(ValueError, match="must be explicitly declared"):
        keras.Sequential([ToDense()]).predict(sparse(), steps=1)


def test_ragged_outputs_of_batches_are_joined() -> None:
    x = keras.Input((None,))
    model = keras.Model(x, ToRagged()(x))
    data = np.array([[1, 2], [3, 0], [4, 0], [5, 6]])
    assert model.predict(data, batch_size=2).to_list() == [[1, 2], [3], [4], [5, 6]]


def test_sparse_rows_are_joined_with_rows_that_are_empty() -> None:
    part = tf.SparseTensorValue(np.array([[0, 1]]), np.array([7]), np.array([2, 3]))
    found = concatenated([part, part])
    assert found.indices.tolist() == [[0, 1], [2, 1]]
    assert found.dense_shape.tolist() == [4, 3]
    assert part.indices.tolist() == [[0, 1]]
    wide = part._replace(dense_shape=np.array([2, 4]))
    with pytest.raises(RuntimeError, match="Unable to concatenate"):
        concatenated([part, wide])


def test_metrics_count_the_elements_of_ragged_labels() -> None:
    metric = keras.metrics.Accuracy()
    weights = tf.ragged.constant([[0.5], [0.2]])
    labels, guesses = tf.ragged.constant([[2], [1]]), tf.ragged.constant([[2], [0]])
    found = metric(labels, guesses, sample_weight=weights)
    assert keras.backend.eval(found) == pytest.approx(0.5 / 0.7)
    with pytest.raises(TypeError, match="acceptable types"):
        metric(labels, tf.constant([[2], [0]]))
    with pytest.raises(TypeError, match="Ragged mask"):
        metric(tf.constant([[2.0]]), tf.constant([[2.0]]), sample_weight=weights)
