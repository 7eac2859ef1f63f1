# SPDX-License-Identifier: Apache-2.0
"""K-means as a graph: distances from centers, and steps that move them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import colocate_with, control_dependencies
from ....engine.types import dtypes
from ....ops.nn.norm import l2_normalize
from ....ops.public import raw, tf
from .initial_clusters import (
    COSINE_DISTANCE,
    KMC2_INIT,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    InitialClusters,
)

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variables import Variable

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
CLUSTERS_VAR_NAME = "clusters"
constant("contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE", SQUARED_EUCLIDEAN_DISTANCE)
constant("contrib.factorization.COSINE_DISTANCE", COSINE_DISTANCE)
constant("contrib.factorization.RANDOM_INIT", RANDOM_INIT)
constant("contrib.factorization.KMEANS_PLUS_PLUS_INIT", KMEANS_PLUS_PLUS_INIT)

# Of clusters that have no points.
_EPSILON = 1e-6


def check_choices(initial_clusters: object, distance_metric: str, known: tuple[str, ...]) -> None:
    """Raises ValueError for an initialization or a distance that there is not."""
    if isinstance(initial_clusters, str) and initial_clusters not in known:
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(f"Unsupported distance metric '{distance_metric}'")


@export("contrib.factorization.KMeans")
class KMeans:
    """K-means as a graph (tf.contrib.factorization.KMeans).

    Args:
        inputs: points, float32 [n, size], or a list of such.
        num_clusters: how many centers there are.
        initial_clusters: "random", "kmeans_plus_plus", "kmc2", the centers, or a function of
            inputs and the number of missing centers.
        distance_metric: "squared_euclidean" or "cosine".
        use_mini_batch: whether a step moves centers by a batch; else all points are given.
        mini_batch_steps_per_iteration: after how many steps moved centers are used.
        random_seed: of what is drawn.
        kmeans_plus_plus_num_retries: of how many more k-means++ draws the best.
        kmc2_chain_length: of how many points "kmc2" draws one.

    Raises:
        ValueError: the initialization or the distance is not among these.

    Example:
        >>> points = tf.constant([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]])
        >>> model = tf.contrib.factorization.KMeans(points, 2, points[1:3])
        >>> _, (clusters,), _, _, init, train = model.training_graph()
        >>> session = tf.Session()
        >>> _ = session.run([tf.global_variables_initializer()])
        >>> _ = session.run(init), session.run(train)
        >>> print(session.run(clusters))
        [0 0 1 1]
    """

    def __init__(
        self,
        inputs: object,
        num_clusters: object,
        initial_clusters: object = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        known = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
        check_choices(initial_clusters, distance_metric, known)
        self._inputs: list[Any] = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._distance_metric = distance_metric
        self._use_mini_batch = use_mini_batch
        self._mini_batch_steps_per_iteration = int(mini_batch_steps_per_iteration)
        self._random_seed = random_seed
        self._kmeans_plus_plus_num_retries = kmeans_plus_plus_num_retries
        self._kmc2_chain_length = kmc2_chain_length

    @property
    def _is_cosine(self) -> bool:
        return self._distance_metric == COSINE_DISTANCE

    @property
    def _has_delay(self) -> bool:
        return self._use_mini_batch and self._mini_batch_steps_per_iteration > 1

    @property
    def _keeps_unit_centers(self) -> bool:
        return self._is_cosine and (not self._use_mini_batch or self._has_delay)

    def _scores(self, inputs: list[Any], centers: Any) -> list[Any]:
        """Distances [n, clusters] of all points from all centers."""
        found = []
        for x in inputs:
            with colocate_with(x, ignore_existing=True):
                if self._is_cosine:
                    found.append(1 - tf.matmul(x, centers, transpose_b=True))
                    continue
                found.append(
                    tf.reduce_sum(tf.square(x), 1, keepdims=True)
                    - 2 * tf.matmul(x, centers, transpose_b=True)
                    + tf.transpose(tf.reduce_sum(tf.square(centers), 1, keepdims=True))
                )
        return found

    def _infer(self, inputs: list[Any], centers: Any) -> tuple[Any, ...]:
        """All distances, those from the nearest centers, and which these are."""
        every = self._scores(inputs, centers)
        if self._is_cosine and not self._keeps_unit_centers:
            with colocate_with(centers, ignore_existing=True):
                centers = l2_normalize(centers, dim=1)
        found = []
        for x, score in zip(inputs, every):
            with colocate_with(x, ignore_existing=True):
                indices, distances = raw.NearestNeighbors(x, centers, 1)
                if self._is_cosine:
                    distances *= 0.5
                found.append((score, tf.squeeze(distances, [-1]), tf.squeeze(indices, [-1])))
        return tuple(zip(*found))

    def _variables(self, num_clusters: object) -> tuple[Any, ...]:
        nothing = tf.constant([], dtype=dtypes.float32)
        centers = tf.Variable(nothing, name=CLUSTERS_VAR_NAME, validate_shape=False)
        is_initialized = tf.Variable(False, dtype=dtypes.bool, name="initialized")
        updated, steps, counts = centers, None, None
        if self._has_delay:
            updated = tf.Variable(nothing, name="clusters_updated", validate_shape=False)
            steps = tf.Variable(
                self._mini_batch_steps_per_iteration, dtype=dtypes.int64, name="update_in_steps"
            )
            counts = tf.Variable(tf.zeros([num_clusters], dtype=dtypes.int64))
        elif self._use_mini_batch:
            counts = tf.Variable(tf.ones([num_clusters], dtype=dtypes.int64))
        return centers, is_initialized, counts, updated, steps

    def training_graph(self) -> tuple[Any, ...]:
        """The graph of a step.

        Returns:
            For each input all distances [n, clusters]; for each input the clusters of points; for
            each input the distances from those; whether the centers are there; an op that adds
            centers, to be run until they are; and the op of a step.
        """
        initial = self._initial_clusters
        if isinstance(initial, str) or callable(initial):
            num_clusters: Any = convert_to_tensor(self._num_clusters)
        else:
            initial = convert_to_tensor(initial)
            num_clusters = tf.shape(initial)[0]
        inputs = self._inputs
        variable, is_initialized, counts, updated, steps = self._variables(num_clusters)
        init_op = InitialClusters(
            *(inputs, num_clusters, initial, self._distance_metric, self._random_seed),
            *(self._kmeans_plus_plus_num_retries, self._kmc2_chain_length),
            *(variable, updated, is_initialized),
        ).op()
        centers = variable
        if self._is_cosine:
            inputs = self._unit(inputs)
            if not self._keeps_unit_centers:
                centers = l2_normalize(centers, dim=1)
        all_scores, scores, clusters = self._infer(inputs, centers)
        if self._use_mini_batch:
            synchronize = self._synchronize(steps, variable, updated, counts)
            with control_dependencies([synchronize]):
                train = self._mini_batch_step(inputs, clusters, updated, counts)
        else:
            train = self._full_step(inputs, num_clusters, clusters, variable)
        return all_scores, clusters, scores, is_initialized, init_op, train

    @staticmethod
    def _unit(inputs: list[Any]) -> list[Any]:
        found = []
        for x in inputs:
            with colocate_with(x, ignore_existing=True):
                found.append(l2_normalize(x, dim=1))
        return found

    def _synchronize(self, steps: Any, variable: Variable, updated: Any, counts: Any) -> Any:
        """Has moved centers be used after so many steps."""
        if not self._has_delay:
            return tf.no_op()

        def take_over() -> Tensor:
            later = tf.assign(steps, self._mini_batch_steps_per_iteration - 1)
            with control_dependencies([later]):
                with colocate_with(updated, ignore_existing=True):
                    centers = l2_normalize(updated, dim=1) if self._is_cosine else updated
                with colocate_with(variable, ignore_existing=True):
                    taken = tf.assign(variable, centers)
                    with control_dependencies([taken]):
                        with colocate_with(None, ignore_existing=True):
                            cleared = tf.assign(counts, tf.zeros_like(counts))
                            with control_dependencies([cleared]):
                                return tf.identity(steps)

        with colocate_with(steps, ignore_existing=True):
            return tf.cond(steps <= 0, take_over, lambda: tf.assign_sub(steps, 1))

    @staticmethod
    def _mini_batch_step(inputs: list[Any], clusters: Any, centers: Any, counts: Any) -> Operation:
        """Moves centers to the means of all points that they have had."""
        updates = []
        for x, indices in zip(inputs, clusters):
            with colocate_with(x, ignore_existing=True):
                ids, places = tf.unique(tf.reshape(indices, [-1]))
                number: Any = tf.size(ids)
                with colocate_with(counts, ignore_existing=True):
                    old_counts = tf.gather(counts, ids)
                with colocate_with(centers, ignore_existing=True):
                    old_centers = tf.gather(centers, ids)
                ones = tf.ones_like(places, dtype=counts.dtype)
                more: Any = tf.unsorted_segment_sum(ones, places, number)
                moves: Any = tf.unsorted_segment_sum(x, places, number)
                rest = tf.ones(tf.reshape(tf.rank(x) - 1, [1]), dtype=dtypes.int32)
                shape = tf.concat([tf.reshape(number, [1]), rest], 0)
                moves -= tf.cast(tf.reshape(more, shape), x.dtype) * old_centers
                rate = tf.reciprocal(tf.cast(old_counts + more, x.dtype))
                moves *= tf.reshape(rate, shape)
            updates += [tf.scatter_add(counts, ids, more), tf.scatter_add(centers, ids, moves)]
        return tf.group(*updates)

    def _full_step(self, inputs: list[Any], num_clusters: Any, clusters: Any, centers: Any) -> Any:
        """Moves centers to the means of their points."""
        sums, counts = [], []
        epsilon: Any = tf.constant(_EPSILON, dtype=inputs[0].dtype)
        for x, indices in zip(inputs, clusters):
            with colocate_with(x, ignore_existing=True):
                sums.append(tf.unsorted_segment_sum(x, indices, num_clusters))
                ones = tf.ones(tf.reshape(tf.shape(x)[0], [-1]))
                ones = tf.reshape(ones, [-1, 1])
                counts.append(tf.unsorted_segment_sum(ones, indices, num_clusters))
        with colocate_with(centers, ignore_existing=True):
            new = tf.add_n(sums) / (tf.cast(tf.add_n(counts), sums[0].dtype) + epsilon)
            if self._keeps_unit_centers:
                new = l2_normalize(new, dim=1)
        return tf.assign(centers, new)
