# SPDX-License-Identifier: Apache-2.0
"""Mixtures of normal distributions, fitted by expectation and maximization."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.scope_functions import colocate_with
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

FULL_COVARIANCE, DIAG_COVARIANCE = "full", "diag"
_EPSILON = np.finfo(float).eps
_LEAST_VARIANCE = 1e-3


def _covariance(x: Any, diag: bool) -> Any:
    """The covariance of points [n, size]: a matrix, or its diagonal as a row."""
    count = tf.cast(tf.shape(x)[0], dtypes.float32)
    x = x - tf.reduce_mean(x, 0, keepdims=True)
    if diag:
        return tf.reduce_sum(tf.square(x), 0, keepdims=True) / (count - 1)
    return tf.matmul(x, x, transpose_a=True) / (count - 1)


def _init_clusters_random(data: list[Any], num_clusters: int, random_seed: int) -> Any:
    """Some of the points, drawn."""
    count: Any = tf.add_n([tf.shape(part)[0] for part in data])
    with tf.control_dependencies([tf.assert_less_equal(num_clusters, count)]):
        most = tf.cast(count, dtypes.int64)
        drawn: Any = tf.random_uniform(
            [num_clusters], minval=0, maxval=most, seed=random_seed, dtype=dtypes.int64
        )
    return embedding_lookup(data, drawn % most, partition_strategy="div")


@export("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """The graph of a mixture of normal distributions (tf.contrib.factorization.GmmAlgorithm).

    Args:
        data: a list of float32 tensors [n, size].
        num_classes: of how many distributions.
        initial_means: a tensor [num_classes, size]; points that are drawn if None.
        params: what a step changes: "w" (weights), "m" (means) and "c" (covariances).
        covariance_type: "full" or "diag".
        random_seed: of what is drawn.

    Raises:
        Exception: there is no such covariance.

    Example:
        >>> points = tf.constant([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]])
        >>> mixture = tf.contrib.factorization.GmmAlgorithm([points], 2, points[1:3])
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     sess.run(mixture.init_ops())
        ...     for _ in range(9):
        ...         sess.run(mixture.training_ops())
        ...     np.round(sess.run(mixture.clusters())[:, 0], 1)
        array([[0. , 0.5],
               [9. , 8.5]], dtype=float32)
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: list[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int = 0,
    ) -> None:
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params, self._random_seed = params, random_seed
        self._is_full = covariance_type == FULL_COVARIANCE
        self._num_classes = num_classes
        self._dimensions: Any = tf.shape(data[0])[1]
        ones: Any = tf.diag(tf.ones(tf.stack([self._dimensions])))
        self._min_var = ones * _LEAST_VARIANCE
        self._create_variables()
        self._initialize_variables(data, initial_means)
        self._define_graph(data)

    def _create_variables(self) -> None:
        nothing = tf.constant([], dtype=dtypes.float32)
        self._means = tf.Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = tf.Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        equal = tf.tile([1.0 / self._num_classes], [self._num_classes])
        self._alpha = tf.Variable(equal, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._is_begun = tf.Variable(False, dtype=dtypes.bool, name="initialized")

    def _initialize_variables(self, data: list[Any], initial_means: Any) -> None:
        if initial_means is None:
            initial_means = _init_clusters_random(data, self._num_classes, self._random_seed)
        means = tf.expand_dims(initial_means, 1)
        cov = _covariance(data[0], not self._is_full) + self._min_var
        if self._is_full:
            covs = tf.tile(tf.expand_dims(cov, 0), [self._num_classes, 1, 1])
        else:
            covs = tf.tile(tf.expand_dims(tf.diag_part(cov), 0), [self._num_classes, 1])
        with colocate_with(self._is_begun):
            is_begun = with_dependencies([means, covs], tf.identity(self._is_begun))
        self._init_ops = []
        for variable, value in ((self._means, means), (self._covs, covs)):
            with colocate_with(variable):
                assigned = tf.assign(variable, value, validate_shape=False)
                begun = with_dependencies([assigned], tf.assign(self._is_begun, True))
                begin: Any = tf.cond(is_begun, tf.no_op, functools.partial(tf.identity, begun))
                self._init_ops.append(begin.op)

    def init_ops(self) -> Operation:
        """An operation that sets the means and covariances to begin with."""
        return tf.group(*self._init_ops)

    def training_ops(self) -> Operation:
        """An operation that makes a step."""
        return tf.group(*self._train_ops)

    def is_initialized(self) -> Variable:
        """Whether there are means to begin with: a variable."""
        return self._is_begun

    def alphas(self) -> Variable:
        """The distributions' weights: a variable [num_classes]."""
        return self._alpha

    def clusters(self) -> Variable:
        """The means: a variable [num_classes, 1, size]."""
        return self._means

    def covariances(self) -> Variable:
        """The covariances: a variable [num_classes, size, size], or [num_classes, size]."""
        return self._covs

    def assignments(self) -> list[Any]:
        """The likeliest distribution of each point, by parts of the data."""
        return [tf.argmax(w, 1) for w in self._w]

    def scores(self) -> Tensor:
        """The logarithm of the likelihood of each point."""
        return self._scores

    def log_likelihood_op(self) -> Any:
        """The logarithm of the likelihood of all points: a scalar."""
        return self._log_likelihood_op

    def _define_graph(self, data: list[Any]) -> None:
        self._w: list[Any] = []
        self._prior_probs: list[Any] = []
        points, sums, squares = [], [], []
        for part in data:
            count, part = tf.shape(part)[0], tf.expand_dims(part, 0)
            log: Any = tf.log(self._alpha)
            probs = self._log_probs(part) + log
            prior = tf.reduce_logsumexp(probs, axis=1, keepdims=True)
            expanded: Any = tf.expand_dims(probs, 0)
            share = tf.exp(expanded - prior)
            w = tf.reshape(share, tf.stack([count, self._num_classes]))
            self._w.append(w)
            self._prior_probs.append(prior)
            points.append(tf.reduce_sum(w, 0, keepdims=True))
            flat = tf.squeeze(part, [0])
            sums.append(tf.expand_dims(tf.matmul(w, flat, transpose_a=True), 1))
            squares.append(self._squares(part, w))
        self._define_maximization(points, sums, squares)
        likelihoods = [tf.reduce_logsumexp(prior) for prior in self._prior_probs]
        self._log_likelihood_op = tf.reduce_logsumexp(likelihoods)
        each = [prior + tf.log(w) for prior, w in zip(self._prior_probs, self._w)]
        self._scores = tf.squeeze(tf.reduce_logsumexp(each, axis=2, keepdims=True), axis=0)

    def _log_probs(self, part: Any) -> Any:
        """The logarithm of each distribution's density at points [1, n, size]: [n, num_classes]."""
        scale: Any = tf.cast(self._dimensions, dtypes.float32)
        if not self._is_full:
            covs: Any = self._covs
            spread = covs + _LEAST_VARIANCE
            det: Any = tf.reduce_sum(tf.log(spread), 1, keepdims=True)
            away = tf.matmul(
                tf.squared_difference(part, self._means), tf.expand_dims(1.0 / spread, 2)
            )
            away = tf.transpose(tf.squeeze(away, [2]))
            return -0.5 * (scale * tf.log(2.0 * np.pi) + tf.transpose(det) + away)
        root: Any = tf.cholesky(self._covs + self._min_var)
        det = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(root)), 1)
        away = tf.transpose(part - self._means, perm=[0, 2, 1])
        away = tf.square(tf.matrix_triangular_solve(root, away, lower=True))
        away = tf.transpose(tf.reduce_sum(away, 1))
        return -0.5 * (away + scale * tf.log(2 * np.pi) + det)

    def _squares(self, part: Any, w: Any) -> Any:
        """The weighted sums of points' outer products, by distributions."""
        x = tf.concat([part] * self._num_classes, 0)
        turned: Any = tf.transpose(x, perm=[0, 2, 1])
        weighted = [tf.expand_dims(turned[k, :, :] * w[:, k], 0) for k in range(self._num_classes)]
        return tf.matmul(tf.concat(weighted, 0), x)

    def _define_maximization(self, points: list[Any], sums: list[Any], squares: list[Any]) -> None:
        with tf.control_dependencies(self._w):
            counts: Any = tf.squeeze(tf.add_n(points), axis=[0])
            update = tf.no_op()
            if "w" in self._params:
                share = counts / len(points)
                total: Any = tf.cast(tf.reduce_sum(share), dtypes.float32)
                update = self._alpha.assign(share / (total + _EPSILON))
            self._train_ops = [update]
            counts = tf.reshape(counts, [self._num_classes, 1, 1])
            means = tf.no_op()
            if "m" in self._params:
                means = self._means.assign(tf.div(tf.add_n(sums), counts + _EPSILON))
            with tf.control_dependencies([means]):
                covs = self._new_covariances(tf.add_n(squares) / (counts + _EPSILON))
                if "c" in self._params:
                    with tf.control_dependencies([means, covs]):
                        self._train_ops.append(tf.assign(self._covs, covs, validate_shape=False))

    def _new_covariances(self, squares: Any) -> Tensor:
        found = []
        for k in range(self._num_classes):
            mean = self._means.value()[k, :, :]
            cov = squares[k, :, :] - tf.matmul(mean, mean, transpose_a=True) + self._min_var
            found.append(tf.expand_dims(cov if self._is_full else tf.diag_part(cov), 0))
        return tf.concat(found, 0)


@export("contrib.factorization.gmm")
def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Any, ...]:
    """The graph of a mixture of normal distributions.

    Args:
        inp: a float32 tensor [n, size], or a list of some.
        initial_clusters: "random", or the means [num_clusters, size].
        num_clusters: of how many distributions.
        random_seed: of what is drawn.
        covariance_type: "full" or "diag".
        params: what a step changes: "w" (weights), "m" (means) and "c" (covariances).

    Returns:
        The logarithms of the likelihood of all points and of each; a list of lists of points'
        distributions; an operation that makes a step, and one that is run before the first; and
        whether that was run.
    """
    means: TensorLike | None = None
    is_random = isinstance(initial_clusters, str) and initial_clusters == "random"
    # (A tensor is not used, as in TensorFlow.)
    if not is_random and not isinstance(initial_clusters, Tensor):
        means = tf.constant(initial_clusters, dtype=dtypes.float32)
    data = inp if isinstance(inp, list) else [inp]
    tool = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        *(tool.log_likelihood_op(), tool.scores(), [tool.assignments()]),
        *(tool.training_ops(), tool.init_ops(), tool.is_initialized()),
    )
