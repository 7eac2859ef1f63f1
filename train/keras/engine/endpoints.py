# SPDX-License-Identifier: Apache-2.0
"""What a model's training has for each output: a target, a loss, weights and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....engine.interface import log
from ....ops.public import tf
from ...layers.connected import mask_of
from ...layers.nodes import int_shape
from ..backend.elements import is_placeholder, is_sparse, placeholder
from ..backend.settings import floatx, image_data_format
from ..losses import functions, objects
from ..losses.ranks import matched
from ..metrics import table
from ..metrics.base import Mean, MeanMetricWrapper, Metric
from .data import check_keys


class Endpoint:
    """One output of a compiled model.

    Args:
        output: the tensor.
        name: the output's name.
        loss: a loss object; None if nothing is trained there.
        target: a tensor to be the target; a placeholder is made if None.
    """

    def __init__(self, output: Any, name: str, loss: Any, target: Any = None) -> None:
        self.output, self.name, self.loss = output, name, loss
        self.loss_weight: Any = 1.0
        self.sample_weight: Any = None
        self.given_weight: Any = None
        self.sample_weight_mode: str | None = None
        self.metrics: dict[str, Metric] = {}
        self.weighted_metrics: dict[str, Metric] = {}
        self.loss_metric: Metric | None = None
        self.is_fed = loss is not None and (target is None or is_placeholder(target))
        self.target = target
        if loss is not None and target is None:
            self.target = placeholder(
                ndim=output.shape.ndims,
                name=f"{name}_target",
                sparse=is_sparse(output),
                dtype=output.dtype.base_dtype,
            )

    @property
    def loss_name(self) -> str:
        """The name of the output's loss among the metrics."""
        return f"{self.name}_loss"

    @property
    def target_shape(self) -> Any:
        """The shape that targets must have, as far as the loss says."""
        shape = int_shape(self.output)
        if shape is None:
            return None
        if objects.is_by(self.loss, "sparse_categorical_crossentropy"):
            if image_data_format() == "channels_first":
                return (shape[0], 1, *shape[2:])
            return (*shape[:-1], 1)
        known = getattr(self.loss, "fn", None) in functions.FUNCTIONS.values()
        return shape if known else None

    def as_fed(self, target: Any) -> Any:
        """Targets as the placeholder has them: classes need not have an axis of their own."""
        is_sparse_loss = objects.is_by(self.loss, "sparse_categorical_crossentropy")
        if is_sparse_loss and isinstance(target, np.ndarray) and self.target.shape.ndims:
            if target.ndim == self.target.shape.ndims - 1:
                return target[..., np.newaxis]
        return target

    def needs_other_weights(self) -> bool:
        """Whether there should be weights of samples and are none, or the other way."""
        return (self.sample_weight_mode is None) != (self.sample_weight is None)

    def make_weights(self) -> None:
        """Makes a placeholder of weights, 1 by default, if there are to be any.

        A tensor of weights that was given is taken instead.
        """
        self.sample_weight = self.given_weight
        if not self.is_fed or self.sample_weight_mode is None:
            return
        is_temporal = self.sample_weight_mode == "temporal"
        self.sample_weight = tf.placeholder_with_default(
            tf.constant([[1.0]] if is_temporal else [1.0], dtype=floatx()),
            shape=[None, None] if is_temporal else [None],
            name=f"{self.name}_sample_weights",
        )

    def loss_tensor(self) -> Any:
        """The loss of the output, by weights and the output's mask."""
        weights = masked(self.sample_weight, mask_of(self.output), self.output)
        if not hasattr(self.loss, "reduction"):
            return self.loss(self.target, self.output, sample_weight=weights)
        parts = self.loss.call(self.target, self.output)
        parts = objects.compute_weighted_loss(parts, weights, objects.Reduction.NONE)
        reduction = self.loss.reduction
        if reduction == objects.Reduction.AUTO:
            reduction = objects.Reduction.SUM_OVER_BATCH_SIZE
        return objects.reduce_weighted_loss(parts, reduction)

    def metric_tensors(self, is_weighted: bool) -> None:
        """Makes the results of metrics, which models fetch."""
        found = self.weighted_metrics if is_weighted else self.metrics
        for name, metric in found.items():
            with tf.name_scope(name):
                given = self.sample_weight if is_weighted else None
                weights = masked(given, mask_of(self.output), self.output)
                metric(self.target, self.output, sample_weight=weights)


def masked(weights: Any, mask: Any, output: Any) -> Any:
    """Weights times an output's mask; one of them where there is only one."""
    if mask is None:
        return weights
    mask = tf.cast(mask, output.dtype)
    if weights is None:
        return mask
    _, _, weights = matched(mask, None, weights)
    return weights * mask


def loss_objects(loss: Any, names: Sequence[str]) -> list[Any]:
    """A loss object for each output.

    Raises:
        ValueError: a dict has a key that is no output, or a list has another length.
    """
    if isinstance(loss, Mapping):
        check_keys("loss", loss, names)
        for name in names:
            if name not in loss:
                log.warning(
                    f"Output {name} missing from loss dictionary. We assume this was done on "
                    "purpose. The fit and evaluate APIs will not be expecting any data to be "
                    f"passed to {name}."
                )
        return [objects.loss_object(loss.get(name)) for name in names]
    if isinstance(loss, (list, tuple)):
        if len(loss) != len(names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The "
                f"model has {len(names)} outputs, but you passed loss={loss}"
            )
        return [objects.loss_object(x) for x in loss]
    return [objects.loss_object(loss) for _ in names]


def set_loss_weights(endpoints: Sequence[Endpoint], weights: Any) -> None:
    """Notes how much each output's loss counts.

    Raises:
        ValueError: a dict has a key that is no output, or a list has another length.
        TypeError: it is neither a list nor a dict.
    """
    if weights is None:
        return
    if isinstance(weights, Mapping):
        check_keys("loss_weights", weights, [e.name for e in endpoints])
        for e in endpoints:
            e.loss_weight = weights.get(e.name, 1.0)
        return
    if not isinstance(weights, (list, tuple)):
        raise TypeError(
            f"Could not interpret loss_weights argument: {weights} - expected a list of dicts."
        )
    if len(weights) != len(endpoints):
        raise ValueError(
            "When passing a list as loss_weights, it should have one entry per model output. The "
            f"model has {len(endpoints)} outputs, but you passed loss_weights={weights}"
        )
    for e, weight in zip(endpoints, weights):
        e.loss_weight = weight


def set_weight_modes(endpoints: Sequence[Endpoint], mode: Any) -> None:
    """Notes whether weights are of samples or of time steps; ValueError for other outputs."""
    names = [e.name for e in endpoints]
    if isinstance(mode, Mapping):
        check_keys("sample_weight_mode", mode, names)
        modes = [mode.get(name) for name in names]
    elif isinstance(mode, (list, tuple)):
        if len(mode) != len(names):
            raise ValueError(
                "When passing a list as sample_weight_mode, it should have one entry per model "
                f"output. The model has {len(names)} outputs, but you passed "
                f"sample_weight_mode={mode}"
            )
        modes = list(mode)
    else:
        modes = [mode] * len(names)
    for e, one in zip(endpoints, modes):
        if e.is_fed:
            e.sample_weight_mode = one


# Metrics


def metrics_of(
    metrics: Any, endpoints: Sequence[Endpoint], is_weighted: bool = False
) -> list[dict[str, Metric]]:
    """The metrics of each output by their names.

    Raises:
        ValueError: a dict has a key that is no output, or a list of lists has another length.
        TypeError: it is neither a list nor a dict.
    """
    if not metrics:
        return [{} for _ in endpoints]
    found = []
    for e, own in zip(endpoints, _nested(metrics, [e.name for e in endpoints])):
        made = {}
        for metric in own:
            name = metric_name(metric, is_weighted)
            function = _metric(metric, e)
            if not isinstance(function, Metric):
                function = MeanMetricWrapper(function, name=name)
            made[name] = function
        found.append(made)
    return found


def _nested(metrics: Any, names: Sequence[str]) -> list[list[Any]]:
    if isinstance(metrics, Mapping):
        check_keys("metrics", metrics, names)
        own = [metrics.get(name, []) for name in names]
        return [list(m) if isinstance(m, (list, tuple)) else [m] for m in own]
    if not isinstance(metrics, (list, tuple)):
        raise TypeError(
            "Type of `metrics` argument not understood. Expected a list or dictionary, found: "
            f"{metrics}"
        )
    if any(isinstance(m, (list, tuple)) for m in metrics):
        if len(metrics) != len(names):
            raise ValueError(
                "When passing a list of lists as `metrics`, it should have one entry per model "
                f"output. The model has {len(names)} outputs, but you passed metrics={metrics}"
            )
        return [list(m) if isinstance(m, (list, tuple)) else [m] for m in metrics]
    if len(names) == 1:
        return [list(metrics)]
    return [[table.clone_metric(m) for m in metrics] for _ in names]


_SHORT = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}


def metric_name(metric: Any, is_weighted: bool = False) -> str:
    """The name of a metric in reports."""
    prefix = "weighted_" if is_weighted else ""
    if isinstance(metric, str) and metric in _SHORT:
        return prefix + _SHORT[metric]
    found = table.get(metric)
    return f"{prefix}{found.name if hasattr(found, 'name') else found.__name__}"


def _metric(metric: Any, endpoint: Endpoint) -> Any:
    """A metric; accuracy and cross entropy are those of the loss."""
    if not isinstance(metric, str) or metric not in _SHORT:
        return table.get(metric)
    form = "accuracy" if _SHORT[metric] == "acc" else "crossentropy"
    shape = int_shape(endpoint.output)
    if (shape and shape[-1] == 1) or objects.is_by(endpoint.loss, "binary_crossentropy"):
        return table.get(f"binary_{form}")
    if objects.is_by(endpoint.loss, "sparse_categorical_crossentropy"):
        return table.get(f"sparse_categorical_{form}")
    return table.get(f"categorical_{form}")


def loss_metric(endpoint: Endpoint) -> Metric:
    """The mean of an output's loss."""
    return Mean(name=endpoint.loss_name)
