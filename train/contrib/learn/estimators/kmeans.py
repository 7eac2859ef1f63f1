# SPDX-License-Identifier: Apache-2.0
"""K-means as an estimator of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .....engine.api import export
from .....ops.control import with_dependencies
from .....ops.public import tf
from .....ops.summaries.api import scalar
from ....variables.global_step import get_global_step
from ...factorization import clustering_ops
from ...factorization.kmeans import _InitializeClustersHook, _LossRelativeChangeHook
from .estimator import Estimator
from .model_fn import ModelFnOps


def _model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any
) -> ModelFnOps:
    if labels is not None:
        raise AssertionError(labels)
    if isinstance(features, dict):
        features = tf.concat([features[key] for key in sorted(features)], 1)
    options, tolerance = params["options"], params["relative_tolerance"]
    every, clusters, losses, is_initialized, init_op, train = clustering_ops.KMeans(
        features, **options
    ).training_graph()
    step = tf.assign_add(get_global_step(), 1)
    loss = tf.reduce_sum(losses, name=KMeansClustering.LOSS_OP_NAME)
    scalar("loss/raw", loss)
    hooks: list[Any] = [_InitializeClustersHook(init_op, is_initialized, config.is_chief)]
    if tolerance is not None:
        hooks.append(_LossRelativeChangeHook(loss, tolerance))
    return ModelFnOps(
        mode=mode,
        predictions={
            KMeansClustering.ALL_SCORES: every[0],
            KMeansClustering.CLUSTER_IDX: clusters[0],
        },
        eval_metric_ops={KMeansClustering.SCORES: loss},
        loss=loss,
        train_op=with_dependencies([train, step], loss),
        training_hooks=hooks,
    )


@export("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """K-means as an estimator (tf.contrib.learn.KMeansClustering).

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
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = clustering_ops.CLUSTERS_VAR_NAME
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        options = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "random_seed": random_seed,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
        }
        params = {"options": options, "relative_tolerance": relative_tolerance}
        super().__init__(model_fn=_model_fn, params=params, model_dir=model_dir, config=config)

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The cluster of each point of an input."""
        key = self.CLUSTER_IDX
        for result in self.predict(input_fn=input_fn, outputs=[key]):
            yield result[key]

    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of the distances of points from their centers."""
        results: Any = self.evaluate(input_fn=input_fn, steps=steps)
        return np.sum(results[self.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of each point from all centers: an array, or points' one by one."""
        key = self.ALL_SCORES
        results = self.predict(input_fn=input_fn, outputs=[key], as_iterable=as_iterable)
        if as_iterable:
            return results
        return results[key]

    def clusters(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTERS)
