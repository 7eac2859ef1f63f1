# SPDX-License-Identifier: Apache-2.0
"""What models of time series compute: densities, powers and blocks of matrices, covariances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import Dimension, TensorShape
from ....ops.nn.activation import softsign
from ....ops.public import tf
from ..layers.dense import fully_connected
from ..structures import Structure
from .input_statistics import InputStatistics, InputStatisticsFromMiniBatch, Moments
from .state_tables import TensorValuedMutableDenseHashTable, TupleOfTensorsLookup

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

__all__ = [
    "InputStatistics",
    "InputStatisticsFromMiniBatch",
    "Moments",
    "TensorValuedMutableDenseHashTable",
    "TupleOfTensorsLookup",
]


def normal_log_prob(loc: Structure, scale: Structure, x: Structure) -> Any:
    """The log density of normal numbers, as TensorFlow has it: of `scale` the log is halved."""
    z = (x - loc) / scale
    return -0.5 * (tf.square(z) + np.log(2.0 * np.pi) + tf.log(scale))


def cauchy_log_prob(loc: Structure, scale: Structure, x: Structure) -> Any:
    """The log density of Cauchy's distribution."""
    z = (x - loc) / scale
    return -np.log(np.pi) - tf.log(scale) - tf.log1p(tf.square(z))


def mvn_tril_log_prob(loc: Structure, scale_tril: Structure, x: Structure) -> Any:
    """The log density of normal vectors, by the lower triangular factor of the covariance."""
    z = tf.matrix_triangular_solve(scale_tril, (x - loc)[..., tf.newaxis])[..., 0]
    log_determinant = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(scale_tril)), axis=-1)
    size = tf.cast(tf.shape(scale_tril)[-1], log_determinant.dtype)
    squares = tf.reduce_sum(tf.square(z), axis=-1)
    return -0.5 * (squares + size * np.log(2.0 * np.pi) + log_determinant)


def clip_covariance(
    covariance_matrix: Structure, maximum_variance_ratio: float, minimum_variance: float
) -> Tensor:
    """Covariances whose variances are neither too small nor too different from each other."""
    diagonal = tf.matrix_diag_part(covariance_matrix)
    largest = tf.reduce_max(diagonal, axis=-1, keepdims=True)
    raised = tf.maximum(diagonal, largest / maximum_variance_ratio)
    return tf.matrix_set_diag(covariance_matrix, tf.maximum(raised, minimum_variance))


def block_diagonal(
    matrices: Sequence[Any], dtype: Any = dtypes.float32, name: str = "block_diagonal"
) -> Tensor:
    """A matrix with matrices on its diagonal, and 0 elsewhere; batches of such, too."""
    blocks = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    rows, columns, batch = Dimension(0), Dimension(0), TensorShape(None)
    for block in blocks:
        shape = block.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        rows, columns = rows + shape[-2], columns + shape[-1]
    widths = [tf.shape(block)[-1] for block in blocks]
    total = tf.add_n(widths)
    before: Structure = 0
    padded = []
    for block, width in zip(blocks, widths):
        none = tf.zeros([tf.rank(block) - 1, 2], dtype=dtypes.int32)
        sides = tf.concat([none, [(before, total - before - width)]], axis=0)
        padded.append(tf.pad(block, sides))
        before = before + width
    found = tf.concat(padded, -2, name=name)
    found.set_shape(batch.concatenate((rows, columns)))
    return found


def power_sums_tensor(
    array_size: Structure, power_matrix: Structure, multiplier: Structure
) -> Tensor:
    """For every i below `array_size`, the sum of A**j B (A**j)' over j below i."""
    count = tf.cast(array_size, dtypes.int32)
    power = convert_to_tensor(power_matrix)
    identity = tf.eye(tf.shape(power)[0], dtype=power.dtype)
    identity.set_shape(power.shape)
    powers = tf.scan(
        lambda previous, _: tf.matmul(previous, power), tf.range(count - 1), initializer=identity
    )
    terms = tf.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    summed = tf.cumsum(tf.concat([tf.expand_dims(multiplier, 0), terms], 0))
    return tf.concat([tf.expand_dims(tf.zeros_like(multiplier), 0), summed], 0)


def matrix_to_powers(matrix: Structure, powers: Structure) -> Tensor:
    """One matrix to several powers, integers of 0 or more."""
    tiled = tf.tile(tf.expand_dims(matrix, 0), [tf.size(powers), 1, 1])
    return batch_matrix_pow(tiled, powers)


def batch_matrix_pow(matrices: Structure, powers: Structure) -> Tensor:
    """Matrices [n, m, m], each to its power [n], by repeated squaring."""
    matrices = convert_to_tensor(matrices)
    powers = tf.cast(powers, dtypes.int32)
    one = tf.expand_dims(tf.diag(tf.ones([tf.shape(matrices)[1]], dtype=matrices.dtype)), 0)
    ones = tf.tile(one, [tf.shape(matrices)[0], 1, 1])

    def goes_on(argument: Structure, residual: Structure, found: Structure) -> Any:
        return tf.reduce_any(residual > 1)

    def body(
        argument: Structure, residual: Structure, found: Structure
    ) -> tuple[Tensor, Tensor, Tensor]:
        is_even = tf.equal(residual % 2, tf.zeros_like(residual))
        times = tf.where(is_even, found, tf.matmul(found, argument))
        updates = residual > 1
        return (
            tf.where(updates, tf.matmul(argument, argument), argument),
            tf.where(updates, (residual - residual % 2) // 2, residual),
            tf.where(updates, times, found),
        )

    argument, residual, found = tf.while_loop(goes_on, body, [matrices, powers, ones])
    is_zero = tf.equal(residual, tf.zeros_like(residual))
    return tf.where(is_zero, ones, tf.matmul(argument, found))


def batch_times_matrix(
    batch: Structure, matrix: Structure, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    """Every matrix of a batch [n, a, b] times one matrix; either may be turned before."""
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    if batch.shape.ndims != 3 or matrix.shape.ndims != 2:
        raise AssertionError(f"expected ranks 3 and 2, got shapes {batch.shape}, {matrix.shape}")
    if adj_x:
        batch = tf.transpose(batch, [0, 2, 1])
    shape = tf.shape(batch)
    kept = [batch.shape[i].value if batch.shape[i].value is not None else shape[i] for i in (0, 1)]
    axis = 0 if adj_y else 1
    columns = matrix.shape[axis].value
    columns = tf.shape(matrix)[axis] if columns is None else columns
    flat = tf.reshape(batch, [-1, shape[2]])
    return tf.reshape(tf.matmul(flat, matrix, adjoint_b=adj_y), [*kept, columns])


def matrix_times_batch(
    matrix: Structure, batch: Structure, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    """One matrix times every matrix of a batch [n, a, b]; either may be turned before."""
    turned = batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x)
    return tf.transpose(turned, [0, 2, 1])


def make_toeplitz_matrix(inputs: Structure, name: str | None = None) -> Tensor:
    """The symmetric matrix of blocks [n, m, m], whose block i, j is number |i - j|."""
    count, size = tf.shape(inputs)[0], tf.shape(inputs)[1]
    lags = tf.reshape(tf.range(count), [1, -1])
    blocks = tf.gather(inputs, tf.abs(lags - tf.transpose(lags)))
    flat = tf.reshape(tf.transpose(blocks, [0, 2, 1, 3]), [size * count, size * count])
    return tf.identity(flat, name=name)


def sign_magnitude_positive_definite(
    raw: Structure, off_diagonal_scale: Structure = 0.0, overall_scale: Structure = 0.0
) -> Any:
    """Positive definite matrices of any numbers [..., n, n], for covariances that are learned.

    Args:
        raw: logs of variances on the diagonal; above it logs of sizes, and below it the signs.
        off_diagonal_scale: what is added to the logs that are not on the diagonal.
        overall_scale: what is added to all logs.
    """
    raw = convert_to_tensor(raw)

    def padded(tensor: Structure, rank: Structure) -> Tensor:
        tensor = convert_to_tensor(tensor, dtype=raw.dtype.base_dtype)
        ones = tf.ones([rank - tf.rank(tensor)], dtype=rank.dtype)
        return tf.reshape(tensor, tf.concat([tf.shape(tensor), ones], axis=0))

    rank, diagonal = tf.rank(raw), tf.matrix_diag_part(raw)
    logs = raw + padded(off_diagonal_scale, rank) + padded(overall_scale, rank)
    signed = tf.exp(logs / 2.0) * softsign(tf.matrix_transpose(raw))
    signed.set_shape(raw.shape)
    factor = tf.matrix_set_diag(
        tf.matrix_band_part(signed, 0, -1),
        tf.exp((diagonal + padded(overall_scale, tf.rank(diagonal))) / 2.0),
    )
    return tf.matmul(factor, factor, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Structure, matrix_size: int) -> Any:
    """Covariances [..., n, n] that are learned as functions of vectors [..., m]."""
    made = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    shape = tf.concat([tf.shape(made)[:-1], [matrix_size, matrix_size]], 0)
    raw = tf.reshape(made[..., :-2], shape)
    return sign_magnitude_positive_definite(raw, made[..., -2], made[..., -1])


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: Any,
    initial_diagonal_values: Structure = None,
    initial_overall_scale_log: Structure = 0.0,
) -> Tensor:
    """A covariance [size, size] that is learned.

    Args:
        size: how many rows it has.
        name: how the names of its variables begin.
        dtype: its type.
        initial_diagonal_values: variances at the beginning; 1 if None.
        initial_overall_scale_log: what is added to the logs at the beginning.
    """
    zeros = tf.zeros_initializer()
    raw = tf.get_variable(
        f"{name}_pre_transform", dtype=dtype, shape=[size, size], initializer=zeros
    )
    if initial_diagonal_values is not None:
        raw = raw + tf.matrix_diag(tf.log(initial_diagonal_values))
    off_diagonal = tf.get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype=dtype)
    )
    overall = convert_to_tensor(initial_overall_scale_log, dtype=dtype) + tf.get_variable(
        f"{name}_overall_scale", dtype=dtype, shape=[], initializer=zeros
    )
    found = sign_magnitude_positive_definite(raw, off_diagonal, overall)
    return tf.identity(found, name=name)


def batch_start_time(times: Structure) -> Any:
    """The first time of each window."""
    return times[:, 0]


def batch_end_time(times: Structure) -> Any:
    """The last time of each window."""
    return times[:, -1]


def log_noninformative_covariance_prior(covariance: Structure) -> Any:
    """The log density of Jeffreys' prior of covariances, without its constant."""
    size = tf.shape(covariance)[0]
    covariance = covariance + tf.diag(1e-8 * tf.ones(shape=[size], dtype=covariance.dtype))
    power = -(tf.cast(size + 1, covariance.dtype) / 2.0)
    return power * tf.log(tf.matrix_determinant(covariance))


def entropy_matched_cauchy_scale(covariance: Structure) -> Any:
    """The scales of Cauchy's distributions that are as uncertain as normal ones."""
    return tf.sqrt(math.e / (8.0 * math.pi) * tf.matrix_diag_part(covariance))


def replicate_state(start_state: Structure, batch_size: Structure) -> Any:
    """A state as often as a batch needs it."""

    def repeated(tensor: Structure) -> Tensor:
        ones = tf.ones([tf.rank(tensor)], dtype=dtypes.int32)
        return tf.tile(tf.expand_dims(tensor, 0), tf.concat([[batch_size], ones], 0))

    return nest.map_structure(repeated, start_state)
