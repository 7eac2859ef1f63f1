# SPDX-License-Identifier: Apache-2.0
"""Pruning: weights whose magnitude is below a threshold are masked, more of them step by step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....engine.types import dtypes
from ....ops.nn.atrous import pool
from ....ops.nn.dropout import zero_fraction
from ....ops.nn.top_k import top_k
from ....ops.public import tf
from ....ops.state.variable_partitions import PartitionedVariable
from ....ops.summaries.api import scalar
from ...variables.global_step import get_global_step
from ..training.hparam import HParams
from . import core_layers as core
from . import pruning_utils

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_SPACE = "contrib.model_pruning"


@export(f"{_SPACE}.apply_mask")
def apply_mask(x: TensorLike, scope: str = "") -> Any:
    """Weights times a mask, which is made in a variable scope and pruned with all others."""

    def make(name: str, **given: Any) -> Any:
        with tf.variable_scope(scope):
            return tf.get_variable(name, **given)

    return core.masked(x, make)[2]


@export(f"{_SPACE}.get_masked_weights")
def get_masked_weights() -> list[Any]:
    """The weights times their masks."""
    return tf.get_collection(core.MASKED_WEIGHT_COLLECTION)


@export(f"{_SPACE}.get_masks")
def get_masks() -> list[Any]:
    """The masks."""
    return tf.get_collection(core.MASK_COLLECTION)


@export(f"{_SPACE}.get_thresholds")
def get_thresholds() -> list[Any]:
    """The thresholds of weights."""
    return tf.get_collection(core.THRESHOLD_COLLECTION)


@export(f"{_SPACE}.get_weights")
def get_weights() -> list[Any]:
    """The weights that have masks."""
    return tf.get_collection(core.WEIGHT_COLLECTION)


@export(f"{_SPACE}.get_weight_sparsity")
def get_weight_sparsity() -> list[Any]:
    """The share of zeros in each mask, as tensors."""
    return [zero_fraction(mask) for mask in get_masks()]


@export(f"{_SPACE}.get_pruning_hparams")
def get_pruning_hparams() -> HParams:
    """What pruning does by default.

    Returns:
        An HParams with the scope's name; the steps from `begin_pruning_step` to `end_pruning_step`
        (-1: to the end) of which each `pruning_frequency`-th prunes; `weight_sparsity_map` and
        `block_dims_map` ("name:0.9" and "name:4x4", by regular expressions); `threshold_decay`;
        blocks of `block_height` and `block_width` (-1: all) pooled by `block_pooling_function`
        ("AVG" or "MAX"); and how the share of zeros goes from `initial_sparsity` to
        `target_sparsity` between two steps, with an exponent.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def _checked(spec: Any) -> Any:
    """What pruning does, if that can be."""
    begin, end = spec.begin_pruning_step, spec.end_pruning_step
    if begin < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if begin >= end and end != -1:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={begin}, end_step={end}.Set "
            "end_pruning_step to -1 if pruning is required till trainingstops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")
    return spec


def _pairs(listed: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in (item.split(":") for item in listed if item)]


def _sizes(name: str, text: str) -> list[int]:
    sizes = text.split("x")
    if len(sizes) != 2:
        raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}")
    return [int(size) for size in sizes]


def _share(text: str) -> float:
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _found(table: dict[str, Any], name: str, what: str) -> Any:
    found = [value for pattern, value in table.items() if re.search(pattern, name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {what} for weight {name}")
    return found[0] if found else None


@export(f"{_SPACE}.Pruning")
class Pruning:
    """Prunes the weights that have masks.

    Args:
        spec: an HParams; `get_pruning_hparams()` if None.
        global_step: the step; that of the graph if None.
        sparsity: the share of zeros that is wanted, a scalar; by what `spec` says if None.

    Raises:
        ValueError: something in `spec` is out of range.

    Example:
        >>> pruning = tf.contrib.model_pruning
        >>> step = tf.train.get_or_create_global_step()
        >>> weights = tf.get_variable("w", initializer=[0.1, -2.0, 3.0, 0.2])
        >>> masked = pruning.apply_mask(weights)
        >>> update = pruning.Pruning(sparsity=0.5).mask_update_op()
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     sess.run(update)
        ...     sess.run(masked)
        array([ 0., -2.,  3.,  0.], dtype=float32)
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        self._spec = _checked(spec or get_pruning_hparams())
        step = get_global_step() if global_step is None else global_step
        self._global_step = tf.cast(step, dtypes.int32)
        self._sparsity = self._wanted() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._step_variable()
        dims, shares = self._spec.block_dims_map, self._spec.weight_sparsity_map
        self._block_dims_map = {name: _sizes(name, text) for name, text in _pairs(dims)}
        self._weight_sparsity_map = {name: _share(text) for name, text in _pairs(shares)}

    def _wanted(self) -> Tensor:
        """The share of zeros of a step."""
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with tf.name_scope(spec.name):
            passed = tf.cast(self._global_step - begin, dtypes.float32)
            p = tf.minimum(1.0, tf.maximum(0.0, tf.div(passed, end - begin)))
            rest = tf.pow(1 - p, spec.sparsity_function_exponent)
            missing = tf.multiply(spec.initial_sparsity - spec.target_sparsity, rest)
            return tf.add(missing, spec.target_sparsity, name="sparsity")

    def _step_variable(self) -> Any:
        """The last step that pruned."""
        with tf.variable_scope(self._spec.name, reuse=tf.AUTO_REUSE):
            return tf.get_variable(
                "last_mask_update_step",
                [],
                initializer=tf.zeros_initializer(),
                trainable=False,
                dtype=dtypes.int32,
            )

    def _get_sparsity(self, weight_name: str) -> Any:
        target = _found(self._weight_sparsity_map, weight_name, "weight_sparsity_map")
        if target is None:
            return self._sparsity
        return tf.multiply(self._sparsity, tf.div(target, self._spec.target_sparsity))

    def _get_block_dims(self, weight_name: str) -> list[int]:
        found = _found(self._block_dims_map, weight_name, "block_dims_map")
        return list(found or (self._spec.block_height, self._spec.block_width))

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """The new threshold, and the mask of weights that are not below it."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        sparsity = self._get_sparsity(weights.op.name)
        decay = self._spec.threshold_decay
        with tf.name_scope(f"{weights.op.name}_pruning_ops"):
            size = tf.abs(weights)
            every: Any = tf.size(size)
            count: Any = tf.cast(every, dtypes.float32)
            kept: Any = tf.cast(tf.round(count * (1 - sparsity)), dtypes.int32)
            values, _ = top_k(tf.reshape(size, [-1]), k=every)
            now: Any = tf.gather(values, kept - 1)
            smoothed = tf.add_n([tf.multiply(now, 1 - decay), tf.multiply(threshold, decay)])
            return smoothed, tf.cast(tf.greater_equal(size, smoothed), dtypes.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """The same, by blocks where these are wanted and the weights are a matrix."""
        block = self._get_block_dims(weights.op.name)
        matrix = tf.squeeze(weights)
        if matrix.get_shape().ndims != 2 or block == [1, 1]:
            return self._update_mask(weights, threshold)
        sizes: list[Any] = matrix.get_shape().as_list()
        block = [size if given == -1 else given for given, size in zip(block, sizes)]
        kind = self._spec.block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        with tf.name_scope(f"{weights.op.name}_pruning_ops"):
            pooled = self._pooled(tf.abs(matrix), block, kind, f"{weights.op.name}_pooled")
            smoothed, mask = self._update_mask(pooled, threshold)
            whole = pruning_utils.expand_tensor(mask, block)
            mask = tf.slice(whole, [0, 0], sizes)
        return smoothed, tf.reshape(mask, tf.shape(weights))

    def _pooled(self, matrix: Any, block: list[int], kind: str, name: str) -> Tensor:
        given: Any = dict(window_shape=block, pooling_type=kind, strides=block, padding="SAME")
        if self._spec.use_tpu:
            return pruning_utils.factorized_pool(matrix, name=name, **given)
        picture = tf.reshape(matrix, [1, *matrix.get_shape().as_list(), 1])
        return tf.squeeze(pool(picture, name=name, **given), axis=[0, 3])

    def _get_mask_assign_ops(self) -> None:
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() called twice?")
        masks, weights, thresholds = get_masks(), get_weights(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch"
            )
        for mask, weight, threshold in zip(masks, weights, thresholds):
            is_partitioned = isinstance(weight, PartitionedVariable)
            whole = weight.as_tensor() if is_partitioned else weight
            new_threshold, new_mask = self._maybe_update_block_mask(whole, threshold)
            self._assign_ops.append(pruning_utils.variable_assign(threshold, new_threshold))
            if is_partitioned:
                self._assign_ops.append(pruning_utils.partitioned_variable_assign(mask, new_mask))
            else:
                self._assign_ops.append(pruning_utils.variable_assign(mask, new_mask))

    def mask_update_op(self) -> Operation:
        """An operation that prunes."""
        with tf.name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            assigned = tf.assign(
                self._last_update_step, self._global_step, name="last_mask_update_step_assign"
            )
            with tf.control_dependencies([assigned, *self._assign_ops]):
                log.info("Updating masks.")
                return tf.no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """An operation that prunes in the steps in which it is to be done."""
        spec = self._spec
        with tf.name_scope(spec.name):
            begun = tf.greater_equal(self._global_step, spec.begin_pruning_step)
            goes_on = tf.logical_or(
                tf.less_equal(self._global_step, spec.end_pruning_step),
                tf.less(spec.end_pruning_step, 0),
            )
            is_due = tf.less_equal(
                tf.add(self._last_update_step, spec.pruning_frequency), self._global_step
            )
            prunes = tf.logical_and(tf.logical_and(begun, goes_on), is_due)
        return tf.cond(prunes, self.mask_update_op, tf.no_op)

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the shares of zeros and of thresholds."""
        with tf.name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs what pruning does."""
        log.info(self._spec.to_json())
