# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.kernel_methods`: random features in place of kernels, and a loss for many classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.nn.activation import relu
from ...ops.nn.losses_reduction import Reduction, compute_weighted_loss
from ...ops.public import tf


class InvalidShapeError(Exception):
    """A tensor has a shape that a mapper does not take."""


class DenseKernelMapper:
    """Maps rows of features to others."""

    def map(self, input_tensor: Tensor) -> Tensor:
        """The new features."""
        raise NotImplementedError(f"map is not implemented for {self}.")

    @property
    def name(self) -> str:
        """A name of the mapper."""
        raise NotImplementedError(f"name is not implemented for {type(self).__name__}.")

    @property
    def output_dim(self) -> int:
        """The number of new features."""
        raise NotImplementedError(f"output_dim is not implemented for {type(self).__name__}.")


@export("contrib.kernel_methods.RandomFourierFeatureMapper")
class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random cosines, whose products are near exp(-|x - y|^2 / (2 stddev^2)).

    input_dim, output_dim: the numbers of features before and after.  seed: of the random numbers.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ) -> None:
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._stddev = stddev
        self._seed = seed
        self._name = name

    @property
    def name(self) -> str:
        """The name that was given, or a number."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The number of features."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The number of new features."""
        return self._output_dim

    def map(self, input_tensor: Tensor) -> Tensor:
        """The new features of rows; InvalidShapeError for other than `input_dim` columns."""
        shape = input_tensor.shape
        if len(shape) != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {len(shape)} instead."
            )
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} "
                "instead."
            )
        # As TensorFlow 1.15 draws them, without touching the generator that others use.
        draw = np.random.RandomState(self._seed)
        size = (self._input_dim, self._output_dim)
        omega = draw.normal(scale=1.0 / self._stddev, size=size)
        shift = draw.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        product = tf.matmul(input_tensor, tf.constant(omega, dtype=dtypes.float32))
        angles = tf.add(product, tf.constant(shift, dtype=dtypes.float32))
        return math.sqrt(2.0 / self._output_dim) * tf.cos(angles)


@export("contrib.kernel_methods.sparse_multiclass_hinge_loss")
def sparse_multiclass_hinge_loss(
    labels: Tensor,
    logits: Tensor,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """How far the score of the right class is from being above all others by one.

    Args:
        labels: numbers of classes.
        logits: one score for each class, row by row.
        weights: of the rows.
        scope: name of the scope.
        loss_collection: where the loss is put.
        reduction: one of tf.losses.Reduction.

    Returns:
        A Tensor: one number, or one for each row, by the reduction.

    Raises:
        ValueError: a rank or a dtype does not fit.
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as scope:
        if logits.shape.ndims != 2:
            raise ValueError(
                "logits should have rank 2 ([batch_size, num_classes]). Given rank is "
                f"{logits.shape.ndims}"
            )
        rows, classes = tf.shape(logits)[0], tf.shape(logits)[1]
        logits = tf.cast(logits, dtypes.float32)
        labels = _class_numbers(labels, classes)
        weights = _row_weights(weights, labels)
        places = tf.reshape(tf.range(rows), shape=[rows, 1])
        given = tf.reshape(tf.cast(labels, places.dtype), shape=[rows, 1])
        right = tf.gather_nd(params=logits, indices=tf.concat([places, given], axis=1))
        right = tf.reshape(right, shape=[rows, 1])
        others = tf.one_hot(indices=labels, depth=classes, on_value=0.0, off_value=1.0)
        loss = tf.reduce_max(relu(logits - right + others), axis=1)
        return compute_weighted_loss(loss, weights, scope, loss_collection, reduction=reduction)


def _class_numbers(labels: Tensor, classes: Tensor) -> Tensor:
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64"
        )
    if labels.shape.ndims not in (1, 2):
        raise ValueError(
            "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
            f"{labels.shape.ndims}"
        )
    with control_dependencies([tf.assert_less(labels, tf.cast(classes, labels.dtype))]):
        return tf.reshape(labels, shape=[-1])


def _row_weights(weights: object, labels: Tensor) -> Tensor:
    weights = convert_to_tensor(weights)
    rank = weights.shape.ndims
    if rank not in (0, 1, 2):
        raise ValueError(
            "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given "
            f"rank is {rank}"
        )
    if rank > 0:
        weights = tf.reshape(weights, shape=[-1])
        weights.shape.assert_is_compatible_with(labels.shape)
    return weights
