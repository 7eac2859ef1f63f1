# SPDX-License-Identifier: Apache-2.0
"""Mixtures of normal distributions as an estimator of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....engine.api import export
from ....ops.control import with_dependencies
from ....ops.public import tf
from ...checkpoints.checkpoint_utils import load_variable
from ...variables.global_step import get_global_step
from ..framework.variables import local_variable
from ..learn.estimators.estimator import Estimator
from ..learn.estimators.model_fn import ModelFnOps
from . import gmm_ops
from .kmeans import _InitializeClustersHook


def _streaming_sum(value: Any) -> tuple[Any, Any]:
    """A metric that adds up, and what adds to it."""
    total = local_variable(tf.constant(0.0))
    return total, total.assign_add(value)


def _side_by_side(features: Any) -> Any:
    if isinstance(features, dict):
        return tf.concat([features[key] for key in sorted(features)], 1)
    return features


@export("contrib.factorization.GMM")
class GMM(Estimator):
    """A mixture of normal distributions as an estimator (tf.contrib.factorization.GMM).

    Args:
        num_clusters: of how many distributions.
        model_dir: where checkpoints lie.
        random_seed: of what is drawn.
        params: what a step changes: "w" (weights), "m" (means) and "c" (covariances).
        initial_clusters: "random", or the means [num_clusters, size].
        covariance_type: "full" or "diag".
        config: a RunConfig.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ) -> None:
        self._num_clusters = num_clusters
        self._params = params  # type: ignore[assignment]
        self._training_initial_clusters = initial_clusters
        self._covariance_type = covariance_type
        self._random_seed = random_seed
        super().__init__(model_fn=self._model_builder(), model_dir=model_dir, config=config)

    def predict_assignments(
        self, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None
    ) -> Iterator[Any]:
        """The distribution of each point of an input."""
        for result in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield result[GMM.ASSIGNMENTS]

    def score(
        self, input_fn: Any = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """The logarithm of the sum of the points' likelihoods."""
        results: Any = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[GMM.SCORES])))

    def weights(self) -> Any:
        """The distributions' weights."""
        return load_variable(self.model_dir, gmm_ops.GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Any:
        """The means [num_clusters, size]."""
        found = load_variable(self.model_dir, gmm_ops.GmmAlgorithm.CLUSTERS_VARIABLE)
        return np.squeeze(found, 1)

    def covariances(self) -> Any:
        """The covariances."""
        return load_variable(self.model_dir, gmm_ops.GmmAlgorithm.CLUSTERS_COVS_VARIABLE)

    def _model_builder(self) -> Callable[..., Any]:
        options = (self._num_clusters, self._random_seed, self._covariance_type, self._params)
        initial = self._training_initial_clusters

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            if labels is not None:
                raise AssertionError(labels)
            loss, scores, assignments, train, init_op, is_initialized = gmm_ops.gmm(
                _side_by_side(features), initial, *options
            )
            step = tf.assign_add(get_global_step(), 1)
            return ModelFnOps(
                mode=mode,
                predictions={GMM.ASSIGNMENTS: assignments[0][0]},
                eval_metric_ops={GMM.SCORES: scores, GMM.LOG_LIKELIHOOD: _streaming_sum(loss)},
                loss=loss,
                train_op=with_dependencies([train, step], loss),
                training_hooks=[_InitializeClustersHook(init_op, is_initialized, config.is_chief)],
            )

        return model_fn
