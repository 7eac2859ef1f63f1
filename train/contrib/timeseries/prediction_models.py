# SPDX-License-Identifier: Apache-2.0
"""The networks of ARModels; variables are named as TensorFlow's, which Keras makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.scope_functions import get_name_scope
from ....engine.types import dtypes
from ....ops.nn.activation import relu
from ....ops.public import tf
from ....ops.state.scope_defaults import VariableScope
from ...layers.core import Dense, Flatten
from ..rnn.lstm_ops import LSTMBlockFusedCell

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variable_scope import variable_scope


def _scope(name: str) -> variable_scope:
    """The scope of variables below the current name scope, not below the scope of variables."""
    inside = "/".join(filter(None, [get_name_scope(), name]))
    scope = VariableScope(tf.AUTO_REUSE, name=inside, use_resource=True)
    return tf.variable_scope(scope, auxiliary_name_scope=False)


class FlatPredictionModel:
    """Dense layers over all of both windows.

    Args:
        num_features: how many values there are at a time.
        input_window_size, output_window_size: the sizes of the windows.
        hidden_layer_sizes: how many units layers before the last have; no such if None.
    """

    _NAME = "flat_prediction_model"

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:
        self._flatten = Flatten()
        names = ["dense", *(f"dense_{i}" for i in range(1, len(hidden_layer_sizes or ())))]
        self._hidden_layers = [
            Dense(size, activation=relu, name=f"sequential/{name}")
            for name, size in zip(names, hidden_layer_sizes or ())
        ]
        size = num_features * output_window_size
        self._mean_transform = Dense(size, name="predicted_mean")
        self._covariance_transform = Dense(size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def __call__(
        self, input_window_features: Tensor, output_window_features: Tensor
    ) -> dict[str, Any]:
        """ "mean" and "covariance" of the output window, of features [batch, window, n]."""
        if input_window_features.shape[1].value == 0:
            activation = self._flatten(output_window_features)
        elif output_window_features.shape[2].value == 0:
            activation = self._flatten(input_window_features)
        else:
            both = (input_window_features, output_window_features)
            activation = tf.concat([self._flatten(part) for part in both], axis=1)
        with _scope(self._NAME):
            for layer in self._hidden_layers:
                activation = layer(activation)
            mean = self._mean_transform(activation)
            log_variance = self._covariance_transform(activation)
        return {
            "mean": tf.reshape(mean, self._prediction_shape),
            "covariance": tf.reshape(tf.exp(log_variance), self._prediction_shape),
        }


class LSTMPredictionModel:
    """An LSTM over the input window, and one over the output window, from its last state.

    Args:
        num_features: how many values there are at a time.
        input_window_size, output_window_size: the sizes of the windows.
        num_units: the size of the LSTMs.
    """

    _NAME = "lstm_prediction_model"

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        num_units: int = 128,
    ) -> None:
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def __call__(
        self, input_window_features: Tensor, output_window_features: Tensor
    ) -> dict[str, Any]:
        """ "mean" and "covariance" of the output window, of features [batch, window, n]."""
        before = tf.transpose(input_window_features, [1, 0, 2])
        after = tf.transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(before, dtype=dtypes.float32)
        decoded, _ = self._decoder(after, dtype=dtypes.float32, initial_state=state)
        decoded = tf.transpose(decoded, [1, 0, 2])
        with _scope(self._NAME):
            mean = self._mean_transform(decoded)
            covariance = tf.exp(self._covariance_transform(decoded))
        return {"mean": mean, "covariance": covariance}
