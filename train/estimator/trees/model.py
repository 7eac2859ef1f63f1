# SPDX-License-Identifier: Apache-2.0
"""The model function of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.gradients.autodiff import gradients as gradients_of
from ....engine.types import dtypes
from ....ops.public import raw, tf
from ....ops.summaries.api import scalar
from ...feature_column.indicator import IndicatorColumn
from ...feature_column.numeric import numeric_column
from ...sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ...variables.global_step import get_or_create_global_step
from ..mode_keys import ModeKeys
from . import columns as tree_columns
from .caches import NO_NODE, StatesById, StatesInVariables, variable
from .growers import AccumulatorGrower, Grower, InMemoryGrower, TreeHParams, cond
from .resources import QuantileAccumulator, TreeEnsemble

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.session.session import BaseSession
    from ...sessions.session_run_hook import SessionRunContext, SessionRunValues
    from ..heads import Head
    from ..model_fn import EstimatorSpec

ClosedForm = Callable[[Any, Any], tuple[Any, Any]]


class StopAtAttemptsHook(SessionRunHook):
    """Ends training when there are all trees, or when growing more fails too often."""

    def __init__(
        self, num_finalized_trees: Any, num_attempted_layers: Any, max_trees: int, max_depth: int
    ) -> None:
        self._fetches = [num_finalized_trees, num_attempted_layers]
        self._trees, self._layers = max_trees, 2 * max_trees * max_depth

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        trees, layers = run_values.results
        if trees >= self._trees - 1 or layers > self._layers - 1:
            # The step may have read the numbers before it grew trees.
            trees, layers = run_context.session.run(self._fetches)
        if trees >= self._trees or layers > self._layers:
            run_context.request_stop()


class GrowerInitializationHook(SessionRunHook):
    """Runs what a grower has to run before the first step."""

    def __init__(self, init_op: Any) -> None:
        self._init_op = init_op

    def after_create_session(self, session: BaseSession, coord: object) -> None:
        session.run(self._init_op)


class _Streams:
    """The streams of float columns, and their boundaries; nothing of both without such columns."""

    def __init__(self, columns: Sequence[Any], epsilon: float) -> None:
        self.columns = [column for column in columns if tree_columns.is_float(column)]
        self.buckets = int(1.0 / epsilon)
        self.accumulator: QuantileAccumulator | None = None
        self.boundaries: tree_columns.Boundaries = {}
        if self.columns:
            self.accumulator = QuantileAccumulator(
                epsilon=epsilon,
                num_streams=tree_columns.count_features(self.columns),
                num_quantiles=self.buckets,
                name="QuantileAccumulator",
            )
            self.boundaries = tree_columns.boundaries_by_name(
                self.columns, self.accumulator.get_bucket_boundaries()
            )


def predict_logits(
    features: dict[str, Any], columns: Sequence[Any], epsilon: float, logits_dimension: int
) -> tuple[Any, Any, Any]:
    """The ensemble, what trees are asked, and what they answer: [batch, logits_dimension]."""
    scope = tf.get_default_graph().get_name_scope()
    ensemble = TreeEnsemble(name=f"{scope}/")
    streams = _Streams(columns, epsilon)
    asked = tree_columns.feature_tensors(features, columns, streams.boundaries)
    handle = ensemble.resource_handle
    return ensemble, asked, raw.BoostedTreesPredict(handle, asked, logits_dimension)


def _cached_features(
    features: dict[str, Any],
    columns: Sequence[Any],
    boundaries: tree_columns.Boundaries,
    batch_size: Any,
    are_ready: Any,
) -> tuple[Any, Any]:
    """The features, of variables once they are there, and an operation that a step runs."""
    cached = [
        variable(tf.zeros([batch_size], dtype=dtypes.int32), f"cached_feature_{i}")
        for i in range(tree_columns.count_features(columns))
    ]
    are_cached = variable(False, "are_features_cached")
    # Tables are initialized outside of branches.
    of_words = [column for column in columns if isinstance(column, IndicatorColumn)]
    known = tree_columns.transformed(features, of_words) if of_words else {}

    def anew() -> list[Any]:
        return tree_columns.feature_tensors(features, columns, boundaries, known)

    def kept() -> tuple[Any, Any]:
        found = [each.assign(value) for each, value in zip(cached, anew())]
        with tf.control_dependencies(found):
            return list(found), are_cached.assign(True).op

    def looked_up() -> Any:
        return cond(are_cached, lambda: (list(cached), tf.no_op()), kept)

    return cond(are_ready, lambda: (anew(), tf.no_op()), looked_up)  # type: ignore[no-any-return]


class _Training:
    """The graph of a step of training."""

    def __init__(
        self,
        features: dict[str, Any],
        labels: Any,
        head: Head,
        columns: Sequence[Any],
        hparams: TreeHParams,
        config: Any,
        in_memory: bool,
        example_ids: Any,
    ) -> None:
        self._features, self._labels, self._head = features, labels, head
        self._columns, self._hparams, self._config = columns, hparams, config
        self._in_memory = in_memory
        scope = tf.get_default_graph().get_name_scope()
        self._step = get_or_create_global_step()
        self._ensemble = TreeEnsemble(name=f"{scope}/")
        self._streams = _Streams(columns, hparams.quantile_sketch_epsilon)
        self._sizes, self._ids = tree_columns.group_by_buckets(columns, self._streams.buckets)
        self._are_ready = variable(not self._streams.columns, "are_boundaries_ready")
        self._ask(example_ids)
        self._walk(f"{scope}_local")

    def _ask(self, example_ids: Any) -> None:
        """Makes the features, and where the examples were after the last step."""
        boundaries, size = self._streams.boundaries, self._head.logits_dimension
        self._states: Any = None
        if self._in_memory:
            batch = tf.shape(self._labels)[0]
            self._asked, self._cache_op = _cached_features(
                self._features, self._columns, boundaries, batch, self._are_ready
            )
            self._states = StatesInVariables(batch, size)
        else:
            self._asked = tree_columns.feature_tensors(self._features, self._columns, boundaries)
            if example_ids is not None:
                self._states = StatesById(example_ids, size)
        if self._states is not None:
            self._before = self._states.lookup()
        else:
            batch = tf.shape(self._labels)[0]
            nowhere = NO_NODE * tf.ones([batch], dtype=dtypes.int32)
            self._before = (
                *(tf.zeros([batch], dtype=dtypes.int32), nowhere),
                tf.zeros([batch, size], dtype=dtypes.float32),
            )

    def _walk(self, local_name: str) -> None:
        """Leads the examples through what the ensemble has more."""
        ensemble, reload = self._ensemble, tf.no_op()
        if self._config.num_worker_replicas > 1:
            # Workers read a copy of what the chief changes.
            ensemble = TreeEnsemble(name=local_name, is_local=True)
            reload = ensemble.deserialize(*self._ensemble.serialize())
        tree_ids, node_ids, logits = self._before
        with tf.control_dependencies([reload]):
            states = ensemble.get_states()
            more, self._tree_ids, self._node_ids = raw.BoostedTreesTrainingPredict(
                *(ensemble.resource_handle, tree_ids, node_ids, self._asked),
                logits_dimension=self._head.logits_dimension,
            )
        self._stamp, _, self.num_finalized, self.num_attempted, self._nodes = states
        self.logits = logits + more
        for name, state in zip(
            ("num_trees", "num_finalized_trees", "num_attempted_layers"), states[1:]
        ):
            scalar(f"ensemble/{name}", state)

    def finish(self, weight_column: Any, batches: Any, closed_form: ClosedForm | None) -> None:
        """Makes the grower, and weighs examples."""
        common = self._ensemble, self._streams.accumulator, self._hparams, self._ids
        self.grower: Grower
        if self._in_memory:
            self.grower = InMemoryGrower(*common)
        else:
            self.grower = AccumulatorGrower(
                *common, self._stamp, batches, self._sizes, self._config.is_chief
            )
        self._is_biased = variable(self._hparams.center_bias, "center_bias_needed")
        self._closed_form = closed_form
        self._weights = tf.constant(1.0, shape=[1])
        if weight_column is not None:
            if isinstance(weight_column, str):
                weight_column = numeric_column(key=weight_column, shape=(1,))
            self._weights = tree_columns.feature_tensors(self._features, [weight_column])[0]

    def train_op(self, loss: Any) -> Any:
        """What a step runs."""

        def update_quantiles() -> Any:
            with tf.name_scope("UpdateQuantile"):
                floats = tree_columns.feature_tensors(self._features, self._streams.columns)
                return self.grower.accumulate_quantiles(floats, self._weights, self._are_ready)

        if not self._streams.columns:
            return self._grow(loss)
        return cond(self._are_ready, lambda: self._grow(loss), update_quantiles)

    def _grow(self, loss: Any) -> Operation:
        grown = [self._cache_op] if self._in_memory else []
        if self._states is not None:
            now = self._tree_ids, self._node_ids, self.logits
            # While the bias moves, what trees answered holds no longer.
            grown.append(cond(self._is_biased, tf.no_op, lambda: self._states.insert(*now)))
        if self._closed_form is not None:
            gradients, hessians = self._closed_form(self.logits, self._labels)
        else:
            gradients = gradients_of(loss, self.logits, name="Gradients")[0]
            hessians = gradients_of(gradients, self.logits, name="Hessians")[0]
        summaries = self._summaries(gradients, hessians)

        def grow() -> Any:
            return self.grower.grow_tree(summaries, self._nodes)

        if self._hparams.center_bias:
            update = cond(
                self._is_biased,
                lambda: self.grower.center_bias(self._is_biased, gradients, hessians),
                grow,
            )
        else:
            update = grow()
        with tf.control_dependencies([update]):
            counted = tf.assign_add(self._step, 1).op
        return tf.group([*grown, update, counted], name="grow_op")

    def _summaries(self, gradients: Any, hessians: Any) -> list[list[Any]]:
        """The sums of gradients and hessians of each group of features."""
        return [
            [
                tf.squeeze(
                    raw.BoostedTreesMakeStatsSummary(
                        *(self._node_ids, gradients, hessians, [self._asked[i]]),
                        max_splits=self._hparams.max_splits,
                        num_buckets=size,
                    ),
                    axis=0,
                )
                for i in ids
            ]
            for size, ids in zip(self._sizes, self._ids)
        ]

    def hooks(self, spec: Any) -> Any:
        """The specification with the hooks that training needs."""
        hparams = self._hparams
        stop = StopAtAttemptsHook(
            self.num_finalized, self.num_attempted, hparams.n_trees, hparams.max_depth
        )
        begin = GrowerInitializationHook(self.grower.chief_init_op())
        return spec._replace(
            training_hooks=(*spec.training_hooks, stop),
            training_chief_hooks=[begin, *spec.training_chief_hooks],
        )


def _require_one_machine(config: Any, batches: Any) -> None:
    if batches != 1:
        raise AssertionError(
            "When train_in_memory is enabled, input_fn should return the entire dataset as a "
            "single batch, and n_batches_per_layer should be set as 1."
        )
    if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError("train_in_memory is supported only for non-distributed training.")


def bt_model_fn(
    features: dict[str, Any],
    labels: Any,
    mode: str,
    head: Head,
    feature_columns: Sequence[Any],
    tree_hparams: TreeHParams,
    n_batches_per_layer: Any,
    config: Any,
    closed_form_grad_and_hess_fn: ClosedForm | None = None,
    example_id_column_name: str | None = None,
    weight_column: Any = None,
    train_in_memory: bool = False,
    name: str = "boosted_trees",
) -> EstimatorSpec:
    """Trees over columns, grown layer by layer.

    Args:
        features, labels, mode, config: as of model functions.
        head: what becomes of the logits.
        feature_columns: bucketized, indicator and numeric columns.
        tree_hparams: what users say of trees.
        n_batches_per_layer: of how many batches a layer is.
        closed_form_grad_and_hess_fn: gradients and hessians of logits and labels; those of the
            loss if None.
        example_id_column_name: the key of numbers or names of examples, by which predictions are
            remembered.
        weight_column: the key or column of examples' weights.
        train_in_memory: whether each batch has all examples.
        name: of the scope, which checkpoints carry.
    """
    columns = tree_columns.by_name(feature_columns)
    with tf.name_scope(name):
        if mode != ModeKeys.TRAIN:
            get_or_create_global_step()
            epsilon = tree_hparams.quantile_sketch_epsilon
            _, _, logits = predict_logits(features, columns, epsilon, head.logits_dimension)
            return head.create_estimator_spec(
                features, mode, logits, labels, train_op_fn=lambda loss: tf.no_op()
            )
        if train_in_memory:
            _require_one_machine(config, n_batches_per_layer)
        ids = features[example_id_column_name] if example_id_column_name else None
        training = _Training(
            *(features, labels, head, columns, tree_hparams, config, train_in_memory, ids)
        )
        training.finish(weight_column, n_batches_per_layer, closed_form_grad_and_hess_fn)
        spec = head.create_estimator_spec(
            features, mode, training.logits, labels, train_op_fn=training.train_op
        )
        return training.hooks(spec)  # type: ignore[no-any-return]
