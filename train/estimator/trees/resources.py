# SPDX-License-Identifier: Apache-2.0
"""Ensembles of trees and streams of quantiles as objects that savers save.

Also the short names that `tensorflow.python.ops.boosted_trees_ops` has for the ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.collections import GraphKeys, add_to_collection
from ....ops.public import raw, tf
from ....ops.state.resources import register_resource
from ....ops.trees.pruning import Pruning
from ...checkpoints.saveable import SaveableObject, SaveSpec
from ...objects.tracking import TrackableResource

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

# Short names of ops.
_OPS = {
    "boosted_trees_aggregate_stats": "BoostedTreesAggregateStats",
    "boosted_trees_bucketize": "BoostedTreesBucketize",
    "boosted_trees_sparse_aggregate_stats": "BoostedTreesSparseAggregateStats",
    "calculate_best_feature_split": "BoostedTreesCalculateBestFeatureSplit",
    "calculate_best_gains_per_feature": "BoostedTreesCalculateBestGainsPerFeature",
    "center_bias": "BoostedTreesCenterBias",
    "create_quantile_stream_resource": "BoostedTreesCreateQuantileStreamResource",
    "example_debug_outputs": "BoostedTreesExampleDebugOutputs",
    "get_bucket_boundaries": "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    "is_quantile_resource_initialized": "IsBoostedTreesQuantileStreamResourceInitialized",
    "make_quantile_summaries": "BoostedTreesMakeQuantileSummaries",
    "make_stats_summary": "BoostedTreesMakeStatsSummary",
    "predict": "BoostedTreesPredict",
    "quantile_add_summaries": "BoostedTreesQuantileStreamResourceAddSummaries",
    "quantile_flush": "BoostedTreesQuantileStreamResourceFlush",
    "quantile_resource_deserialize": "BoostedTreesQuantileStreamResourceDeserialize",
    "quantile_resource_handle_op": "BoostedTreesQuantileStreamResourceHandleOp",
    "sparse_calculate_best_feature_split": "BoostedTreesSparseCalculateBestFeatureSplit",
    "training_predict": "BoostedTreesTrainingPredict",
    "update_ensemble": "BoostedTreesUpdateEnsemble",
    "update_ensemble_v2": "BoostedTreesUpdateEnsembleV2",
}


def __getattr__(name: str) -> Any:
    if name in _OPS:
        return getattr(raw, _OPS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class PruningMode:
    """When splits that gain less than they cost are dropped."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = (int(mode) for mode in Pruning)
    _map = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The number of a mode.

        Raises:
            ValueError: there is no such mode.
        """
        if mode in cls._map:
            return cls._map[mode]
        raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(cls._map))}")


class QuantileAccumulatorSaveable(SaveableObject):
    """The boundaries that a QuantileAccumulator found, one tensor for each stream."""

    def __init__(self, handle: Any, create_op: Any, num_streams: int, name: str) -> None:
        found = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(handle, num_streams)
        specs = [
            SaveSpec(tensor, "", f"{name}_bucket_boundaries_{i}") for i, tensor in enumerate(found)
        ]
        super().__init__(handle, specs, name)
        self._create_op = create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """Puts restored boundaries into the streams, which are made first."""
        with tf.control_dependencies([self._create_op]):
            return raw.BoostedTreesQuantileStreamResourceDeserialize(
                self.op, bucket_boundaries=restored_tensors
            )


class QuantileAccumulator(TrackableResource):
    """Finds the boundaries of buckets in streams of values.

    Args:
        epsilon: how far ranks may be off, as a part of all weight.
        num_streams: how many features there are.
        num_quantiles: how many buckets are wanted.
        name: of the scope and of the resource.
        max_elements: not used, as in TensorFlow.
    """

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: int,
        name: str | None = None,
        max_elements: int | None = None,
    ) -> None:
        self._epsilon, self._count, self._buckets = epsilon, num_streams, num_quantiles
        super().__init__()
        with tf.name_scope(name, "QuantileAccumulator") as scope:
            self._name = scope
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()
            is_initialized = self.is_initialized()
        register_resource(self.resource_handle, self._init_op, is_initialized)
        self._saveable = QuantileAccumulatorSaveable(
            self.resource_handle, self._init_op, num_streams, self.resource_handle.name
        )
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _create_resource(self) -> Tensor:
        return raw.BoostedTreesQuantileStreamResourceHandleOp(
            container="", shared_name=self._name, name=self._name
        )

    def _initialize(self) -> Operation:
        return raw.BoostedTreesCreateQuantileStreamResource(
            self.resource_handle, self._epsilon, self._count
        )

    @property
    def initializer(self) -> Operation:
        """The operation that makes the streams."""
        return self._init_op

    @property
    def saveable(self) -> QuantileAccumulatorSaveable:
        """What savers save."""
        return self._saveable

    def is_initialized(self) -> Tensor:
        """Whether the streams were made: a bool tensor."""
        return raw.IsBoostedTreesQuantileStreamResourceInitialized(self.resource_handle)

    def add_summaries(self, float_columns: Sequence[Any], example_weights: TensorLike) -> Operation:
        """An operation that adds values [batch] of each stream, with weights [batch] or [1]."""
        summaries = raw.BoostedTreesMakeQuantileSummaries(
            float_columns, example_weights, self._epsilon
        )
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(self.resource_handle, summaries)

    def flush(self) -> Operation:
        """An operation that finds the boundaries; the streams begin anew."""
        return raw.BoostedTreesQuantileStreamResourceFlush(self.resource_handle, self._buckets)

    def get_bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of each stream, as tensors."""
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            self.resource_handle, self._count
        )

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"quantile_accumulator": self._saveable}


class _TreeEnsembleSaveable(SaveableObject):
    """An ensemble as two tensors: its stamp, and the trees as a serialized message."""

    def __init__(self, handle: Any, create_op: Any, name: str) -> None:
        stamp, serialized = raw.BoostedTreesSerializeEnsemble(handle)
        specs = [
            SaveSpec(stamp, "", f"{name}_stamp"),
            SaveSpec(serialized, "", f"{name}_serialized"),
        ]
        super().__init__(handle, specs, name)
        self._create_op = create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """Puts restored trees into the ensemble, which is made first."""
        stamp, serialized = restored_tensors
        with tf.control_dependencies([self._create_op]):
            return raw.BoostedTreesDeserializeEnsemble(
                self.op, stamp_token=stamp, tree_ensemble_serialized=serialized
            )


class TreeEnsemble(TrackableResource):
    """An ensemble of trees.

    Args:
        name: of the scope and of the resource.
        stamp_token: the first stamp.
        is_local: whether it is this process's own, which is not saved.
        serialized_proto: a serialized TreeEnsemble to begin with.
    """

    def __init__(
        self,
        name: str | None,
        stamp_token: int = 0,
        is_local: bool = False,
        serialized_proto: str | bytes = "",
    ) -> None:
        self._first, self._serialized, self._is_local = stamp_token, serialized_proto, is_local
        super().__init__()
        with tf.name_scope(name, "TreeEnsemble") as scope:
            self._name = scope
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()
            is_initialized = self.is_initialized()
            if not is_local:
                self._saveable = _TreeEnsembleSaveable(
                    self.resource_handle, self._init_op, self.resource_handle.name
                )
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
            register_resource(
                self.resource_handle, self._init_op, is_initialized, is_shared=not is_local
            )

    def _create_resource(self) -> Tensor:
        return raw.BoostedTreesEnsembleResourceHandleOp(
            container="", shared_name=self._name, name=self._name
        )

    def _initialize(self) -> Operation:
        return raw.BoostedTreesCreateEnsemble(
            self.resource_handle, self._first, tree_ensemble_serialized=self._serialized
        )

    @property
    def initializer(self) -> Operation:
        """The operation that makes the ensemble."""
        return self._init_op

    def is_initialized(self) -> Tensor:
        """Whether the ensemble was made: a bool tensor."""
        return raw.IsBoostedTreesEnsembleInitialized(self.resource_handle)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {} if self._is_local else {"tree_ensemble": self._saveable}

    def get_stamp_token(self) -> Tensor:
        """The stamp: an int64 scalar."""
        return raw.BoostedTreesGetEnsembleStates(self.resource_handle)[0]

    def get_states(self) -> tuple[Any, ...]:
        """How far the ensemble has grown.

        Returns:
            The stamp (int64); how many trees there are, how many of them are whole and how many
            layers were attempted (int32); and the range of the nodes of the last layer (int32,
            [2]).
        """
        states = raw.BoostedTreesGetEnsembleStates(self.resource_handle)
        names = (
            *("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers"),
            "last_layer_nodes_range",
        )
        return tuple(tf.identity(state, name=name) for state, name in zip(states, names))

    def serialize(self) -> Any:
        """The stamp, and the trees as a serialized TreeEnsemble."""
        return raw.BoostedTreesSerializeEnsemble(self.resource_handle)

    def deserialize(self, stamp_token: TensorLike, serialized_proto: TensorLike) -> Operation:
        """An operation that puts other trees in place of what there is."""
        return raw.BoostedTreesDeserializeEnsemble(
            self.resource_handle, stamp_token, serialized_proto
        )
