# SPDX-License-Identifier: Apache-2.0
"""The first centers of clusters: given, drawn, or the choice of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.graph.scope_functions import control_dependencies
from ....engine.record_class import record
from ....engine.types import dtypes
from ....ops.nn.embedding import embedding_lookup
from ....ops.nn.norm import l2_normalize
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


@record
class InitialClusters:
    """Adds centers until there are as many as wanted."""

    inputs: list[Any]
    num_clusters: Any
    chosen: Any
    distance_metric: str
    random_seed: int
    num_retries: int
    chain_length: int
    centers: Any
    centers_updated: Any
    is_initialized: Any

    def op(self) -> Any:
        """Adds what centers it can, and notes when there are enough."""
        self.selected = tf.shape(self.centers)[0]
        self.remaining: Any = self.num_clusters - self.selected
        self.num_data: Any = tf.add_n([tf.shape(x)[0] for x in self.inputs])
        return tf.cond(
            tf.equal(self.remaining, 0),
            lambda: tf.assert_equal(self.is_initialized, True),
            self._initialize,
        )

    def _initialize(self) -> Any:
        with control_dependencies([tf.assert_positive(self.remaining)]):
            if isinstance(self.chosen, str) and self.chosen == KMC2_INIT:
                left = self._chains()
            else:
                left = self._add()
            done = tf.equal(left, 0)
            return tf.cond(done, lambda: tf.assign(self.is_initialized, True), tf.no_op)

    def _normalized(self, x: Any) -> Any:
        return l2_normalize(x, dim=1) if self.distance_metric == COSINE_DISTANCE else x

    def _assign(self, centers: object) -> Any:
        """Keeps centers, and returns how many are missing."""
        kept = tf.assign(self.centers, centers, validate_shape=False)
        if self.centers_updated is not self.centers:
            kept = tf.assign(self.centers_updated, kept, validate_shape=False)
        return self.num_clusters - tf.shape(kept)[0]

    def _add(self) -> Any:
        new = self._normalized(self._choose())
        every = tf.cond(
            tf.equal(self.selected, 0), lambda: new, lambda: tf.concat([self.centers, new], 0)
        )
        return self._assign(every)

    def _choose(self) -> Any:
        if isinstance(self.chosen, str) and self.chosen == RANDOM_INIT:
            is_all = self.num_data <= self.remaining
            return tf.cond(is_all, lambda: tf.concat(self.inputs, 0), self._random)
        if isinstance(self.chosen, str):
            with control_dependencies([tf.assert_greater_equal(self.num_data, self.remaining)]):
                return self._plus_plus()
        if callable(self.chosen):
            return self.chosen(self.inputs, self.remaining)
        given = tf.shape(self.chosen)[0]
        with control_dependencies([tf.assert_equal(self.remaining, given)]):
            return self.chosen

    def _random(self) -> Any:
        indices = tf.random_uniform(
            tf.reshape(self.remaining, [-1]),
            minval=0,
            maxval=tf.cast(self.num_data, dtypes.int64),
            seed=self.random_seed,
            dtype=dtypes.int64,
        )
        return embedding_lookup(self.inputs, indices, partition_strategy="div")

    def _plus_plus(self) -> Tensor:
        points = self._normalized(self.inputs[0])
        count = tf.cast(self.remaining, dtypes.int64)
        return raw.KmeansPlusPlusInitialization(points, count, self.random_seed, self.num_retries)

    def _chains(self) -> Any:
        """One center after another by a Markov chain along a part of the first input."""
        first = self.inputs[0]
        length = self.chain_length
        most = tf.cast(tf.shape(first)[0] / length, dtype=dtypes.int32)
        count = tf.maximum(tf.minimum(self.remaining, most), 1)

        def center_of(i: Any) -> Callable[[], Any]:
            def by_chain() -> Tensor:
                part = first[i * length : i * length + length]
                _, distances = raw.NearestNeighbors(part, self.centers, 1)
                index = raw.KMC2ChainInitialization(tf.squeeze(distances), self.random_seed)
                new = self._normalized(tf.reshape(part[index], [1, -1]))
                return tf.concat([self.centers, new], 0)

            return by_chain

        def body(i: Any, left: Any) -> tuple[Any, Any]:
            del left
            new = tf.cond(
                tf.equal(self.selected, 0),
                lambda: self._normalized(tf.reshape(first[0], [1, -1])),
                center_of(i),
            )
            return i + 1, self._assign(new)

        return tf.while_loop(lambda i, _: tf.less(i, count), body, [0, 0])[1]
