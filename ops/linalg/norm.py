# SPDX-License-Identifier: Apache-2.0
"""Identity matrices and norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf
from .decompose import raw_svd

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


@export("eye", "linalg.eye")
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Matrices with ones on the diagonal and zeros elsewhere.

    Args:
        num_rows: an integer, or an int32 scalar.
        num_columns: the same; as many as rows by default.
        batch_shape: the sizes in front of them, none by default.
        dtype: of the result.
        name: the scope of the operations.

    Returns:
        A Tensor of shape batch_shape + [num_rows, num_columns].

    Raises:
        TypeError: `dtype` is no dtype.
        ValueError: a number is known to be negative.

    Example:
        >>> tf.Session().run(tf.eye(2, 3))
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, default_name="eye", values=[num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor):
            size = tf.minimum(num_rows, num_columns)
        else:
            if not all(isinstance(n, (int, np.integer)) for n in (num_rows, num_columns)):
                raise TypeError("num_rows and num_columns must be positive integer values.")
            is_square = num_rows == num_columns
            size = min(num_rows, num_columns)
        if isinstance(batch_shape, Tensor) or isinstance(size, Tensor):
            batch_shape = convert_to_tensor(batch_shape, name="shape", dtype=dtypes.int32)
            diagonal_shape = tf.concat((batch_shape, [size]), axis=0)
            if not is_square:
                shape = tf.concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            diagonal_shape = [*batch_shape, size]
            shape = [*batch_shape, num_rows, num_columns]
        ones = tf.ones(diagonal_shape, dtype=dtype)
        if is_square:
            return tf.matrix_diag(ones)
        return tf.matrix_set_diag(tf.zeros(shape, dtype=dtype), ones)


def _check_norm(ord: Any, axis: Any, is_matrix: bool) -> None:
    if is_matrix:
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        supported = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in supported:
            raise ValueError(f"'ord' must be a supported matrix norm in {supported}, got {ord}")
        return
    if not (isinstance(axis, int) or axis is None):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    if ord not in ("euclidean", 1, 2, np.inf) and (not np.isreal(ord) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _spectral_norm(tensor: Tensor, axis: tuple[int, int]) -> Tensor:
    """The largest singular value over two axes, which stay as ones."""
    rank = tf.rank(tensor)
    # The two axes go last, where Svd finds its matrices.
    chosen = (convert_to_tensor(axis) + rank) % rank
    perm = tf.concat([tf.setdiff1d(tf.range(rank), chosen)[0], chosen], axis=0)
    values = tf.abs(raw_svd(tf.transpose(tensor, perm=perm), compute_uv=False)[0])
    largest = tf.expand_dims(tf.reduce_max(values, axis=-1, keepdims=True), axis=-1)
    return tf.transpose(largest, perm=tf.invert_permutation(perm))


def _abs_norm(tensor: Tensor, ord: float, axis: Any, is_matrix: bool) -> Any:
    result = tf.abs(tensor)
    first = None if axis is None else axis[0]
    if ord == 1:
        result = tf.reduce_sum(result, first, keepdims=True)
        return tf.reduce_max(result, axis[-1], keepdims=True) if is_matrix else result
    if ord == np.inf:
        if is_matrix:
            result = tf.reduce_sum(result, axis[1], keepdims=True)
        return tf.reduce_max(result, first, keepdims=True)
    total = tf.reduce_sum(tf.pow(result, ord), axis, keepdims=True)
    return tf.pow(total, 1.0 / ord)


@export("norm", "linalg.norm")
def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors, of matrices or of all elements.

    Args:
        tensor: a tensor of floating-point or complex numbers.
        ord: "euclidean" or 2, 1, np.inf, any positive number; of matrices "fro", 1, 2 or np.inf.
        axis: an integer: of the vectors along it; a pair: of matrices; None: of all elements.
        keepdims: whether the axes stay, with size 1; they do not by default.
        name: the scope of the operations.
        keep_dims: the old name of `keepdims`.

    Returns:
        A Tensor of that dtype without the axes.

    Raises:
        TypeError: the elements are integers.
        ValueError: there is no such norm or axis.

    Example:
        >>> tf.Session().run([tf.norm([[3.0, 4.0]]), tf.norm([[3.0, -4.0]], ord=1, axis=1)])
        [np.float32(5.0), array([7.], dtype=float32)]
    """
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    axis = tuple(axis) if is_matrix else axis
    _check_norm(ord, axis, is_matrix)
    axis = (axis,) if not is_matrix and axis is not None else axis
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if is_matrix and ord == 2:
            result = _spectral_norm(tensor, axis)
        elif ord in ("fro", "euclidean", 2):
            result = tf.sqrt(tf.reduce_sum(tensor * tf.conj(tensor), axis, keepdims=True))
        else:
            result = _abs_norm(tensor, ord, axis, is_matrix)
        return result if keepdims else tf.squeeze(result, axis)


@export("linalg.normalize")
def normalize(
    tensor: TensorLike,
    ord: str = "euclidean",
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The tensor divided by its norm, and the norm."""
    with name_scope(name, "normalize", [tensor]) as name:
        tensor = convert_to_tensor(tensor)
        length = tf.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / length, length
