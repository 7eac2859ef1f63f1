# SPDX-License-Identifier: Apache-2.0
"""Parts that models are made of: logits of a linear model or of dense layers, trained apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....ops.nn.activation import relu
from .....ops.nn.dropout import zero_fraction
from .....ops.public import tf
from .....ops.summaries.api import histogram, scalar
from ....checkpoints.checkpoint_utils import list_variables, load_variable
from ...layers.dense import fully_connected
from ...layers.feature_column_ops import (
    check_feature_columns,
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from ...layers.optimizers import OPTIMIZER_CLS_NAMES
from ...layers.shaping import dropout as drop
from ...structures import Structure

if TYPE_CHECKING:
    from ...layers.annotations import Scope

_LEAST_SLICE = 64 << 20
_LINEAR_RATE, _DNN_RATE = 0.2, 0.05


class _ComposableModel:
    """A part of a model, whose variables are in a collection named as its scope.

    Args:
        num_label_columns: how many logits there are.
        optimizer: an optimizer, its name, a function that makes one, or None for the usual one.
        gradient_clip_norm: the greatest norm of all gradients.
        num_ps_replicas: into how many parts variables may be cut.
        scope: the name of the scope.
        trainable: whether variables are trained.
    """

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any,
        gradient_clip_norm: float | None,
        num_ps_replicas: int,
        scope: str,
        trainable: bool = True,
    ) -> None:
        self._num_label_columns = num_label_columns
        self._optimizer = optimizer
        self._gradient_clip_norm = gradient_clip_norm
        self._num_ps_replicas = num_ps_replicas
        self._scope = scope
        self._trainable = trainable
        self._feature_columns: Any = None

    def get_scope_name(self) -> str:
        """The name of the scope of its variables."""
        return self._scope

    def build_model(
        self, features: Structure, feature_columns: Iterable[Any], is_training: bool
    ) -> Any:
        """The logits of features; a subclass states them."""
        raise NotImplementedError(f"{type(self).__name__} has no logits")

    def get_train_step(self, loss: Structure) -> list[Any]:
        """The operations of a step that lowers a loss; none without variables."""
        variables = self._get_vars()
        if not (self._get_feature_columns() or variables):
            return []
        gradients = tf.gradients(loss, variables)
        if self._gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._gradient_clip_norm)
        return [self._get_optimizer().apply_gradients(zip(gradients, variables))]

    def _get_feature_columns(self) -> Any:
        if not self._feature_columns:
            return None
        check_feature_columns(self._feature_columns)
        return sorted(set(self._feature_columns), key=lambda column: column.key)

    def _get_vars(self) -> list[Any]:
        return tf.get_collection(self._scope) if self._get_feature_columns() else []

    def _get_optimizer(self) -> Any:
        given = self._optimizer
        if given is None or isinstance(given, str):
            return self._get_default_optimizer(given)
        return given() if callable(given) else given

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no optimizer of its own")

    def _partitioner(self, **least: int) -> Any:
        return tf.min_max_variable_partitioner(max_partitions=self._num_ps_replicas, **least)


class LinearComposableModel(_ComposableModel):
    """A weighted sum of columns; arguments as of `_ComposableModel`.

    Args:
        _joint_weights: whether the weights of all columns are one variable.
    """

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any = None,
        _joint_weights: bool = False,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(
            num_label_columns=num_label_columns,
            optimizer=optimizer,
            gradient_clip_norm=gradient_clip_norm,
            num_ps_replicas=num_ps_replicas,
            scope=scope or "linear",
            trainable=trainable,
        )
        self._joint_weights = _joint_weights

    def get_weights(self, model_dir: str) -> Any:
        """The weights in a checkpoint: an array, or arrays by the variables' names."""
        slots = re.compile(f".*/{self._get_optimizer().get_name()}(_\\d)?$")
        inside, bias = f"{self._scope}/", f"{self._scope}/bias_weight"
        names = [name for name, _ in list_variables(model_dir) if name.startswith(inside)]
        values = {
            name: load_variable(model_dir, name)
            for name in names
            if name != bias and not slots.match(name)
        }
        return next(iter(values.values())) if len(values) == 1 else values

    def get_bias(self, model_dir: str) -> Any:
        """The bias in a checkpoint."""
        return load_variable(model_dir, name=f"{self._scope}/bias_weight")

    def build_model(
        self, features: Structure, feature_columns: Iterable[Any], is_training: bool
    ) -> Any:
        """The logits [batch, num_label_columns] of features."""
        self._feature_columns = feature_columns
        function: Any = weighted_sum_from_feature_columns
        if self._joint_weights:
            function = joint_weighted_sum_from_feature_columns
        with tf.variable_scope(
            self._scope,
            values=features.values(),
            partitioner=self._partitioner(min_slice_size=_LEAST_SLICE),
        ) as scope:
            logits, _, _ = function(
                columns_to_tensors=features,
                feature_columns=self._get_feature_columns(),
                num_outputs=self._num_label_columns,
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        return logits

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        rate = min(_LINEAR_RATE, 1.0 / math.sqrt(len(self._get_feature_columns())))
        return OPTIMIZER_CLS_NAMES[optimizer_name or "Ftrl"](learning_rate=rate)


class DNNComposableModel(_ComposableModel):
    """Dense layers over columns; arguments as of `_ComposableModel`.

    Args:
        hidden_units: how many units each layer has.
        activation_fn: what layers apply.
        dropout: which part of units is dropped in training.
    """

    def __init__(
        self,
        num_label_columns: int,
        hidden_units: Sequence[int],
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(
            num_label_columns=num_label_columns,
            optimizer=optimizer,
            gradient_clip_norm=gradient_clip_norm,
            num_ps_replicas=num_ps_replicas,
            scope=scope or "dnn",
            trainable=trainable,
        )
        self._hidden_units = hidden_units
        self._activation_fn = activation_fn
        self._dropout = dropout

    def get_weights(self, model_dir: str) -> list[Any]:
        """The weights of layers in a checkpoint, those of the logits last."""
        return self._of_layers(model_dir, "weights")

    def get_bias(self, model_dir: str) -> list[Any]:
        """The biases of layers in a checkpoint, those of the logits last."""
        return self._of_layers(model_dir, "biases")

    def _of_layers(self, model_dir: str, what: str) -> list[Any]:
        layers = [*(f"hiddenlayer_{i}" for i in range(len(self._hidden_units))), "logits"]
        return [load_variable(model_dir, f"{self._scope}/{layer}/{what}") for layer in layers]

    def _add_hidden_layer_summary(self, value: Structure, tag: str) -> None:
        scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
        histogram(f"{tag}/activation", value)

    def build_model(
        self, features: Structure, feature_columns: Iterable[Any], is_training: bool
    ) -> Any:
        """The logits [batch, num_label_columns] of features."""
        self._feature_columns = feature_columns
        with tf.variable_scope(
            f"{self._scope}/input_from_feature_columns",
            values=features.values(),
            partitioner=self._partitioner(min_slice_size=_LEAST_SLICE),
        ) as scope:
            net = input_from_feature_columns(
                features,
                self._get_feature_columns(),
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        partitioner = self._partitioner()
        for i, units in enumerate(self._hidden_units):
            name = f"{self._scope}/hiddenlayer_{i}"
            with tf.variable_scope(name, values=[net], partitioner=partitioner) as scope:
                net = self._layer(net, units, self._activation_fn, scope)
                if self._dropout is not None and is_training:
                    net = drop(net, keep_prob=1.0 - self._dropout)
            self._add_hidden_layer_summary(net, scope.name)
        name = f"{self._scope}/logits"
        with tf.variable_scope(name, values=[net], partitioner=partitioner) as scope:
            logits = self._layer(net, self._num_label_columns, None, scope)
        self._add_hidden_layer_summary(logits, "logits")
        return logits

    def _layer(self, net: Structure, units: int, activation: Any, scope: Scope) -> Any:
        return fully_connected(
            net,
            units,
            activation_fn=activation,
            variables_collections=[self._scope],
            trainable=self._trainable,
            scope=scope,
        )

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        return OPTIMIZER_CLS_NAMES[optimizer_name or "Adagrad"](learning_rate=_DNN_RATE)
