# SPDX-License-Identifier: Apache-2.0
"""Training models of Keras: what is frozen, datasets, weights of samples, columns, Estimators.

Numbers are those of TensorFlow 1.15 for the same seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

keras = tf.keras
layers = tf.keras.layers
pytestmark = pytest.mark.cpu
INPUTS = np.arange(80).reshape(40, 2) / 80.0
TARGETS = INPUTS.sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """A graph, a session and seeds of the test's own."""
    keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(0)
    yield
    keras.backend.clear_session()


def _dense(units: int, loss: str = "mse", **kwargs: Any) -> Any:
    model = keras.Sequential([layers.Dense(units, input_shape=(2,))])
    model.compile("sgd", loss, **kwargs)
    return model


def test_a_model_goes_on_training_as_it_was_compiled() -> None:
    norm = layers.BatchNormalization()
    critic = keras.Sequential([layers.Dense(3, input_shape=(2,)), norm, layers.Dense(1)])
    critic.compile("sgd", "mse")
    critic.trainable = False
    start = layers.Input((2,))
    whole = keras.Model(start, critic(layers.Dense(2)(start)))
    whole.compile("sgd", "mse")
    before = critic.get_weights()
    whole.train_on_batch(INPUTS, TARGETS)
    for old, now in zip(before, critic.get_weights(), strict=True):
        np.testing.assert_array_equal(now, old)
    critic.train_on_batch(INPUTS, TARGETS)
    # The moving mean is among the updates, although the model is frozen by now.
    changed = [not np.array_equal(a, b) for a, b in zip(before, critic.get_weights(), strict=True)]
    assert all(changed) and not critic.trainable and not norm.trainable


def test_validation_data_begin_anew_in_each_epoch() -> None:
    model = _dense(1)
    data = tf.data.Dataset.from_tensor_slices(
        (INPUTS.astype("float32"), TARGETS.astype("float32"))
    ).batch(10)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    found = model.fit(
        data.repeat(),
        steps_per_epoch=3,
        epochs=2,
        validation_data=data,
        validation_steps=2,
        verbose=0,
    ).history
    assert found["val_loss"][0] == found["val_loss"][1] == model.evaluate(data, steps=2, verbose=0)
    assert found["loss"][0] != found["loss"][1]  # the training data go on


def test_datasets_of_both_versions_and_iterators_are_data() -> None:
    model = _dense(1)
    parts = (INPUTS.astype("float32"), TARGETS.astype("float32"))
    second = tf.compat.v2.data.Dataset.from_tensor_slices(parts).batch(20)
    assert model.evaluate(second, verbose=0) == pytest.approx(
        model.evaluate(*parts, batch_size=20, verbose=0), rel=1e-5
    )
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(parts).repeat())
    assert len(model.fit(iterator, steps_per_epoch=2, epochs=2, verbose=0).history["loss"]) == 2
    with pytest.raises(ValueError, match="`steps_per_epoch`"):
        model.fit(iterator, verbose=0)


def test_variables_are_data_of_steps() -> None:
    model = _dense(3)
    found = model.fit(
        keras.backend.ones((4, 2)), keras.backend.zeros((4, 3)), steps_per_epoch=2, verbose=0
    )
    assert found.history["loss"] == pytest.approx([1.6284098])


def test_weights_may_be_given_for_some_outputs() -> None:
    start = layers.Input((2,))
    model = keras.Model(start, [layers.Dense(2, name=name)(start) for name in ("a", "b")])
    model.compile("sgd", "mse", weighted_metrics=["mae"])
    targets = np.tile(TARGETS, (1, 2))
    found = model.fit(
        INPUTS,
        [targets, targets * 2],
        sample_weight={"b": np.linspace(0, 2, 40)},
        epochs=2,
        batch_size=16,
        verbose=0,
    ).history
    assert found["loss"] == pytest.approx([7.90315, 7.11839], rel=1e-5)
    assert found["b_weighted_mean_absolute_error"] == pytest.approx([2.38428, 2.25054], rel=1e-5)


def test_a_layers_metric_is_a_mean_over_the_epoch() -> None:
    class Noted(layers.Layer):
        def call(self, x: Any) -> Any:
            self.add_metric(tf.reduce_sum(x), aggregation="mean", name="s")
            self.add_loss(tf.reduce_mean(x) * 0.1, inputs=x)
            return x * 2

    model = keras.Sequential([layers.Dense(3, input_shape=(2,)), Noted()])
    model.compile("sgd", "mse", metrics=["mae"])
    found = model.fit(INPUTS, np.tile(TARGETS, (1, 3)), epochs=2, verbose=0).history
    assert model.metrics_names == ["loss", "mean_absolute_error", "s"]
    assert found["s"] == pytest.approx([0.22553, 2.47471], rel=1e-4)
    assert found["loss"] == pytest.approx([3.45028, 3.00678], rel=1e-5)


def test_a_second_model_has_the_seeds_of_tensorflow() -> None:
    tf.reset_default_graph()  # without a placeholder of the phase, which training makes
    first = _dense(1)
    first.fit(INPUTS, TARGETS, verbose=0)
    operations = [op.name for op in tf.get_default_graph().get_operations()]
    place = operations.index("keras_learning_phase")
    assert operations[place + 1].startswith("training/SGD/gradients")


def test_columns_begin_a_network() -> None:
    column = tf.feature_column
    numbers = column.categorical_column_with_identity("a", 3)
    columns = [
        column.numeric_column("b"),
        column.indicator_column(numbers),
        column.embedding_column(numbers, 2),
    ]
    random = np.random.RandomState(0)
    features = {"a": random.randint(0, 3, (20, 1)), "b": random.rand(20, 1)}
    labels = random.randint(0, 2, (20, 1))
    model = keras.Sequential(
        [
            layers.DenseFeatures(columns),
            layers.Dense(8, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    found = model.fit(features, labels, epochs=2, batch_size=5, verbose=0).history
    assert found["loss"] == pytest.approx([0.71629, 0.71403], abs=1e-5)
    plain = keras.Sequential([layers.Dense(1)])
    plain.compile("sgd", "mse")
    with pytest.raises(ValueError, match="FeatureLayer as the first layer"):
        plain.fit(features, labels, verbose=0)


def test_a_linear_model_beside_a_network() -> None:
    random = np.random.RandomState(0)
    linear = keras.experimental.LinearModel()
    deep = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model = keras.experimental.WideDeepModel(linear, deep)
    model.compile(["sgd", "adam"], "mse", metrics=["mae"])
    data = [random.rand(20, 3), random.rand(20, 2)]
    before = model.fit(data, np.zeros((20, 1)), epochs=1, verbose=0).history["loss"][0]
    after = model.fit(data, np.zeros((20, 1)), epochs=30, verbose=0).history["loss"][-1]
    assert after < before
    assert [v.op.name.split("/")[1] for v in model.weights][:2] == ["linear_model"] * 2
    again = keras.experimental.LinearModel.from_config(linear.get_config())
    assert again.get_config() == linear.get_config()


def _compiled(optimizer: Any) -> Any:
    model = keras.Sequential(
        [
            layers.Dense(8, activation="relu", input_shape=(4,), name="a"),
            layers.BatchNormalization(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    values = [np.random.RandomState(i).rand(*w.shape) - 0.3 for i, w in enumerate(model.weights)]
    values[5] = np.ones(8)
    model.set_weights(values)
    return model


@pytest.mark.parametrize("form", ["saver", "checkpoint"])
def test_an_estimator_trains_a_model(tmp_path: Path, form: str) -> None:
    inputs = np.random.RandomState(0).rand(64, 4).astype("float32")
    labels = (inputs.sum(1) * 2).astype("int32") % 3
    model = _compiled("adam")
    estimator = keras.estimator.model_to_estimator(
        model,
        model_dir=str(tmp_path),
        checkpoint_format=form,
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    features = {model.input_names[0]: inputs}

    def batches() -> Any:
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(16)

    estimator.train(lambda: batches().repeat(5), steps=10)
    found = estimator.evaluate(batches)
    assert found["loss"] == pytest.approx(1.1311510, rel=1e-5)
    assert (found["acc"], found["global_step"]) == (0.25, 10)
    names = [name for name, _ in tf.train.list_variables(str(tmp_path))]
    key = (
        "a/kernel" if form == "saver" else "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    )
    assert key in names
    estimator.train(lambda: batches().repeat(5), max_steps=15)
    assert next(estimator.predict(lambda: batches().map(lambda x, y: x)))["dense"].shape == (3,)


def test_what_no_estimator_is_made_of() -> None:
    make = keras.estimator.model_to_estimator
    with pytest.raises(ValueError, match="needs to be provided"):
        make()
    with pytest.raises(ValueError, match="has not been compiled"):
        make(keras.Sequential([layers.Dense(1, input_shape=(2,))]))
    with pytest.raises(ValueError, match="Checkpoint format must be"):
        make(_dense(1), checkpoint_format="text")


def test_a_saved_model_has_graphs_and_comes_back(tmp_path: Path) -> None:
    model = _dense(2, metrics=["mae"])
    targets = np.zeros((40, 2))
    model.fit(INPUTS, targets, verbose=0)
    folder = str(tmp_path / "one")
    keras.experimental.export_saved_model(model, folder)
    again = keras.experimental.load_from_saved_model(folder)
    np.testing.assert_allclose(again.predict(INPUTS), model.predict(INPUTS), rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
        (output,) = signature.outputs.values()
        (given,) = signature.inputs.values()
        served = session.run(output.name, {given.name: INPUTS})
    np.testing.assert_allclose(served, model.predict(INPUTS), rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["train"], folder).signature_def["train"]
    assert sorted(signature.outputs) == [
        "loss",
        "metrics/mean_absolute_error/update_op",
        "metrics/mean_absolute_error/value",
        "predictions/dense",
    ]


def test_a_model_saved_as_a_saved_model_goes_on_training(tmp_path: Path) -> None:
    model = _dense(1)
    model.compile("adam", "mse")
    model.fit(INPUTS, TARGETS, verbose=0)
    model.save(str(tmp_path / "whole"), save_format="tf")
    again = keras.models.load_model(str(tmp_path / "whole"))
    for _ in range(2):
        assert again.train_on_batch(INPUTS, TARGETS) == pytest.approx(
            model.train_on_batch(INPUTS, TARGETS), rel=1e-5
        )
    with pytest.raises(ValueError, match='may be "h5" or "tf"'):
        model.save(str(tmp_path / "other"), save_format="pickle")


def test_modes_of_weights_do_not_ask_for_weights() -> None:
    start = layers.Input((3, 2))
    model = keras.Model(start, [layers.Dense(2, name=name)(start) for name in ("a", "b")])
    model.compile("sgd", "mse", sample_weight_mode=[None, "temporal"])
    data, targets = np.ones((8, 3, 2)), [np.zeros((8, 3, 2))] * 2
    assert np.isfinite(model.fit(data, targets, batch_size=4, verbose=0).history["loss"]).all()
    weights = {"b": np.zeros((8, 3))}
    weighed = model.evaluate(data, targets, sample_weight=weights, verbose=0)
    assert weighed[2] == 0.0 and weighed[1] > 0.0


def test_depthwise_convolutions_take_the_arguments_of_convolutions() -> None:
    layer = tf.keras.layers.DepthwiseConv2D(
        3, kernel_initializer="zeros", kernel_regularizer=None, dilation_rate=2
    )
    assert layer(tf.placeholder(tf.float32, [2, 5, 5, 3])).shape.as_list() == [2, 1, 1, 3]
    with pytest.raises(TypeError, match="not understood"):
        tf.keras.layers.DepthwiseConv2D(3, kernel_sizes=2)
