# SPDX-License-Identifier: Apache-2.0
"""Logits of networks of dense layers over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.scope_functions import get_name_scope
from ...ops.nn.dropout import zero_fraction
from ...ops.public import tf
from ...ops.summaries.api import histogram, scalar
from ..feature_column.dense_features import DenseFeatures
from ..feature_column.input_layer import InputLayer
from ..feature_column.protocol import is_feature_column_v2
from ..layers import base_layer
from ..layers.core import Dense, Dropout
from ..layers.normalization import BatchNormalization
from .mode_keys import ModeKeys

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def add_layer_summary(value: Tensor, tag: str) -> None:
    """Summaries of a layer's outputs: how many are zero, and how they are spread."""
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)


class _DNNModel(base_layer.Layer):
    """Dense layers over columns."""

    def __init__(
        self,
        units: int,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        activation_fn: Callable[..., Any] | None,
        dropout: float | None,
        input_layer_partitioner: Callable[..., Any] | None,
        batch_norm: bool,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self._input_layer: Any
        if is_feature_column_v2(feature_columns):
            self._input_layer = DenseFeatures(feature_columns, name="input_layer")
        else:
            self._input_layer = InputLayer(
                feature_columns, name="input_layer", create_scope_now=False
            )
        self._partitioner = input_layer_partitioner
        self._hidden = [
            self._made(i, size, activation_fn, dropout, batch_norm)
            for i, size in enumerate(hidden_units)
        ]
        with tf.variable_scope("logits") as scope:
            self._logits_name = scope.name
            self._logits_layer = _dense(units, None, scope)

    def _made(
        self,
        number: int,
        size: int,
        activation_fn: Callable[..., Any] | None,
        dropout: float | None,
        batch_norm: bool,
    ) -> tuple[str, Any, Any, Any]:
        """The name of a hidden layer, its layer, and those for dropout and normalization."""
        with tf.variable_scope(f"hiddenlayer_{number}") as scope:
            dense = _dense(size, activation_fn, scope)
            drop = None if dropout is None else Dropout(rate=dropout)
            norm = None
            if batch_norm:
                named = f"batchnorm_{number}"
                norm = BatchNormalization(momentum=0.999, trainable=True, name=named, _scope=named)
                norm._use_resource_variables = True
        return scope.name, dense, drop, norm

    def call(self, inputs: object, mode: str) -> Any:  # type: ignore[override]
        """The logits."""
        training = mode == ModeKeys.TRAIN
        # Layers open the scopes that they were made in; the model's own is in nobody's name.
        with tf.name_scope(get_name_scope().rsplit("/", 1)[0] + "/"):
            with tf.variable_scope("input_from_feature_columns", partitioner=self._partitioner):
                net = self._input_layer(inputs)
            for name, dense, drop, norm in self._hidden:
                net = dense(net)
                if drop is not None and training:
                    net = drop(net, training=True)
                if norm is not None:
                    net = norm(net, training=training)
                add_layer_summary(net, name)
            logits = self._logits_layer(net)
            add_layer_summary(logits, self._logits_name)
            return logits


def _dense(units: int, activation: Callable[..., Any] | None, scope: Any) -> Dense:
    layer = Dense(
        units=units,
        activation=activation,
        kernel_initializer=tf.glorot_uniform_initializer(),
        name=scope,
        _scope=scope,
    )
    # As Keras has its layers do, of which the model is one in TensorFlow.
    layer._use_resource_variables = True
    return layer


@export("estimator.experimental.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable[..., Any] | None,
    dropout: float | None,
    input_layer_partitioner: Callable[..., Any] | None,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function from features and mode to the logits of dense layers.

    Args:
        units: the number of logits.
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        batch_norm: whether hidden layers are normalized.

    Returns:
        A function of features and mode.

    Raises:
        ValueError: units is no integer.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: dict[str, Any], mode: str) -> Any:
        model = _DNNModel(
            *(units, hidden_units, feature_columns, activation_fn, dropout),
            *(input_layer_partitioner, batch_norm),
            name="dnn",
        )
        return model(features, mode)

    return dnn_logit_fn
