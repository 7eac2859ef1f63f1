# SPDX-License-Identifier: Apache-2.0
"""Diagonals and bands of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import compat as tf_compat
from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.graph import colocate_with
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw, tf
from . import lowered
from .constant import zeros, zeros_like
from .join import concat
from .shape import rank, shape

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NUMBERS = "{bfloat16, half, float32, float64, int32, int64, complex64, complex128}"


def _diag_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.ranked_at_least(c.inputs[0], 1)
    return TensorShape(None if given is None else given * 2)


def _diag(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if not x.ndim:
        raise errors.invalid("Input must be at least rank 1, got 0")
    return np.diag(x.reshape(-1)).reshape(x.shape * 2)


def _gradient_of_diag(op: Operation, grad: Tensor) -> Tensor:
    return diag_part(grad)


_diag_op = define(
    "Diag",
    "diagonal: T -> output: T",
    "T: " + _NUMBERS,
    shape=_diag_shape,
    kernel=_diag,
    lower=lambda b, op, x: lowered.tensor_diagonal(b, x),
    gradient=_gradient_of_diag,
    doc="A tensor on the diagonal of one with twice its dimensions.",
    test={"shapes": [[[3]], [[2, 2]]], "gradient": True},
)


def _diag_part_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    if given is None:
        return shape_inference.unknown()
    if len(given) % 2 or not given:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(given)}")
    half = len(given) // 2
    return TensorShape(
        [shape_inference.merge_dim(p, q) for p, q in zip(given[:half], given[half:])]
    )


def _diag_part(c: KernelContext, x: np.ndarray) -> np.ndarray:
    half = x.ndim // 2
    if x.ndim % 2 or not x.ndim:
        raise errors.invalid(
            f"The rank of the tensor should be even and positive, got {shape_text(x.shape)}"
        )
    if x.shape[:half] != x.shape[half:]:
        raise errors.invalid(
            "Invalid shape " + shape_text(x.shape) + ": dimensions do not match in pairs"
        )
    count = int(np.prod(x.shape[:half], dtype=np.int64))
    return np.diagonal(x.reshape(count, count)).reshape(x.shape[:half]).copy()


def _gradient_of_diag_part(op: Operation, grad: Tensor) -> Tensor:
    return diag(grad)


_diag_part_op = define(
    "DiagPart",
    "input: T -> diagonal: T",
    "T: " + _NUMBERS,
    shape=_diag_part_shape,
    kernel=_diag_part,
    lower=lambda b, op, x: lowered.tensor_diagonal_part(b, x),
    gradient=_gradient_of_diag_part,
    doc="The diagonal of a tensor with an even number of dimensions.",
    test={"shapes": [[[3, 3]], [[2, 3, 2, 3]]], "gradient": True},
)


@export("linalg.tensor_diag", "diag")
def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with `diagonal` on its diagonal and zeros elsewhere."""
    return _diag_op(diagonal, name=name)


@export("linalg.tensor_diag_part", "diag_part")
def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor with an even number of dimensions."""
    return _diag_part_op(input, name=name)


# Batches of matrices


def _matrix_diag_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.ranked_at_least(c.inputs[0], 1)
    return TensorShape(None if given is None else [*given, given[-1]])


def _matrix_diag(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if not x.ndim:
        raise errors.invalid("diagonal must be at least 1-dim, received shape: []")
    out = np.zeros((*x.shape, x.shape[-1]), dtype=x.dtype)
    at = np.arange(x.shape[-1])
    out[..., at, at] = x
    return out


def _matrix_diag_gradient(op: Operation, grad: Tensor) -> Tensor:
    return matrix_diag_part(grad)


_matrix_diag_op = define(
    "MatrixDiag",
    "diagonal: T -> output: T",
    shape=_matrix_diag_shape,
    kernel=_matrix_diag,
    lower=lambda b, op, x: lowered.matrices(b, x),
    gradient=_matrix_diag_gradient,
    doc="Square matrices with the given diagonals.",
    test={"shapes": [[[3]], [[2, 3]]], "gradient": True},
)


def _shorter(given: shape_inference.Dims) -> int | None:
    """The smaller of the last two sizes, where both are known."""
    rows, columns = given[-2:]
    return None if rows is None or columns is None else min(rows, columns)


def _matrix_diag_part_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.ranked_at_least(c.inputs[0], 2)
    if given is None:
        return shape_inference.unknown()
    return TensorShape([*given[:-2], _shorter(given)])


def _matrix_diag_part(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if x.ndim < 2:
        raise errors.invalid(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")
    return np.diagonal(x, axis1=-2, axis2=-1).copy()


def _matrix_diag_part_gradient(op: Operation, grad: Tensor) -> Tensor:
    static = op.inputs[0].get_shape()[-2:]
    # MatrixDiag can only make square matrices.
    if static.is_fully_defined() and static[0] == static[1]:
        return matrix_diag(grad)
    return matrix_set_diag(zeros_like(op.inputs[0]), grad)


_matrix_diag_part_op = define(
    "MatrixDiagPart",
    "input: T -> diagonal: T",
    shape=_matrix_diag_part_shape,
    kernel=_matrix_diag_part,
    lower=lambda b, op, x: lowered.main_diagonal(b, x),
    gradient=_matrix_diag_part_gradient,
    doc="The diagonals of matrices.",
    test={"shapes": [[[3, 3]], [[2, 2, 3]]], "gradient": True},
)


def _set_diag_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.ranked_at_least(c.inputs[0], 2)
    diagonal = shape_inference.ranked_at_least(c.inputs[1], 1)
    if given is None or diagonal is None:
        return c.inputs[0]
    shape_inference.merge(TensorShape(diagonal), TensorShape([*given[:-2], _shorter(given)]))
    batch = shape_inference.merge(TensorShape(given[:-2]), TensorShape(diagonal[:-1]))
    return batch.concatenate(TensorShape(given[-2:]))


def _set_diag(c: KernelContext, x: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    if x.ndim < 2:
        raise errors.invalid(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")
    if not diagonal.ndim:
        raise errors.invalid("diagonal must be at least 1-dim, received shape: []")
    wanted = (*x.shape[:-2], min(x.shape[-2:]))
    if diagonal.shape != wanted:
        raise errors.invalid(
            "must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but received "
            f"input shape: {shape_text(x.shape)} and diagonal shape: {shape_text(diagonal.shape)}"
        )
    out = x.copy()
    at = np.arange(wanted[-1])
    out[..., at, at] = diagonal
    return out


def _set_diag_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    static = op.inputs[0].get_shape().merge_with(grad.get_shape())
    diagonal = op.inputs[1].get_shape()
    batch, matrix = static[:-2].merge_with(diagonal[:-1]), static[-2:]
    if batch.is_fully_defined() and matrix.is_fully_defined():
        wanted: Any = [*batch.as_list(), min(matrix.as_list())]
    else:
        with colocate_with(grad):
            sizes, ranks = shape(grad), rank(grad)
            lead = tf.slice(sizes, [0], [ranks - 2])
            last = tf.slice(sizes, [ranks - 2], [2])
            wanted = concat([lead, [tf.reduce_min(last)]], 0)
    # What was replaced has no influence; the rest passes.
    grad_input = matrix_set_diag(grad, zeros(wanted, dtype=grad.dtype))
    return grad_input, matrix_diag_part(grad)


_set_diag_op = define(
    "MatrixSetDiag",
    "input: T, diagonal: T -> output: T",
    shape=_set_diag_shape,
    kernel=_set_diag,
    lower=lambda b, op, x, diagonal: lowered.with_main_diagonal(b, x, diagonal),
    gradient=_set_diag_gradient,
    doc="Matrices with their diagonals replaced.",
    test={"shapes": [[[3, 3], [3]], [[2, 2, 3], [2, 2]]], "gradient": True},
)


def _band_shape(c: ShapeContext) -> TensorShape:
    return TensorShape(shape_inference.ranked_at_least(c.inputs[0], 2))


def _band(c: KernelContext, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    if x.ndim < 2:
        raise errors.invalid(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")
    rows, columns = x.shape[-2:]
    for name, value, limit in (("num_lower", lower, rows), ("num_upper", upper, columns)):
        if value.ndim:
            raise errors.invalid(f"{name} must be scalar, got shape {shape_text(value.shape)}")
        if value > limit:
            raise errors.invalid(
                f"{name} must be negative or less or equal to number of "
                f"{'rows' if limit is rows else 'columns'} ({limit}) got: {int(value)}"
            )
    # Element (i, j) lies i - j diagonals below the main one.
    i, j = np.ogrid[:rows, :columns]
    inside = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    return np.where(inside, x, np.zeros((), x.dtype))


def _lower_band(b: Builder, op: OpView, x: Value, lower: Value, upper: Value) -> Any:
    from ...jit.kernel import scalar as k

    below, above = b.known(lower), b.known(upper)
    if below is None or above is None:
        return NotImplemented
    if below.dtype == object or above.dtype == object:
        return NotImplemented
    b.require(x.ndim >= 2 and not below.ndim and not above.ndim)
    b.require(x.shape[-2] >= int(below) and x.shape[-1] >= int(above))
    i = b.iota(x.shape, x.ndim - 2, "int64")
    j = b.iota(x.shape, x.ndim - 1, "int64")
    for count, p, q in ((int(below), i, j), (int(above), j, i)):
        if count >= 0:
            x = b.map(lambda v, a, c, n=count: k.select(k.le(k.sub(a, c), n), v, 0), x, p, q)
    return b.identity(x)


def _matrix_band_part_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None, None]:
    return (matrix_band_part(grad, op.inputs[1], op.inputs[2]), None, None)


_band_op = define(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    "T: type; Tindex: index = int64",
    shape=_band_shape,
    kernel=_band,
    lower=_lower_band,
    gradient=_matrix_band_part_gradient,
    doc="Matrices with zeros outside of a band around the diagonal.",
    test=lambda: {
        "values": [
            [np.arange(9, dtype=np.float32).reshape(3, 3), np.int64(below), np.int64(above)]
            for below, above in ((-1, 0), (0, -1), (1, 1))
        ],
        "gradient": True,
    },
)


def _has_many_diagonals() -> bool:
    """Whether graphs may hold the second version of the diagonal ops; TensorFlow 1.15's do not
    unless a program moves the horizon of compatibility."""
    return tf_compat.forward_compatible(2019, 8, 31)


def _typed_padding(tensor: Tensor, padding: np.ndarray) -> Any:
    return bool(padding) if getattr(tensor, "dtype", None) == "bool" else padding


@export("linalg.diag", "matrix_diag")
def matrix_diag(
    diagonal: Any,
    name: str = "diag",
    k: int = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
) -> Tensor:
    """Square matrices with the given main diagonals."""
    if _has_many_diagonals():
        padding = _typed_padding(diagonal, padding_value)
        return raw.MatrixDiagV2(diagonal, k, num_rows, num_cols, padding, name=name)
    return _matrix_diag_op(diagonal, name=name)


@export("linalg.diag_part", "matrix_diag_part")
@dispatched
def matrix_diag_part(
    input: Any, name: str = "diag_part", k: int = 0, padding_value: Any = 0
) -> Tensor:
    """The main diagonals of matrices."""
    if _has_many_diagonals():
        padding = _typed_padding(input, padding_value)
        return raw.MatrixDiagPartV2(input, k, padding, name=name)
    return _matrix_diag_part_op(input, name=name)


@export("linalg.set_diag", "matrix_set_diag")
def matrix_set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: int = 0
) -> Tensor:
    """`input` with its main diagonals replaced."""
    if _has_many_diagonals():
        return raw.MatrixSetDiagV2(input, diagonal, k, name=name)
    return _set_diag_op(input, diagonal, name=name)


@export("linalg.band_part", "matrix_band_part")
def matrix_band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """`input` with zeros below `num_lower` and above `num_upper` diagonals; -1 keeps all."""
    return _band_op(input, num_lower, num_upper, name=name)
