# SPDX-License-Identifier: Apache-2.0
"""Wishart's distribution of positive definite matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.control import with_dependencies
from ....ops.distributions.distribution import Distribution
from ....ops.linalg.operators.diagonal import LinearOperatorLowerTriangular
from ....ops.linalg.operators.operator import LinearOperator
from ....ops.public import tf
from .distribution_util import assert_symmetric, gen_new_seed

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _WishartLinearOperator(Distribution):
    """The distribution of X X^T for df columns of normal vectors with a scale operator."""

    def __init__(
        self,
        df: TensorLike,
        scale_operator: LinearOperator,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        self._cholesky_input_output_matrices = cholesky_input_output_matrices
        with name_scope(name) as name, name_scope("init", values=[df]):
            if not scale_operator.dtype.is_floating:
                raise TypeError(
                    f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type"
                )
            if not scale_operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._scale_operator = scale_operator
            self._df = convert_to_tensor(df, dtype=scale_operator.dtype, name="df")
            self._dimension = self._size()
            self._check_df(validate_args)
        parents = [self._df, self._dimension, *scale_operator.graph_parents]
        self._complete(parameters, parents, name, scale_operator.dtype, True)

    def _size(self) -> Tensor:
        operator = self._scale_operator
        size = dimension_value(operator.domain_dimension)
        if size is None:
            dynamic = operator.domain_dimension_tensor()
            return tf.cast(dynamic, dtype=operator.dtype, name="dimension")
        return convert_to_tensor(size, dtype=operator.dtype, name="dimension")

    def _check_df(self, validate_args: bool) -> None:
        known, size = constant_value(self._df), constant_value(self._dimension)
        text = "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix "
        text += "(scale.dimension = {})"
        if known is not None and size is not None:
            if np.any(np.asarray(known) < size):
                raise ValueError(text.format(np.atleast_1d(known), size))
        elif validate_args:
            message = text.format(self._dimension, self._df)
            check = tf.assert_less_equal(self._dimension, self._df, message=message)
            self._df = with_dependencies([check], self._df)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    def _square_scale(self) -> Tensor:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self) -> Tensor:
        """The scale matrix, or its Cholesky factor."""
        if self._cholesky_input_output_matrices:
            return self.scale_operator.to_dense()
        return self._square_scale()

    @property
    def scale_operator(self) -> LinearOperator:
        """The Cholesky factor of the scale matrix as an operator."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices are given and drawn as their Cholesky factors."""
        return self._cholesky_input_output_matrices

    @property
    def dimension(self) -> Tensor:
        """The number of rows."""
        return self._dimension

    def _event_shape_tensor(self) -> Tensor:
        size = self.scale_operator.domain_dimension_tensor()
        return tf.stack([size, size])

    def _event_shape(self) -> TensorShape:
        return TensorShape([self.scale_operator.domain_dimension] * 2)

    def _batch_shape_tensor(self) -> Tensor:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = tf.shape(batch)[0] + 3
        normal = tf.random_normal(
            shape=tf.concat([[n], batch, event], 0),
            mean=0.0,
            stddev=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        df = self.df * tf.ones(batch, dtype=self.df.dtype.base_dtype)
        # Bartlett's decomposition: normal numbers below the diagonal, on it roots of chi-square.
        squares = tf.random_gamma(
            shape=[n],
            alpha=self._multi_gamma_sequence(0.5 * df, self.dimension),
            beta=0.5,
            dtype=self.dtype,
            seed=gen_new_seed(seed, "wishart"),
        )
        x = tf.matrix_set_diag(tf.matrix_band_part(normal, -1, 0), tf.sqrt(squares))
        x = tf.transpose(x, tf.concat([tf.range(1, rank), [0]], 0))
        x = tf.reshape(x, tf.concat([batch, [event[0]], [-1]], 0))
        x = self.scale_operator.matmul(x)
        x = tf.reshape(x, tf.concat([batch, event, [n]], 0))
        x = tf.transpose(x, tf.concat([[rank - 1], tf.range(0, rank - 1)], 0))
        return x if self.cholesky_input_output_matrices else tf.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        root = x if self.cholesky_input_output_matrices else tf.cholesky(x)
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = tf.rank(root)
        samples = rank - tf.shape(batch)[0] - 2
        sample_shape = tf.shape(root)[:samples]
        # Samples become columns of what the operator solves, and go back to the front.
        perm = tf.concat([tf.range(samples, rank), tf.range(0, samples)], 0)
        columns = tf.transpose(root, perm)
        size = tf.cast(self.dimension, dtype=dtypes.int32)
        columns = tf.reshape(columns, tf.concat((batch, (size, -1)), 0))
        solved = self.scale_operator.solve(columns)
        solved = tf.reshape(solved, tf.concat([batch, event, sample_shape], 0))
        perm = tf.concat([tf.range(rank - samples, rank), tf.range(0, rank - samples)], 0)
        solved = tf.transpose(solved, perm)
        trace = tf.reduce_sum(tf.square(solved), axis=[-2, -1])
        half_log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(root)), axis=[-1])
        found = (self.df - self.dimension - 1.0) * half_log_det - 0.5 * trace
        found -= self.log_normalization()
        if x.shape.ndims is not None:
            found.set_shape(x.shape[:-2])
        return found

    def _prob(self, x: Tensor) -> Tensor:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> Tensor:
        half_size, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        return (
            self.dimension * (half_df + half_size * math.log(2.0))
            + 2 * half_size * self.scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df, self.dimension)
            + (half_size - half_df) * self._multi_digamma(half_df, self.dimension)
        )

    def _mean(self) -> Tensor:
        if self.cholesky_input_output_matrices:
            return tf.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square_scale()

    def _variance(self) -> Tensor:
        x = tf.sqrt(self.df) * self._square_scale()
        diagonal = tf.expand_dims(tf.matrix_diag_part(x), -1)
        variance = tf.square(x) + tf.matmul(diagonal, diagonal, adjoint_b=True)
        return tf.cholesky(variance) if self.cholesky_input_output_matrices else variance

    def _stddev(self) -> Tensor:
        if self.cholesky_input_output_matrices:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make "
                "sense."
            )
        return tf.cholesky(self.variance())

    def _mode(self) -> Tensor:
        s = self.df - self.dimension - 1.0
        nan = tf.constant(float("NaN"), dtype=self.dtype, name="nan")
        s = tf.where_v2(tf.less(s, 0.0), nan, s)
        if self.cholesky_input_output_matrices:
            return tf.sqrt(s) * self.scale_operator.to_dense()
        return s * self._square_scale()

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """The mean of the logarithm of the determinant."""
        with self._name_scope(name):
            return (
                self._multi_digamma(0.5 * self.df, self.dimension)
                + self.dimension * math.log(2.0)
                + 2 * self.scale_operator.log_abs_determinant()
            )

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            return (
                self.df * self.scale_operator.log_abs_determinant()
                + 0.5 * self.df * self.dimension * math.log(2.0)
                + self._multi_lgamma(0.5 * self.df, self.dimension)
            )

    def _multi_gamma_sequence(
        self, a: Tensor, p: Tensor, name: str = "multi_gamma_sequence"
    ) -> Tensor:
        """a, a - 1 / 2, ... a - (p - 1) / 2."""
        with self._name_scope(name, values=[a, p]):
            zero = tf.constant(0.0, dtype=self.dtype)
            steps = tf.linspace(zero, 0.5 - 0.5 * p, tf.cast(p, dtypes.int32))
            return steps + tf.expand_dims(a, [-1])

    def _multi_lgamma(self, a: Tensor, p: Tensor, name: str = "multi_lgamma") -> Tensor:
        with self._name_scope(name, values=[a, p]):
            logs = tf.lgamma(self._multi_gamma_sequence(a, p))
            return 0.25 * p * (p - 1.0) * math.log(math.pi) + tf.reduce_sum(logs, axis=[-1])

    def _multi_digamma(self, a: Tensor, p: Tensor, name: str = "multi_digamma") -> Tensor:
        with self._name_scope(name, values=[a, p]):
            return tf.reduce_sum(tf.digamma(self._multi_gamma_sequence(a, p)), axis=[-1])


def _operator(tril: Tensor) -> LinearOperator:
    return LinearOperatorLowerTriangular(
        tril=tril, is_non_singular=True, is_positive_definite=True, is_square=True
    )


@export("contrib.distributions.WishartCholesky")
class WishartCholesky(_WishartLinearOperator):
    """Wishart's distribution by the Cholesky factor of its scale matrix."""

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with name_scope("init", values=[scale]):
                factor = convert_to_tensor(scale)
                if validate_args:
                    shape, diagonal = tf.shape(factor), tf.matrix_diag_part(factor)
                    positive = "scale must be positive definite"
                    checks = [
                        tf.assert_positive(diagonal, message=positive),
                        tf.assert_equal(shape[-1], shape[-2], message="scale must be square"),
                    ]
                    factor = with_dependencies(checks, factor)
            kept = (cholesky_input_output_matrices, validate_args, allow_nan_stats)
            super().__init__(df, _operator(factor), *kept, name)
        self._parameters = parameters


@export("contrib.distributions.WishartFull")
class WishartFull(_WishartLinearOperator):
    """Wishart's distribution by its scale matrix."""

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[scale]):
            matrix: Any = convert_to_tensor(scale)
            matrix = assert_symmetric(matrix) if validate_args else matrix
            factor = tf.cholesky(matrix)
            if validate_args:
                check = tf.assert_positive(tf.matrix_diag_part(factor))
                factor = with_dependencies([check], factor)
        kept = (cholesky_input_output_matrices, validate_args, allow_nan_stats)
        super().__init__(df, _operator(factor), *kept, name)
        self._parameters = parameters
