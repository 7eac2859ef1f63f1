# SPDX-License-Identifier: Apache-2.0
"""K-means as an estimator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.scope_functions import colocate_with
from ....engine.interface.log import info
from ....ops.control import with_dependencies
from ....ops.metrics.means import mean
from ....ops.public import tf
from ....ops.summaries.api import scalar as scalar_summary
from ...estimator.estimator import Estimator
from ...estimator.export_output import PredictOutput
from ...estimator.model_fn import EstimatorSpec
from ...feature_column.input_layer import input_layer
from ...saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ...sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ...variables.global_step import get_global_step
from . import clustering_ops

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ...sessions.session_run_hook import SessionRunContext, SessionRunValues


class _LossRelativeChangeHook(SessionRunHook):
    """Stops when the loss changes by less than a share of itself."""

    def __init__(self, loss_tensor: object, tolerance: float) -> None:
        self._loss_tensor = loss_tensor
        self._tolerance = tolerance
        self._previous: Any = None

    def before_run(self, run_context: object) -> SessionRunArgs:
        """Asks for the loss."""
        del run_context
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Compares it with the last one."""
        loss = run_values.results
        if self._previous:
            change = abs(loss - self._previous) / (1 + abs(self._previous))
            if change < self._tolerance:
                run_context.request_stop()
        self._previous = loss


class _InitializeClustersHook(SessionRunHook):
    """Adds centers until they are there, before anything is trained."""

    def __init__(self, init_op: object, is_initialized: object, is_chief: bool) -> None:
        self._init_op = init_op
        self._is_initialized = is_initialized
        self._is_chief = is_chief

    def after_create_session(self, session: BaseSession, coord: Any) -> None:
        """Runs the op, or waits for the chief to do so."""
        del coord
        while True:
            try:
                if session.run(self._is_initialized):
                    return
                if self._is_chief:
                    session.run(self._init_op)
                else:
                    time.sleep(1)
            except RuntimeError as error:
                info(error)  # type: ignore[arg-type]


def _parse_features_if_necessary(features: object, feature_columns: object) -> Any:
    """The points that features state: a tensor, columns, or all of a dict side by side."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return input_layer(features, feature_columns)
    keys = sorted(features)
    with colocate_with(features[keys[0]]):
        return tf.concat([features[key] for key in keys], axis=1)


def _model_fn(
    options: dict[str, Any], relative_tolerance: float | None, feature_columns: Any
) -> Any:
    def model_fn(features: Any, mode: str, config: Any) -> EstimatorSpec:
        model = clustering_ops.KMeans(
            inputs=_parse_features_if_necessary(features, feature_columns), **options
        )
        distances, clusters, losses, is_initialized, init_op, train = model.training_graph()
        loss = tf.reduce_sum(losses)
        scalar_summary("loss/raw", loss)
        step = tf.assign_add(get_global_step(), 1)
        train = with_dependencies([train, step], loss)
        hooks: list[Any] = [_InitializeClustersHook(init_op, is_initialized, config.is_chief)]
        if relative_tolerance is not None:
            hooks.append(_LossRelativeChangeHook(loss, relative_tolerance))
        predictions = {
            KMeansClustering.ALL_DISTANCES: distances[0],
            KMeansClustering.CLUSTER_INDEX: clusters[0],
        }
        outputs = {**predictions, DEFAULT_SERVING_SIGNATURE_DEF_KEY: clusters[0]}
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train,
            eval_metric_ops={KMeansClustering.SCORE: mean(loss)},
            training_hooks=hooks,
            export_outputs={key: PredictOutput(value) for key, value in outputs.items()},
        )

    return model_fn


@export("contrib.factorization.KMeansClustering")
class KMeansClustering(Estimator):
    """K-means as an estimator (tf.contrib.factorization.KMeansClustering).

    Args:
        num_clusters: how many clusters there are.
        model_dir: where checkpoints lie.
        initial_clusters: "random", "kmeans_plus_plus", the centers, or a function of inputs and
            the number of missing centers.
        distance_metric: "squared_euclidean" or "cosine".
        random_seed: of what is drawn.
        use_mini_batch: whether a step moves centers by a batch; else a batch is all points.
        mini_batch_steps_per_iteration: after how many steps moved centers are used.
        kmeans_plus_plus_num_retries: of how many more k-means++ draws the best.
        relative_tolerance: training stops when the loss changes by a smaller share; None: never.
        config: a RunConfig.
        feature_columns: of features in a dict; all of them, in order of names, if None.

    Raises:
        ValueError: the initialization or the distance is not among these.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering_ops.CLUSTERS_VAR_NAME

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: object = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: object = None,
        feature_columns: object = None,
    ) -> None:
        known = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        clustering_ops.check_choices(initial_clusters, distance_metric, known)
        options: dict[str, Any] = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "random_seed": random_seed,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
        }
        super().__init__(
            model_fn=_model_fn(options, relative_tolerance, feature_columns),
            model_dir=model_dir,
            config=config,
        )

    def _predict_one_key(self, input_fn: Any, key: str) -> Iterator[Any]:
        for result in self.predict(input_fn=input_fn, predict_keys=[key]):
            yield result[key]

    def predict_cluster_index(self, input_fn: object) -> Iterator[Any]:
        """The cluster of each point of an input."""
        yield from self._predict_one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any) -> Any:
        """The sum of the distances of points from their centers."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: object) -> Iterator[Any]:
        """The distances of each point from all centers."""
        yield from self._predict_one_key(input_fn, self.ALL_DISTANCES)

    def cluster_centers(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


@export("estimator.experimental.KMeans")
class KMeans(KMeansClustering):
    """K-means as an estimator (tf.estimator.experimental.KMeans).

    Args:
        num_clusters: how many clusters there are.
        model_dir: where checkpoints lie.
        initial_clusters: "random", "kmeans_plus_plus", the centers, or a function of inputs and
            the number of missing centers.
        distance_metric: "squared_euclidean" or "cosine".
        seed: of what is drawn.
        use_mini_batch: whether a step moves centers by a batch; else a batch is all points.
        mini_batch_steps_per_iteration: after how many steps moved centers are used.
        kmeans_plus_plus_num_retries: of how many more k-means++ draws the best.
        relative_tolerance: training stops when the loss changes by a smaller share; None: never.
        config: a RunConfig.
        feature_columns: of features in a dict; all of them, in order of names, if None.

    Raises:
        ValueError: the initialization or the distance is not among these.
    """

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: object = KMeansClustering.RANDOM_INIT,
        distance_metric: str = KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: object = None,
        feature_columns: object = None,
    ) -> None:
        super().__init__(
            *(num_clusters, model_dir, initial_clusters, distance_metric),
            random_seed=0 if seed is None else seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )
