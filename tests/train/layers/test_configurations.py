# SPDX-License-Identifier: Apache-2.0
"""Configurations of layers and cells: TensorFlow 1.15's, and layers that are made of them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure

LAYERS: dict[str, Callable[[], Any]] = {
    "Dense": lambda: tf.layers.Dense(3, tf.nn.relu, kernel_initializer=tf.ones_initializer()),
    "Conv1D": lambda: tf.layers.Conv1D(3, 2, padding="causal"),
    "Conv2D": lambda: tf.layers.Conv2D(3, 2, strides=(2, 1), data_format="channels_first"),
    "Conv3D": lambda: tf.layers.Conv3D(2, 2, bias_initializer="ones"),
    "Conv2DTranspose": lambda: tf.layers.Conv2DTranspose(3, 2, 2),
    "SeparableConv2D": lambda: tf.layers.SeparableConv2D(3, 2, depth_multiplier=2),
    "MaxPooling2D": lambda: tf.layers.MaxPooling2D(2, (2, 1), "same"),
    "AveragePooling1D": lambda: tf.layers.AveragePooling1D(3, 2),
    "Dropout": lambda: tf.layers.Dropout(0.3, noise_shape=[None, 1], seed=4),
    "Flatten": lambda: tf.layers.Flatten("channels_first"),
    "BatchNormalization": lambda: tf.layers.BatchNormalization(1, 0.9, scale=False),
    "BasicRNNCell": lambda: tf.nn.rnn_cell.BasicRNNCell(2, tf.nn.relu),
    "GRUCell": lambda: tf.nn.rnn_cell.GRUCell(3, bias_initializer=tf.ones_initializer()),
    "BasicLSTMCell": lambda: tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=2.0),
    "LSTMCell": lambda: tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3),
}
# By TensorFlow 1.15.5.
ZEROS = {"class_name": "Zeros", "config": {"dtype": "float32"}}
OBJECTS = dict.fromkeys(
    "kernel_regularizer bias_regularizer activity_regularizer kernel_constraint "
    "bias_constraint".split()
)
RECORDED: dict[str, dict[str, Any]] = {
    "Dense": {
        "units": 3,
        "activation": "relu",
        "use_bias": True,
        "bias_initializer": ZEROS,
        "kernel_initializer": {"class_name": "Ones", "config": {"dtype": "float32"}},
        **OBJECTS,
    },
    "Conv2D": {
        "filters": 3,
        "kernel_size": (2, 2),
        "strides": (2, 1),
        "padding": "valid",
        "data_format": "channels_first",
        "dilation_rate": (1, 1),
        "activation": "linear",
        "use_bias": True,
        "kernel_initializer": None,
        "bias_initializer": ZEROS,
        **OBJECTS,
    },
    "MaxPooling2D": {
        "pool_size": (2, 2),
        "strides": (2, 1),
        "padding": "same",
        "data_format": "channels_last",
    },
    "Dropout": {"rate": 0.3, "noise_shape": [None, 1], "seed": 4},
    "LSTMCell": {
        "num_units": 4,
        "use_peepholes": True,
        "cell_clip": None,
        "initializer": None,
        "num_proj": 3,
        "proj_clip": None,
        "num_unit_shards": None,
        "num_proj_shards": None,
        "forget_bias": 1.0,
        "state_is_tuple": True,
        "activation": "tanh",
        "reuse": None,
    },
}


@pytest.mark.parametrize("name", RECORDED)
def test_configurations_are_tensorflows(name: str) -> None:
    config = LAYERS[name]().get_config()
    given = {key: config.pop(key) for key in ("name", "trainable", "dtype")}
    assert given["trainable"] and given["dtype"] is None
    assert config == RECORDED[name]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_made_of_configurations(name: str) -> None:
    layer = LAYERS[name]()
    again = type(layer).from_config(layer.get_config())
    assert type(again) is type(layer)
    assert again.get_config() == layer.get_config()


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "dropped": lambda cell: tf.nn.rnn_cell.DropoutWrapper(cell, 0.5, seed=3),
    "chosen": lambda cell: tf.nn.rnn_cell.DropoutWrapper(
        cell, dropout_state_filter_visitor=lambda state: False
    ),
    "summed": lambda cell: tf.nn.rnn_cell.ResidualWrapper(cell),
    "doubled": lambda cell: tf.nn.rnn_cell.ResidualWrapper(cell, lambda i, o: i + 2 * o),
    "placed": lambda cell: tf.nn.rnn_cell.DeviceWrapper(cell, "/cpu:0"),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_are_made_of_configurations_with_a_cell(name: str) -> None:
    wrapper = WRAPPERS[name](tf.nn.rnn_cell.GRUCell(3))
    config = wrapper.get_config()
    assert config["cell"]["class_name"] == "GRUCell" and config["cell"]["config"]["num_units"] == 3
    with pytest.raises(ValueError, match="cannot reconstruct the wrapped cell"):
        type(wrapper).from_config(config)
    cell = tf.nn.rnn_cell.GRUCell.from_config(config["cell"]["config"])
    again = type(wrapper).from_config({**config, "cell": cell})
    assert again.get_config() == config


def test_functions_of_wrappers_are_functions_again() -> None:
    wrapper = WRAPPERS["doubled"](tf.nn.rnn_cell.GRUCell(3))
    config = {**wrapper.get_config(), "cell": tf.nn.rnn_cell.GRUCell(3)}
    assert type(wrapper).from_config(config)._residual_fn(1, 2) == 5
