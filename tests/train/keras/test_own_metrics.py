# SPDX-License-Identifier: Apache-2.0
"""Metrics of programs, models on tensors, steps of whole arrays, and inner names of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
keras: Any = tf.keras
X, Y = np.arange(12.0).reshape(4, 3), np.ones([4, 1])


class Hits(keras.metrics.Metric):
    """Counts, without returning what it does, and in order."""

    def __init__(self, name: str = "hits") -> None:
        super().__init__(name=name)
        self.hits = self.add_weight("hits", initializer="zeros")
        self.seen = self.add_weight("seen", initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.hits.assign_add(tf.reduce_sum(tf.cast(y_pred > 10.0, tf.float32)))
        self.seen.assign(self.seen + tf.cast(tf.size(y_pred), tf.float32))

    def result(self) -> Any:
        return self.hits / self.seen


@pytest.fixture(autouse=True)
def _session() -> Any:
    with tf.Graph().as_default(), tf.Session():
        yield


def line(**options: Any) -> Any:
    dense = keras.layers.Dense(1, kernel_initializer="ones", **options)
    return keras.Sequential([dense])


def test_metrics_of_programs_need_not_return_what_they_do() -> None:
    model = line(input_shape=(3,))
    model.compile("sgd", "mse", metrics=[Hits()])
    for _ in range(2):
        assert model.evaluate(X, Y, batch_size=3, verbose=0)[1] == 0.75


def test_metrics_among_attributes_are_the_first() -> None:
    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.mean = keras.metrics.Mean(name="first")

        def call(self, x: Any) -> Any:
            self.add_metric(tf.reduce_sum(x), name="second", aggregation="mean")
            self.add_metric(self.mean(x), name="first")
            return self.dense(x)

    model = Model()
    model.compile("sgd", "mse")
    history = model.fit(X, Y, batch_size=4, verbose=0).history
    assert (history["first"], history["second"]) == ([np.mean(X)], [np.sum(X)])


def test_mean_tensors_have_values_once_they_are_made() -> None:
    metric = keras.metrics.MeanTensor()
    session = tf.get_default_session()
    assert session.run(metric([4.0, 2.0])).tolist() == [4, 2]
    assert session.run(metric([2.0, 0.0])).tolist() == [3, 1]


def test_models_are_built_on_tensors() -> None:
    model = line()
    model.compile("sgd", "mse")
    x, y = tf.ones([2, 3]), tf.zeros([2, 1])
    history = model.fit(x, y, steps_per_epoch=2, epochs=2, verbose=0).history
    assert len(history["loss"]) == 2
    assert model.evaluate(steps=1, verbose=0) < history["loss"][0]
    assert model.predict(x, steps=3).shape == (6, 1)


def test_each_step_of_arrays_is_all_of_them() -> None:
    model = line(input_shape=(3,), use_bias=False)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    seen: list[Any] = []
    count = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    model.fit(X, Y, steps_per_epoch=3, verbose=0, callbacks=[count])
    assert seen == [0, 1, 2]
    assert model.predict(X, steps=2).shape == (8, 1)
    with pytest.raises(ValueError, match="the `batch_size` must be None"):
        model.fit(X, Y, batch_size=2, steps_per_epoch=3)


def test_rows_of_outputs_are_those_of_inputs() -> None:
    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Lambda(lambda v: tf.reshape(v, [-1, 2]))(x))
    with pytest.raises(ValueError, match=r"Output shape = \(6, 2\), expected output shape"):
        model.predict(np.ones([3, 4]))


def test_calls_of_models_take_inputs_alone() -> None:
    class Model(keras.Model):
        def call(self, x: Any, other: Any, training: Any = None) -> Any:
            return x + other

    model = Model()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"Models passed to `fit`.*\['other'\]"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="cannot build your model if it has positional"):
        model.build([(2, 3), (2, 3)])
    with pytest.raises(ValueError, match="input shape is not one of the valid types"):
        Model().build(7)


def test_models_that_forget_their_constructor_say_so() -> None:
    class Model(keras.Model):
        def __init__(self) -> None:
            self.dense = keras.layers.Dense(1)

    with pytest.raises(RuntimeError, match="forgot to call"):
        Model()


def test_programs_make_functions_of_what_a_model_is_fed() -> None:
    model = line(input_shape=(3,), use_bias=False)
    model.compile("sgd", "mse", sample_weight_mode=None)
    gradients = model.optimizer.get_gradients(model.total_loss, model.trainable_weights)
    inputs = model._feed_inputs + model._feed_targets + model._feed_sample_weights
    function = keras.backend.function(inputs, gradients)
    x, y, weights = model._standardize_user_data(X, Y)
    assert weights is None
    expected = 2 * np.mean((X.sum(1) - 1)[:, None] * X, axis=0)
    np.testing.assert_allclose(function(x + y)[0][:, 0], expected, rtol=1e-6)
    assert model.loss_functions[0].fn is keras.losses.mean_squared_error


def test_constants_of_bidirectional_layers_are_inputs() -> None:
    class Cell(keras.layers.Layer):
        state_size = 2

        def build(self, shape: Any) -> None:
            self.kernel = self.add_weight("k", (int(shape[-1]), 2), initializer="ones")
            super().build(shape)

        def call(self, x: Any, states: Any, constants: Any) -> Any:
            new = keras.backend.dot(x, self.kernel) + states[0] + constants[0]
            return new, [new]

    x, c = keras.Input((3, 4)), keras.Input((2,))
    layer = keras.layers.Bidirectional(keras.layers.RNN(Cell()))
    model = keras.Model([x, c], layer(x, constants=c))
    found = model.predict([np.ones([1, 3, 4]), np.array([[1.0, 2.0]])])
    assert found.tolist() == [[15, 18, 15, 18]]
    assert layer.get_config()["num_constants"] == 1


def test_scikit_wrappers_may_be_what_builds_models() -> None:
    class Regressor(keras.wrappers.scikit_learn.KerasRegressor):
        def __call__(self, units: int) -> Any:
            model = keras.Sequential([keras.layers.Dense(units, input_shape=(3,))])
            model.compile("sgd", "mse")
            return model

    found = Regressor(build_fn=None, units=1, epochs=2, verbose=0)
    assert len(found.fit(X, Y).history["loss"]) == 2


def test_functions_take_variables() -> None:
    x, y = keras.backend.placeholder(shape=()), keras.backend.variable(10.0)
    assert keras.backend.function([x], [x + 1])([y]) == [11]


def test_parts_of_folders_are_named(tmp_path: Any) -> None:
    (tmp_path / "a").mkdir()
    generator = keras.preprocessing.image.ImageDataGenerator(validation_split=0.5)
    with pytest.raises(ValueError, match="Invalid subset name: foo"):
        generator.flow_from_directory(str(tmp_path), subset="foo")


def test_uncompiled_models_are_written(tmp_path: Any) -> None:
    model = line(input_shape=(3,))
    path = str(tmp_path / "model")
    keras.experimental.export_saved_model(model, path)
    found = keras.experimental.load_from_saved_model(path)
    assert found.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("module", ["losses", "metrics"])
def test_configurations_hold_the_values_of_tensors(module: str) -> None:
    made = getattr(keras, module).CategoricalCrossentropy(label_smoothing=tf.constant(0.25))
    assert made.get_config()["label_smoothing"] == 0.25
