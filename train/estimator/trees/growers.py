# SPDX-License-Identifier: Apache-2.0
"""How trees grow: of one batch that is everything, or of sums over several batches."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.types import dtypes
from ....ops.public import raw, tf
from ....ops.queues.accumulators import ConditionalAccumulator
from .resources import PruningMode, QuantileAccumulator, TreeEnsemble

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation


class TreeHParams(NamedTuple):
    """What users say of trees."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """How many inner nodes a tree may have."""
        return (1 << self.max_depth) - 1


def cond(
    predicate: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], name: str | None = None
) -> Any:
    """tf.cond of a variable, which is read before anything changes it."""
    is_true = tf.logical_and(predicate, tf.constant(True))
    return tf.cond(is_true, if_true, if_false, name=name or "cond")


class Grower(abc.ABC):
    """Grows an ensemble.

    Args:
        ensemble: the trees.
        quantiles: streams of floats; None where there are none.
        hparams: what users say of trees.
        feature_ids: of each group of features that have as many buckets.

    Raises:
        ValueError: there is no such pruning, or it does not fit the complexity.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        hparams: TreeHParams,
        feature_ids: Sequence[list[int]],
    ) -> None:
        self._ensemble, self._hparams, self._feature_ids = ensemble, hparams, feature_ids
        self._streams: Any = quantiles
        self._pruning = PruningMode.from_str(hparams.pruning_mode)
        if (hparams.tree_complexity > 0) and self._pruning == PruningMode.NO_PRUNING:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if hparams.tree_complexity <= 0 and self._pruning != PruningMode.NO_PRUNING:
            raise ValueError("For pruning, tree_complexity must be positive.")

    @abc.abstractmethod
    def accumulate_quantiles(self, floats: list[Any], weights: Any, are_ready: Any) -> Any:
        """An operation that adds floats to the streams; sets the variable when it is done."""

    @abc.abstractmethod
    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        """An operation that moves the bias; clears the variable when it is centered."""

    @abc.abstractmethod
    def grow_tree(self, summaries: list[list[Any]], nodes: Any) -> Any:
        """An operation that grows a layer from the sums of groups of features."""

    def chief_init_op(self) -> Operation:
        """An operation that a chief runs before the first step."""
        return tf.no_op()

    def _centered(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        goes_on = raw.BoostedTreesCenterBias(
            *(self._ensemble.resource_handle, gradients, hessians),
            l1=self._hparams.l1,
            l2=self._hparams.l2,
        )
        return needed.assign(goes_on)

    def _grown(self, summaries: list[list[Any]], nodes: Any) -> Operation:
        hparams, columns, ids = self._hparams, [[] for _ in range(5)], []  # type: ignore[var-annotated]
        for feature_ids, group in zip(self._feature_ids, summaries, strict=True):
            found = raw.BoostedTreesCalculateBestGainsPerFeature(
                *(nodes, group, hparams.l1, hparams.l2),
                *(hparams.tree_complexity, hparams.min_node_weight),
                max_splits=hparams.max_splits,
            )
            ids += feature_ids
            for column, part in zip(columns, found):
                column += part
        node_ids, gains, thresholds, left, right = columns
        return raw.BoostedTreesUpdateEnsemble(
            self._ensemble.resource_handle,
            ids,
            node_ids,
            gains,
            thresholds,
            left,
            right,
            max_depth=hparams.max_depth,
            learning_rate=hparams.learning_rate,
            pruning_mode=self._pruning,
        )


class InMemoryGrower(Grower):
    """Grows a layer of every batch, which has all examples."""

    def accumulate_quantiles(self, floats: list[Any], weights: Any, are_ready: Any) -> Any:
        with tf.control_dependencies([self._streams.add_summaries(floats, weights)]):
            with tf.control_dependencies([self._streams.flush()]):
                return are_ready.assign(True).op

    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        means = (tf.expand_dims(tf.reduce_mean(x, 0), 0) for x in (gradients, hessians))
        return self._centered(needed, *means)

    def grow_tree(self, summaries: list[list[Any]], nodes: Any) -> Operation:
        return self._grown(summaries, nodes)


def _accumulator(shape: list[int], name: str) -> ConditionalAccumulator:
    return ConditionalAccumulator(dtypes.float32, shape, shared_name=name)


class AccumulatorGrower(Grower):
    """Grows a layer of the means of the sums of several batches.

    Args:
        ensemble, quantiles, hparams, feature_ids: as of Grower.
        stamp: the ensemble's; what was found for another is dropped.
        n_batches_per_layer: of how many batches a layer is.
        bucket_sizes: how many buckets each group of features has.
        is_chief: whether this process changes the ensemble.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        hparams: TreeHParams,
        feature_ids: Sequence[list[int]],
        stamp: Any,
        n_batches_per_layer: Any,
        bucket_sizes: Sequence[int],
        is_chief: bool,
    ) -> None:
        super().__init__(ensemble, quantiles, hparams, feature_ids)
        self._stamp, self._batches, self._is_chief = stamp, n_batches_per_layer, is_chief
        self._growing, self._chief_ops = [], []
        for i, (ids, size) in enumerate(zip(feature_ids, bucket_sizes)):
            shape = [len(ids), hparams.max_splits, size, 2]
            accumulator = _accumulator(shape, f"numeric_stats_summary_accumulator_{i}")
            self._chief_ops.append(accumulator.set_global_step(stamp))
            self._growing.append(accumulator)
        if hparams.center_bias:
            self._bias = _accumulator([2, 1], "bias_accumulator")
            self._chief_ops.append(self._bias.set_global_step(stamp))

    def chief_init_op(self) -> Operation:
        return tf.group(self._chief_ops)

    def _when_enough(self, count: Any, then: Callable[[], Any], name: str) -> Any:
        return cond(tf.greater_equal(count, self._batches), then, tf.no_op, name=name)

    def accumulate_quantiles(self, floats: list[Any], weights: Any, are_ready: Any) -> Any:
        added = self._streams.add_summaries(floats, weights)
        counted = _accumulator([], "quantile_summary_accum")
        step = counted.set_global_step(self._stamp)
        apply = counted.apply_grad(tf.constant(0.0), self._stamp)
        update = tf.group(added, step, apply)
        if not self._is_chief:
            return update

        def flush() -> Operation:
            taken = counted.take_grad(1)
            return tf.group(self._streams.flush(), taken, are_ready.assign(True).op)

        with tf.control_dependencies([update]):
            count = counted.num_accumulated()
            return self._when_enough(count, flush, "wait_until_quaniles_accumulated")

    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        means = tf.reduce_mean(tf.stack([gradients, hessians], axis=0), axis=1)
        apply = self._bias.apply_grad(means, self._stamp)

        def next_stamp() -> Operation:
            return tf.group([a.set_global_step(self._stamp + 1) for a in self._growing])

        def center() -> Any:
            gradient, hessian = tf.unstack(self._bias.take_grad(1), axis=0)
            centered = self._centered(
                needed, tf.expand_dims(gradient, 0), tf.expand_dims(hessian, 0)
            )
            with tf.control_dependencies([centered]):
                return cond(needed, tf.no_op, next_stamp)

        with tf.control_dependencies([apply]):
            if not self._is_chief:
                return tf.no_op()
            count = self._bias.num_accumulated()
            return self._when_enough(count, center, "wait_until_n_batches_for_bias_accumulated")

    def grow_tree(self, summaries: list[list[Any]], nodes: Any) -> Any:
        applied = [
            accumulator.apply_grad(tf.stack(group, axis=0), self._stamp)
            for accumulator, group in zip(self._growing, summaries)
        ]

        def grow() -> Operation:
            taken = [tf.unstack(a.take_grad(1), axis=0) for a in self._growing]
            return self._grown(taken, nodes)

        with tf.control_dependencies(applied):
            if not self._is_chief:
                return tf.no_op()
            least = tf.reduce_min(tf.stack([a.num_accumulated() for a in self._growing]))
            return self._when_enough(least, grow, "wait_until_n_batches_accumulated")
