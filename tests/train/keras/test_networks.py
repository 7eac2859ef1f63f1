# SPDX-License-Identifier: Apache-2.0
"""What is added to networks, layers that programs write, and optimizers, node by node.

Losses and numbers of operations, which decide the seeds of what is made behind, are those of
TensorFlow 1.15 for the same seeds.
"""

from __future__ import annotations

import importlib
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


def _operations() -> int:
    return len(tf.get_default_graph().get_operations())


def _fit(model: Any, epochs: int = 2) -> list[float]:
    history = model.fit(INPUTS, TARGETS, epochs=epochs, verbose=0, shuffle=False)
    return [float(loss) for loss in history.history["loss"]]


class Noisy(layers.Layer):
    """A layer as programs write it, whose `training` is a tensor within `fit`."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        if training is None:
            training = keras.backend.learning_phase()
        if training:
            return inputs * 2.0
        return inputs


def test_a_layer_asks_whether_it_is_trained_by_an_if() -> None:
    model = keras.Sequential([layers.Dense(3, input_shape=(2,)), Noisy(), layers.Dense(1)])
    model.compile("sgd", "mse")
    assert _fit(model) == pytest.approx([0.012273, 0.000386], abs=2e-6)
    assert model.evaluate(INPUTS, TARGETS, verbose=0) == pytest.approx(0.324517, abs=2e-6)
    assert _operations() == 225


def test_losses_and_metrics_added_to_a_network_are_layers_of_it() -> None:
    inputs = keras.Input((2,))
    hidden = layers.Dense(3, activation="relu")(inputs)
    outputs = layers.Dense(2)(hidden)
    model = keras.Model(inputs, outputs)
    model.add_loss(tf.reduce_mean(tf.square(outputs - inputs)))
    model.add_metric(hidden, name="hidden", aggregation="mean")
    model.compile("adam")
    history = model.fit(INPUTS, epochs=2, verbose=0, shuffle=False).history
    assert [float(x) for x in history["loss"]] == pytest.approx([0.093618, 0.090712], abs=2e-6)
    assert [float(x) for x in history["hidden"]] == pytest.approx([0.2615, 0.261496], abs=2e-6)
    assert _operations() == 235
    added = ["tf_op_layer_sub", "tf_op_layer_Square", "tf_op_layer_Mean", "add_loss", "add_metric"]
    assert [layer.name for layer in model.layers] == ["input_1", "dense", "dense_1", *added]

    again = keras.Model.from_config(model.get_config())
    again.compile("adam")
    again.set_weights(model.get_weights())
    losses = [one.evaluate(INPUTS, verbose=0) for one in (model, again)]
    assert losses[0] == pytest.approx(losses[1])


def test_a_network_refuses_the_result_of_a_metric() -> None:
    inputs = keras.Input((2,))
    outputs = layers.Dense(2)(inputs)
    model = keras.Model(inputs, outputs)
    with pytest.raises(ValueError, match="pass the Tensor to monitor directly"):
        model.add_metric(keras.metrics.Mean()(outputs), name="mean")


def test_the_variables_of_a_function_are_weights_of_its_layer() -> None:
    scaled = layers.Lambda(lambda x: x * tf.Variable(2.0, name="factor", use_resource=True))
    model = keras.Sequential([layers.Dense(1, input_shape=(2,)), scaled])
    model.compile("sgd", "mse")
    assert _fit(model) == pytest.approx([2.035077, 1.014481], abs=2e-6)
    names = ["dense/kernel:0", "dense/bias:0", "lambda/factor:0"]
    assert [v.name for v in model.weights] == names
    assert keras.backend.get_value(model.weights[2]) == pytest.approx(1.9933, abs=2e-6)
    scaled(tf.ones([2, 1]))
    assert len(scaled.trainable_weights) == 1


def test_a_function_tells_the_shapes_of_several_outputs() -> None:
    same = layers.Lambda(lambda x: x, output_shape=[(10,), (20,)])
    assert [s.as_list() for s in same.compute_output_shape([(4, 1), (4, 2)])] == [[4, 10], [4, 20]]
    swapped = layers.Lambda(lambda x: (x[1]["a"], {"b": x[0]}))
    first, rest = swapped.compute_output_shape(((10, 20), {"a": (10, 5)}))
    assert first.as_list() == [10, 5] and rest["b"].as_list() == [10, 20]


def test_networks_of_dicts_come_back_from_their_configurations() -> None:
    given = {"b": keras.Input((2,), name="bb"), "a": keras.Input((2,), name="aa")}
    both = [given["a"], given["b"]]
    model = keras.Model(given, {"s": layers.Add()(both), "p": layers.Multiply()(both)})
    again = keras.Model.from_config(model.get_config())
    made = again({"a": tf.constant([[1.0, 2.0]]), "b": tf.constant([[3.0, 5.0]])})
    with tf.Session() as session:
        found = session.run(made)
    assert found["s"].tolist() == [[4.0, 7.0]] and found["p"].tolist() == [[3.0, 10.0]]
    shapes = again.compute_output_shape({"a": (None, 2), "b": (None, 2)})
    assert shapes["s"].as_list() == [None, 2]


def test_a_layer_with_arguments_must_describe_them() -> None:
    class Scaled(layers.Layer):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

    with pytest.raises(NotImplementedError, match="must override `get_config`"):
        Scaled(2.0).get_config()


FIRST = {
    "SGD": ({"momentum": 0.9, "nesterov": True}, [0.923089, 0.561141, 0.228709], None),
    "RMSprop": ({"decay": 0.1}, [0.952133, 0.925146, 0.911494], 311),
    "Adagrad": ({}, [0.934991, 0.838551, 0.786005], 275),
    "Adadelta": ({}, [0.955667, 0.937274, 0.920644], 387),
    "Adam": ({"amsgrad": True, "clipnorm": 0.5}, [0.95667, 0.944663, 0.932744], 497),
    "Adamax": ({}, [0.954249, 0.93564, 0.919824], 343),
    "Nadam": ({"clipvalue": 0.3}, [0.953976, 0.933225, 0.915731], 486),
}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_optimizers_of_keras(name: str) -> None:
    first = importlib.import_module("numbaflow.train.keras.optimizers.first")
    given, losses, operations = FIRST[name]
    model = keras.Sequential(
        [layers.Dense(3, activation="tanh", input_shape=(2,)), layers.Dense(1)]
    )
    optimizer = getattr(first, name)(**given)
    model.compile(optimizer, "mse")
    assert _fit(model, 3) == pytest.approx(losses, abs=2e-6)
    assert operations in (None, _operations())
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()
    values = [value + 1 for value in optimizer.get_weights()]
    optimizer.set_weights(values)
    np.testing.assert_array_equal(optimizer.get_weights()[-1], values[-1])


def test_a_programs_optimizer_on_the_first_base_class() -> None:
    first = importlib.import_module("numbaflow.train.keras.optimizers.first")

    class Halving(first.Optimizer):
        def get_updates(self, loss: Any, params: Any) -> Any:
            gradients = self.get_gradients(loss, params)
            return [(p, p - 0.5 * g) for p, g in zip(params, gradients)]

    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile(Halving(clipvalue=1.0), "mse")
    losses = _fit(model, 4)
    assert losses[-1] < losses[0] / 2
    with pytest.raises(ValueError, match="Expected clipnorm >= 0"):
        Halving(clipnorm=-1.0)


ROWS = {
    "SGD": ([0.67184, 0.658877, 0.646078], 180),
    "RMSprop": ([1.269711, 0.762058, 0.442995], 261),
    "Adam": ([0.727755, 0.40636, 0.276268], 268),
    "Adamax": ([0.728255, 0.453105, 0.313372], 261),
    "Nadam": ([0.73456, 0.539481, 0.437167], 370),
    "Adagrad": ([0.675916, 0.638186, 0.603346], 198),
    "Adadelta": ([0.669901, 0.669631, 0.669362], 222),
    "Ftrl": ([0.682006, 0.692919, 0.691984], 238),
}


@pytest.mark.parametrize("name", ROWS)
def test_optimizers_update_rows_node_by_node(name: str) -> None:
    losses, operations = ROWS[name]
    model = keras.Sequential(
        [
            layers.Embedding(7, 4, input_length=5),
            layers.Flatten(),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(getattr(keras.optimizers, name)(0.1), "sparse_categorical_crossentropy")
    x, y = np.arange(40).reshape(8, 5) % 7, np.arange(8) % 2
    history = model.fit(x, y, epochs=3, batch_size=4, verbose=0, shuffle=False).history
    assert [float(loss) for loss in history["loss"]] == pytest.approx(losses, abs=2e-6)
    assert _operations() == operations


def test_attention_that_sees_nothing_later() -> None:
    queries = tf.constant(np.arange(12).reshape(1, 3, 4) / 10.0, tf.float32)
    attended = layers.Attention(causal=True)([queries, queries])
    with tf.Session() as session:
        found = session.run(attended)
    assert found.shape == (1, 3, 4)
    assert found[0, :, 0] == pytest.approx([0.0, 0.282729, 0.700712], abs=2e-6)
    with pytest.raises(ValueError, match="list of length 2 or 3"):
        layers.Attention()([queries])


def test_datasets_tell_how_many_steps_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((INPUTS, TARGETS)).batch(10)
    model.fit(data, epochs=1, validation_data=data.take(2), verbose=2)
    assert "Train on 4 steps, validate on 2 steps" in capsys.readouterr().out
    assert _operations() == 190
    with pytest.raises(ValueError, match="infinitely repeating dataset"):
        model.fit(data.repeat(), verbose=0)
    with pytest.raises(ValueError, match="`batch_size` argument must not be specified"):
        model.fit(data, batch_size=3, verbose=0)


def test_classes_of_sequences_need_no_axis_of_their_own() -> None:
    model = keras.Sequential(
        [layers.Embedding(9, 4, input_length=6), layers.Dense(9, activation="softmax")]
    )
    model.compile("sgd", "sparse_categorical_crossentropy")
    x = np.arange(48).reshape(8, 6) % 9
    history = model.fit(x, x, epochs=2, verbose=0, shuffle=False).history
    assert [float(loss) for loss in history["loss"]] == pytest.approx(
        [2.193907, 2.193506], abs=2e-6
    )


def test_frozen_models_train_nothing() -> None:
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.trainable = False
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    before = model.get_weights()
    _fit(model)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_a_model_without_an_input_shape_comes_back_from_its_configuration() -> None:
    model = keras.Sequential(
        [layers.Dense(2), layers.RepeatVector(3), layers.TimeDistributed(layers.Dense(3))]
    )
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((1, 3)), np.ones((1, 3, 3)))
    config = model.get_config()
    config["build_input_shape"] = list(config["build_input_shape"])  # As files have it.
    again = keras.Sequential.from_config(config)
    again.set_weights(model.get_weights())
    x = np.ones((2, 3))
    np.testing.assert_allclose(again.predict(x), model.predict(x))


def test_functions_take_tensors_for_what_they_are() -> None:
    x = keras.backend.placeholder((2,))
    doubled = keras.backend.function([x], [x * 2.0])
    assert doubled([tf.constant([1.0, 2.0])])[0].tolist() == [2.0, 4.0]


def test_files_of_earlier_versions_name_batch_normalization_otherwise() -> None:
    config = {"class_name": "BatchNormalizationV1", "config": {"name": "bn", "momentum": 0.5}}
    layer = layers.deserialize(config)
    assert isinstance(layer, layers.BatchNormalization) and layer.momentum == 0.5


def test_inputs_that_come_in_later_are_called_with_the_network() -> None:
    first, later = layers.Input((3,), name="first"), layers.Input((2,), name="later")
    end = layers.concatenate([layers.Dense(2, name="dense")(first), later])
    model = keras.Model([first, later], end, name="inner")
    graph = tf.get_default_graph()
    before = len(graph.get_operations())
    y = model([layers.Input((3,)), layers.Input((2,))])
    made = [op.name for op in graph.get_operations()[before:]]
    # (As many operations as in TensorFlow 1.15, by which seeds of what is made behind are chosen.)
    assert "inner/later/later/Identity" in made
    assert "inner/first/first/Identity" not in made and len(made) == 9
    assert y.shape.as_list() == [None, 4]
