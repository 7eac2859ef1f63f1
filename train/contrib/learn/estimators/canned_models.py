# SPDX-License-Identifier: Apache-2.0
"""Model functions of ready-made estimators: linear, dense layers, and both."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....ops.nn.activation import relu
from .....ops.nn.dropout import zero_fraction
from .....ops.public import tf
from .....ops.summaries.api import histogram, scalar
from ....distributed.sync_replicas_optimizer import SyncReplicasOptimizer
from ....feature_column.input_layer import input_layer
from ....feature_column.linear_model import linear_model
from ....optimizers.proximal import FtrlOptimizer
from ....variables.global_step import get_global_step
from ...layers.columns.protocol import _FeatureColumn
from ...layers.dense import fully_connected
from ...layers.feature_column_ops import (
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from ...layers.optimizers import OPTIMIZER_CLS_NAMES, optimize_loss
from ...layers.shaping import dropout as drop
from .model_fn import ModeKeys

if TYPE_CHECKING:
    from ...layers.annotations import Scope

_LEAST_SLICE = 64 << 20
_LINEAR_RATE, _DNN_RATE = 0.2, 0.05
_ACTIVATIONS: dict[str, Any] = {"relu": relu, "tanh": tf.tanh, "sigmoid": tf.sigmoid}


def _by_key(features: object) -> dict[str, Any]:
    return features if isinstance(features, dict) else {"": features}


def _made(optimizer: object) -> Any:
    return optimizer() if callable(optimizer) else optimizer


def _activation(given: object) -> Any:
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise ValueError(
            f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {given}."
        )
    return _ACTIVATIONS[given]


def _are_old(columns: Sequence[Any]) -> bool:
    """Whether columns are those of tf.contrib.layers, not of tf.feature_column."""
    return all(isinstance(column, _FeatureColumn) for column in columns)


def _partitioner(config: Any, **given: Any) -> Any:
    count = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=count, **given)


def _summaries(value: Any, tag: str, separator: str) -> None:
    scalar(f"{tag}{separator}fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}{separator}activation", value)


def _linear_logits(
    features: dict[str, Any], columns: Sequence[Any], head: Any, joint: bool, scope: Scope
) -> Any:
    if not _are_old(columns):
        return linear_model(
            features=features,
            feature_columns=columns,
            units=head.logits_dimension,
            weight_collections=["linear"],
        )
    function: Any = weighted_sum_from_feature_columns
    if joint:
        function = joint_weighted_sum_from_feature_columns
    logits, _, _ = function(
        columns_to_tensors=features,
        feature_columns=columns,
        num_outputs=head.logits_dimension,
        weight_collections=["linear"],
        scope=scope,
    )
    return logits


def linear_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """A linear model of columns."""
    head, columns = params["head"], params["feature_columns"]
    clip = params.get("gradient_clip_norm")
    optimizer = params.get("optimizer") or FtrlOptimizer(
        learning_rate=min(_LINEAR_RATE, 1.0 / math.sqrt(len(columns)))
    )
    features = _by_key(features)
    partitioner = _partitioner(config, min_slice_size=_LEAST_SLICE)
    with tf.variable_scope(
        "linear", values=tuple(features.values()), partitioner=partitioner
    ) as scope:
        joint = params.get("joint_weights", False)
        logits = _linear_logits(features, columns, head, joint, scope)

        def train_op_fn(loss: Any) -> Any:
            variables = tf.get_collection("linear")
            gradients = tf.gradients(loss, variables)
            if clip:
                gradients, _ = tf.clip_by_global_norm(gradients, clip)
            used = optimizer
            if isinstance(used, str):
                used = OPTIMIZER_CLS_NAMES[used](learning_rate=_LINEAR_RATE)
            pairs = zip(gradients, variables)
            return _made(used).apply_gradients(pairs, global_step=get_global_step())

        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )


def _dense(
    features: dict[str, Any],
    columns: Sequence[Any],
    mode: str,
    head: Any,
    units: Sequence[int],
    activation: Callable[..., Any] | None,
    dropout: float | None,
    partitioner: Any,
    separator: str,
) -> tuple[Any, str]:
    """The logits of dense layers over columns, and the name of the scope of their input."""
    values = tuple(features.values())
    with tf.variable_scope(
        "input_from_feature_columns", values=values, partitioner=partitioner
    ) as inputs:
        if _are_old(columns):
            net = input_from_feature_columns(features, columns, ["dnn"], scope=inputs)
        else:
            net = input_layer(features, columns, weight_collections=["dnn"])
    for i, size in enumerate(units):
        with tf.variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
            net = fully_connected(
                net,
                size,
                activation_fn=activation,
                variables_collections=["dnn"],
                scope=scope,
            )
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = drop(net, keep_prob=1.0 - dropout)
        _summaries(net, scope.name, separator)
    with tf.variable_scope("logits", values=(net,)) as scope:
        logits = fully_connected(
            net,
            head.logits_dimension,
            activation_fn=None,
            variables_collections=["dnn"],
            scope=scope,
        )
    _summaries(logits, scope.name, separator)
    return logits, inputs.name


def _multipliers(rates: dict[Any, float] | None, scope: str) -> dict[Any, float] | None:
    """What gradients of embeddings' variables are multiplied by."""
    found = {}
    for column, rate in (rates or {}).items():
        if type(column).__name__ != "_EmbeddingColumn":
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. It is defined "
                f"for {column}"
            )
        variables = tf.get_collection("dnn", f"{scope}/{column.name}")
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update(dict.fromkeys(variables, rate))
    return found or None


def dnn_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """Dense layers over columns."""
    head = params["head"]
    features = _by_key(features)
    slice_size = params.get("input_layer_min_slice_size") or _LEAST_SLICE
    with tf.variable_scope(
        "dnn", values=tuple(features.values()), partitioner=_partitioner(config)
    ):
        logits, inputs = _dense(
            *(features, params["feature_columns"], mode, head, params["hidden_units"]),
            activation=_activation(params.get("activation_fn")),
            dropout=params.get("dropout"),
            partitioner=_partitioner(config, min_slice_size=slice_size),
            separator="_",
        )

        def train_op_fn(loss: Any) -> Any:
            return optimize_loss(
                loss=loss,
                global_step=get_global_step(),
                learning_rate=_DNN_RATE,
                optimizer=_made(params.get("optimizer") or "Adagrad"),
                gradient_multipliers=_multipliers(params.get("embedding_lr_multipliers"), inputs),
                clip_gradients=params.get("gradient_clip_norm"),
                name="dnn",
                summaries=[],
            )

        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )


def _own(optimizer: object) -> Any:
    made = _made(optimizer)
    if isinstance(made, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use "
            "this optimizer, please use either DNN or Linear model."
        )
    return made


def combined_model_fn(
    features: object, labels: object, mode: str, params: dict[str, Any], config: object = None
) -> Any:
    """The sum of a linear model's logits and of dense layers', each trained by its optimizer."""
    head, wide = params["head"], params.get("linear_feature_columns")
    deep = params.get("dnn_feature_columns")
    if not wide and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    features = _by_key(features)
    values = tuple(features.values())
    partitioner = params.get("input_layer_partitioner") or _partitioner(
        config, min_slice_size=_LEAST_SLICE
    )
    optimizers = {
        "dnn": _own(params.get("dnn_optimizer") or "Adagrad"),
        "linear": _own(params.get("linear_optimizer") or "Ftrl"),
    }
    # By the scope of each part: its logits, learning rate and the scope of its input.
    parts: dict[str, tuple[Any, float, str]] = {}
    if deep:
        units = params.get("dnn_hidden_units")
        if not units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        with tf.variable_scope("dnn", values=values, partitioner=_partitioner(config)):
            logits, inputs = _dense(
                *(features, deep, mode, head, units),
                activation=params.get("dnn_activation_fn") or relu,
                dropout=params.get("dnn_dropout"),
                partitioner=partitioner,
                separator="/",
            )
        parts["dnn"] = logits, _DNN_RATE, inputs
    if wide:
        sliced = _partitioner(config, min_slice_size=_LEAST_SLICE)
        with tf.variable_scope("linear", values=values, partitioner=sliced) as scope:
            joint = params.get("joint_linear_weights", False)
            logits = _linear_logits(features, wide, head, joint, scope)
            _summaries(logits, scope.name, "/")
        parts["linear"] = logits, min(_LINEAR_RATE, 1.0 / math.sqrt(len(wide))), ""
    return head.create_model_fn_ops(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=lambda loss: _trained(loss, parts, optimizers, params),
        logits=functools.reduce(operator.add, (logits for logits, _, _ in parts.values())),
    )


def _trained(
    loss: Any,
    parts: dict[str, tuple[Any, float, str]],
    optimizers: dict[str, Any],
    params: dict[str, Any],
) -> Any:
    """A step of all parts; each counts it, or one for all, which is right."""
    step = get_global_step()
    once = params.get("fix_global_step_increment_bug", True)
    rates = params.get("embedding_lr_multipliers")
    steps = [
        optimize_loss(
            loss=loss,
            global_step=step,
            learning_rate=rate,
            optimizer=optimizers[name],
            gradient_multipliers=_multipliers(rates, inputs) if inputs else None,
            clip_gradients=params.get("gradient_clip_norm"),
            variables=tf.get_collection(name),
            name=name,
            summaries=[],
            increment_global_step=not once,
        )
        for name, (_, rate, inputs) in parts.items()
    ]
    train_op = tf.group(*steps)
    if not once:
        return train_op
    with tf.control_dependencies([train_op]), tf.colocate_with(step):
        return tf.assign_add(step, 1).op
