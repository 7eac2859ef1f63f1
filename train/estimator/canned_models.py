# SPDX-License-Identifier: Apache-2.0
"""Model functions of ready-made estimators: linear, dense layers, both, and a bias alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ops.public import tf
from ..distributed.sync_replicas_optimizer import SyncReplicasOptimizer
from ..variables.global_step import get_global_step
from .dnn_part import add_layer_summary, dnn_logit_fn_builder
from .linear_part import linear_logit_fn_builder, require_dict
from .linear_sdca import LinearSDCA, sdca_model_fn
from .optimizers import optimizer_of

if TYPE_CHECKING:
    from .heads import Head
    from .model_fn import EstimatorSpec

_LINEAR_RATE, _DNN_RATE, _BASELINE_RATE = 0.2, 0.05, 0.3
# Of the two parts of a combined model.
_WIDE_RATE, _DEEP_RATE = 0.005, 0.001
_LEAST_SLICE = 64 << 20


def partitioner_of(config: Any, **given: Any) -> Any:
    """How variables are made in parts: one for each parameter server, if there are some."""
    count = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=count, **given)


def linear_model_fn(
    features: Any,
    labels: object,
    mode: str,
    config: object,
    head: Head,
    feature_columns: Sequence[Any],
    optimizer: object,
    partitioner: Callable[..., Any] | None,
    sparse_combiner: str,
) -> EstimatorSpec:
    """A linear model of columns."""
    require_dict(features)
    partitioner = partitioner or partitioner_of(config, min_slice_size=_LEAST_SLICE)
    with tf.variable_scope("linear", values=tuple(features.values()), partitioner=partitioner):
        if isinstance(optimizer, LinearSDCA):
            return sdca_model_fn(features, labels, mode, head, feature_columns, optimizer)
        build = linear_logit_fn_builder(head.logits_dimension, feature_columns, sparse_combiner)
        logits = build(features=features)
        default = optimizer or functools.partial(
            optimizer_of, "Ftrl", _rate(_LINEAR_RATE, feature_columns)
        )
        return head.create_estimator_spec(
            features, mode, logits, labels, optimizer=optimizer_of(default, _LINEAR_RATE)
        )


def _rate(most: float, columns: Sequence[Any]) -> float:
    return min(most, 1.0 / math.sqrt(len(columns)))


def dnn_model_fn(
    features: Any,
    labels: object,
    mode: str,
    config: object,
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: object,
    activation_fn: Callable[..., Any] | None,
    dropout: float | None,
    input_layer_partitioner: Callable[..., Any] | None,
    batch_norm: bool,
) -> EstimatorSpec:
    """Dense layers over columns."""
    made = optimizer_of(optimizer, _DNN_RATE)
    require_dict(features)
    values = tuple(features.values())
    with tf.variable_scope("dnn", values=values, partitioner=partitioner_of(config)):
        build = dnn_logit_fn_builder(
            *(head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout),
            input_layer_partitioner or partitioner_of(config, min_slice_size=_LEAST_SLICE),
            batch_norm,
        )
        logits = build(features=features, mode=mode)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer=made)


def _own_optimizer(given: object, rate: float) -> Any:
    made = optimizer_of(given, rate)
    if isinstance(made, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not "
            "supported in DNNLinearCombined model. If you want to use this optimizer, please use "
            "either DNN or Linear model."
        )
    return made


def combined_model_fn(
    features: Any,
    labels: object,
    mode: str,
    config: object,
    head: Head,
    linear_feature_columns: Sequence[Any],
    linear_optimizer: object,
    dnn_feature_columns: Sequence[Any],
    dnn_optimizer: object,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[..., Any] | None,
    dnn_dropout: float | None,
    input_layer_partitioner: Callable[..., Any] | None,
    batch_norm: bool,
    linear_sparse_combiner: str,
) -> EstimatorSpec:
    """The sum of a linear model's logits and of dense layers', each trained by its optimizer."""
    require_dict(features)
    values = tuple(features.values())
    partitioner = input_layer_partitioner or partitioner_of(config, min_slice_size=_LEAST_SLICE)
    parts: list[tuple[Any, Any, str]] = []
    if dnn_feature_columns:
        optimizer = _own_optimizer(dnn_optimizer, _DEEP_RATE)
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        with tf.variable_scope("dnn", values=values, partitioner=partitioner_of(config)) as scope:
            build = dnn_logit_fn_builder(
                head.logits_dimension,
                dnn_hidden_units,
                dnn_feature_columns,
                dnn_activation_fn,
                dnn_dropout,
                partitioner,
                batch_norm,
            )
            parts.append((build(features=features, mode=mode), optimizer, scope.name))
    if linear_feature_columns:
        rate = _rate(_WIDE_RATE, linear_feature_columns)
        optimizer = _own_optimizer(linear_optimizer, rate)
        with tf.variable_scope("linear", values=values, partitioner=partitioner) as scope:
            build = linear_logit_fn_builder(
                head.logits_dimension, linear_feature_columns, linear_sparse_combiner
            )
            parts.append((build(features=features), optimizer, scope.name))
            add_layer_summary(parts[-1][0], scope.name)
    logits = parts[0][0] if len(parts) == 1 else parts[0][0] + parts[1][0]

    def train_op_fn(loss: object) -> Any:
        step = get_global_step()
        trained = [
            optimizer.minimize(
                loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name)
            )
            for _, optimizer, name in parts
        ]
        with tf.control_dependencies([tf.group(*trained)]):
            return tf.assign_add(step, 1).op

    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)


def baseline_model_fn(
    features: dict[str, Any],
    labels: object,
    mode: str,
    head: Head,
    optimizer: object,
    weight_column: object,
) -> EstimatorSpec:
    """A bias alone, which learns the labels' average."""
    weights = getattr(weight_column, "key", weight_column)
    sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != weights]
    count = head.logits_dimension
    with tf.control_dependencies([tf.assert_equal(sizes[0], size) for size in sizes[1:]]):
        with tf.variable_scope("baseline"):
            bias = tf.get_variable("bias", [count], initializer=tf.zeros_initializer())
            logits = tf.multiply(bias, tf.ones([sizes[0], count]))

    def train_op_fn(loss: object) -> Any:
        made = optimizer_of(optimizer, _BASELINE_RATE)
        return made.minimize(loss, global_step=get_global_step())

    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)
