# SPDX-License-Identifier: Apache-2.0
"""What layers hold: other layers, variables and dicts as attributes, nested inputs and states."""

from __future__ import annotations

import json
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

K, L = tf.keras.backend, tf.keras.layers
State = namedtuple("State", "vector matrix")
Pair = namedtuple("Pair", "vector matrix")


@pytest.fixture(autouse=True)
def fresh() -> None:
    K.clear_session()
    tf.set_random_seed(1)


# Attributes


def test_variable_is_no_weight_once_no_attribute_holds_it() -> None:
    layer = L.Layer()
    layer.a = layer.b = K.variable(1.0)
    layer.c = K.variable(2.0)
    layer.a = None
    assert len(layer.weights) == 2
    del layer.b
    layer.c = tf.abs(layer.c)
    assert layer.weights == []


def test_variable_assigned_again_keeps_its_place() -> None:
    layer = L.Layer()
    layer.a, layer.b = K.variable(1.0), K.variable(2.0)
    layer.a = layer.a
    assert [v.name for v in layer.weights] == [layer.a.name, layer.b.name]


def test_assignment_held_by_a_layer_is_no_weight() -> None:
    layer = L.Layer()
    layer.v = tf.get_variable("v", [], use_resource=True)
    layer.changed = layer.v.assign_add(2.0)
    assert len(layer.weights) == 1 and layer.weights[0] is layer.v


@pytest.mark.parametrize("hold", [lambda x: x, lambda x: [x], lambda x: {"of": x}])
def test_layers_of_tf_layers_within_a_model_make_resource_variables(hold: Any) -> None:
    class Held(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = tf.layers.Dense(2)
            self.held = hold(self.inner)

        def call(self, inputs: Any) -> Any:
            return self.inner(inputs)

    model = Held()
    model.compile("sgd", "mse")
    history = model.fit(np.ones((4, 2)), np.ones((4, 2)), epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
    assert hasattr(model.inner.kernel, "handle")


def test_networks_of_tf_layers_layers_are_refused() -> None:
    inputs = L.Input((2,))
    outputs = tf.layers.Dense(1, name="legacy")(inputs)
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers:\n  <.*Dense"):
        tf.keras.Model(inputs, outputs)
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers"):
        tf.keras.Sequential([tf.layers.Dense(1)])


def test_updates_outside_of_calls_depend_on_what_calls_were_given() -> None:
    class Counts(L.Layer):
        def build(self, input_shape: Any) -> None:
            self.count = self.add_weight("count", (1, 1), trainable=False)
            self.built = True

    layer = Counts()
    inputs = L.Input((1,))
    model = tf.keras.Model(inputs, layer(inputs))
    model.add_update(tf.assign_add(layer.count, [[1.0]]))
    model.add_update(tf.assign_add(layer.count, inputs), inputs=True)
    assert [len(model.get_updates_for(x)) for x in (inputs, None)] == [1, 1]


def test_dict_of_a_layer_is_a_dict_for_all_of_python() -> None:
    layer = L.Layer()
    layer.options = {"a": 1, "inner": {"b": [2]}}
    layer.options["c"] = 3
    assert json.loads(json.dumps(layer.options)) == {"a": 1, "inner": {"b": [2]}, "c": 3}
    del layer.options["inner"]
    assert layer.options | {"a": 5} == {"a": 5, "c": 3}
    assert {"z": 0} | layer.options == {"z": 0, "a": 1, "c": 3}
    layer.options |= {"d": 4}
    assert json.dumps(layer.options) == '{"a": 1, "c": 3, "d": 4}'


# Configurations


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_sequential_behind_an_input_layer_comes_back_built(shape: tuple[int, ...]) -> None:
    first = L.InputLayer(batch_input_shape=(2, *shape), name="data")
    model = tf.keras.Sequential([first, L.Flatten(), L.Dense(3)])
    config = model.get_config()
    assert config["layers"][0]["config"]["batch_input_shape"] == (2, *shape)
    for made in (
        tf.keras.Sequential.from_config(config),
        tf.keras.models.model_from_json(model.to_json()),
        tf.keras.models.clone_model(model),
    ):
        assert made.built and made.output_shape == (2, 3)
        made.set_weights(model.get_weights())


def test_configuration_that_a_layer_keeps_is_left_as_it_is() -> None:
    kept = {"name": "mine", "factor": 2}

    class Times(L.Layer):
        def get_config(self) -> Any:
            return kept

    tf.keras.Sequential([L.InputLayer((2,)), Times()]).get_config()
    assert kept == {"name": "mine", "factor": 2}


def test_output_signature_has_the_dtype_that_is_computed_in() -> None:
    policy = tf.keras.mixed_precision.experimental.Policy("infer_float32_vars")
    layer = L.Dense(5, dtype=policy)
    outputs = layer(tf.zeros([2, 2], tf.float16))
    signature = layer.compute_output_signature(tf.TensorSpec((2, 2), tf.float16))
    assert signature.dtype == outputs.dtype == tf.float16
    assert signature.shape.as_list() == [2, 5] and layer.kernel.dtype == tf.float32


# Missing targets


@pytest.mark.parametrize("phase", [None, 1])
def test_missing_target_is_named(phase: int | None) -> None:
    if phase is not None:
        K.set_learning_phase(phase)
    model = tf.keras.Sequential([L.Dense(1, input_shape=(2,)), L.Dropout(0.5, name="drop")])
    model.compile("sgd", "mse")
    with pytest.raises(tf.errors.InvalidArgumentError, match="feed a value.*'drop_target'"):
        model.fit(np.ones((4, 2)), verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="feed a value.*'drop_target'"):
        model.train_on_batch(np.ones((4, 2)))


# Recurrent layers


class Both(L.Layer):
    """A cell of a vector and a matrix, which adds up products with what it is given."""

    def __init__(self, named: bool) -> None:
        self.named = named
        sizes = (2, tf.TensorShape([3, 4]))
        self.state_size = State(*sizes) if named else sizes
        self.output_size = sizes
        super().__init__()

    def build(self, input_shape: Any) -> None:
        vector, matrix = (input_shape.vector, input_shape.matrix) if self.named else input_shape
        self.of_vector = self.add_weight("vector", (vector[1], 2), initializer="ones")
        self.of_matrix = self.add_weight("matrix", (*matrix[1:], 3, 4), initializer="ones")

    def call(self, inputs: Any, states: Any) -> Any:
        vector, matrix = tf.nest.flatten(inputs)
        made = tf.matmul(vector, self.of_vector)
        squares = tf.einsum("bij,ijkl->bkl", matrix, self.of_matrix)
        return [made, squares], State(states[0] + made, states[1] + squares)


def _inputs(named: bool) -> tuple[list[Any], Any]:
    inputs = [L.Input((5, 3)), L.Input((5, 4, 5))]
    return inputs, Pair(*inputs) if named else tuple(inputs)


@pytest.mark.parametrize("named", [False, True])
def test_nested_inputs_train_as_in_tensorflow(named: bool) -> None:
    random = np.random.RandomState(0)
    data = [random.rand(10, 5, 3), random.rand(10, 5, 4, 5)]
    targets = [random.rand(10, 2), random.rand(10, 3, 4)]
    inputs, structure = _inputs(named)
    model = tf.keras.Model(inputs, L.RNN(Both(named))(structure))
    model.compile("rmsprop", "mse")
    history = model.fit(data, targets, epochs=2, batch_size=5, shuffle=False, verbose=0).history
    assert model.output_shape == [(None, 2), (None, 3, 4)]
    # TensorFlow 1.15.5's losses.
    np.testing.assert_allclose(history["loss"], [82.2873, 81.4757], atol=1e-4)


@pytest.mark.parametrize("named", [False, True])
def test_nested_inputs_with_nested_states_of_a_network(named: bool) -> None:
    inputs, structure = _inputs(named)
    states = [L.Input((2,)), L.Input((3, 4))]
    layer = L.RNN(Both(named), return_sequences=True, return_state=True)
    initial = State(*states) if named else tuple(states)
    outputs = layer(structure, initial_state=initial)
    shapes = [[None, 5, 2], [None, 5, 3, 4], [None, 2], [None, 3, 4]]
    assert [x.shape.as_list() for x in outputs] == shapes
    model = tf.keras.Model([*inputs, *states], outputs)
    data = [np.ones((2, 5, 3)), np.ones((2, 5, 4, 5)), np.ones((2, 2)), np.ones((2, 3, 4))]
    found = model.predict(data)
    assert np.all(found[0] == 3) and np.all(found[1] == 20)
    assert np.all(found[2] == 1 + 5 * 3) and np.all(found[3] == 1 + 5 * 20)


@pytest.mark.parametrize(
    ("make", "given", "wanted"),
    [
        (L.LSTM, lambda: [L.Input((3,)), L.Input((5,))], r"\[3, 3\]"),
        (L.LSTM, lambda: [tf.zeros([2, 3]), tf.zeros([2, 5])], r"\[3, 3\]"),
        (L.GRU, lambda: L.Input((5,)), r"\[3\]"),
        (lambda n: L.RNN(L.SimpleRNNCell(n)), lambda: [L.Input((3,))] * 2, r"\[3\]"),
    ],
)
def test_states_that_do_not_fit_the_cell_are_refused(make: Any, given: Any, wanted: str) -> None:
    with pytest.raises(ValueError, match=rf"not compatible with .*`cell.state_size` is {wanted}"):
        make(3)(L.Input((4, 2)), initial_state=given())


# Normalization


@pytest.mark.parametrize("axis", [1, -3, 3, -1])
def test_batch_normalization_of_images_by_either_axis(axis: int) -> None:
    values = np.random.RandomState(0).rand(2, 3, 4, 5).astype(np.float32)
    others = tuple(i for i in range(4) if i != axis % 4)
    mean, variance = values.mean(others), values.var(others)
    found = K.batch_normalization(
        *(tf.constant(x) for x in (values, mean, variance, mean, variance)), axis=axis
    )
    shape = [-1 if i == axis % 4 else 1 for i in range(4)]
    mean, variance = mean.reshape(shape), variance.reshape(shape)
    wanted = (values - mean) / np.sqrt(variance + 1e-3) * variance + mean
    np.testing.assert_allclose(K.get_value(found), wanted, rtol=1e-4)
