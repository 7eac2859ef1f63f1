# SPDX-License-Identifier: Apache-2.0
"""Matrices of three diagonals: products with them, systems of equations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ..public import raw, tf
from ..shape_inference import merge, merge_dim, ranked_at_least, require_dim
from .solve import batch_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_TYPES = "T: {float64, float32, complex64, complex128}"
_SINGULAR = "The matrix is not invertible."
_NO_SCALAR = "The matrix is not invertible: it is a scalar with value zero."
_NO_THOMAS = (
    "The matrix is either not invertible, or requires pivoting. "
    "Try setting partial_pivoting = True."
)


def _shifted(x: np.ndarray, by: int) -> np.ndarray:
    """Rows moved up (1) or down (-1), with zeros for those that come in."""
    moved = np.zeros_like(x)
    if by > 0:
        moved[..., :-1, :] = x[..., 1:, :]
    else:
        moved[..., 1:, :] = x[..., :-1, :]
    return moved


def _product_shape(c: ShapeContext) -> TensorShape:
    batch, size = batch_of(c.inputs[3]), None
    for i, shape in enumerate(c.inputs):
        dims = ranked_at_least(shape, 2)
        if dims is None:
            continue
        batch = merge(batch, batch_of(shape))
        size = merge_dim(size, dims[-2] if i == 3 else dims[-1])
        if i < 3:
            require_dim(dims[-2], 1)
    return c.inputs[3]


def _product(
    c: KernelContext, above: np.ndarray, main: np.ndarray, below: np.ndarray, rhs: np.ndarray
) -> np.ndarray:
    for what, given in (("super", above), ("main", main), ("sub", below)):
        if given.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
            raise errors.invalid(
                f"Input {what}diagonal must have shape [..., 1, {rhs.shape[-2]}], got {given.shape}"
            )
    columns = [np.swapaxes(x, -1, -2) for x in (above, main, below)]
    return np.asarray(
        columns[1] * rhs + columns[0] * _shifted(rhs, 1) + columns[2] * _shifted(rhs, -1),
        rhs.dtype,
    )


def _lower_product(
    b: Builder, op: OpView, above: Value, main: Value, below: Value, rhs: Value
) -> Any:
    if rhs.dtype.startswith("complex"):
        return NotImplemented
    *batch, size, _ = rhs.shape
    for diagonal in (above, main, below):
        b.require_shape(diagonal, (*batch, 1, size))
    rank = rhs.ndim
    order = [*range(rank - 2), rank - 1, rank - 2]
    edges = [(0, 0)] * (rank - 2)
    padded = b.pad(rhs, [*edges, (1, 1), (0, 0)])
    start = [0] * rank
    ahead, behind = (b.slice(padded, [*start[:-2], at, 0], rhs.shape, [1] * rank) for at in (2, 0))
    over, middle, under = (b.transpose(d, order) for d in (above, main, below))
    return b.map(
        lambda m, x, o, y, u, z: k.add(k.add(k.mul(m, x), k.mul(o, y)), k.mul(u, z)),
        *(middle, rhs, over, ahead, under, behind),
    )


def _up(x: Tensor) -> Tensor:
    """Rows moved up by one."""
    return tf.pad(x[..., 1:, :], _edges(x, [0, 1]))


def _down(x: Tensor) -> Tensor:
    """Rows moved down by one."""
    return tf.pad(x[..., :-1, :], _edges(x, [1, 0]))


def _edges(x: Tensor, rows: list[int]) -> Tensor:
    """Paddings of the last dimension but one."""
    return tf.concat([tf.zeros([tf.rank(x) - 2, 2], tf.int32), [rows, [0, 0]]], axis=0)


def _product_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    above, main, below = (tf.matrix_transpose(x, conjugate=True) for x in op.inputs[:3])
    rhs = tf.conj(op.inputs[3])
    diagonals = [
        tf.expand_dims(tf.reduce_sum(x * grad, axis=-1), -2) for x in (_up(rhs), rhs, _down(rhs))
    ]
    return [*diagonals, _down(above * grad) + main * grad + _up(below * grad)]


def _solve_shape(c: ShapeContext) -> TensorShape:
    lhs, rhs = (ranked_at_least(shape, 2) for shape in c.inputs)
    merge(*(batch_of(shape) for shape in c.inputs))
    if lhs is not None:
        if rhs is not None:
            merge_dim(lhs[-1], rhs[-2])
        require_dim(lhs[-2], 3)
    return c.inputs[1]


def _solve(c: KernelContext, diagonals: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    for i, given in enumerate((diagonals, rhs)):
        if given.ndim < 2:
            raise errors.invalid(f"Input tensor {i} must have rank >= 2, got {given.ndim}")
    if diagonals.shape[-2] != 3:
        raise errors.invalid(
            "Expected diagonals to be provided as a matrix with 3 rows, got "
            f"{diagonals.shape[-2]} rows."
        )
    size = diagonals.shape[-1]
    if size != rhs.shape[-2]:
        raise errors.invalid(
            "Expected the same number of left-hand sides and right-hand sides, got "
            f"{size} and {rhs.shape[-2]}."
        )
    found = np.array(rhs)
    if not (size and found.size):
        return found
    above, main, below = (np.moveaxis(diagonals[..., i, :], -1, 0) for i in range(3))
    rows = np.moveaxis(found, -2, 0)
    with np.errstate(all="ignore"):
        if size == 1:
            _require(main[0], _NO_SCALAR)
            rows[0] /= main[0][..., None]
        elif c.attr("partial_pivoting"):
            _by_pivots(above, main, below, rows)
        else:
            _by_thomas(above, main, below, rows)
    return found


def _require(pivots: np.ndarray, message: str) -> None:
    if np.any(pivots == 0):
        raise errors.invalid(message)


def _by_thomas(above: np.ndarray, main: np.ndarray, below: np.ndarray, x: np.ndarray) -> None:
    """Thomas's algorithm, on rows of whole stacks at once; x holds the right sides."""
    size, ratios = len(main), np.empty_like(main)
    for i in range(size):
        pivot = main[i] if not i else main[i] - below[i] * ratios[i - 1]
        _require(pivot, _NO_THOMAS)
        ratios[i] = above[i] / pivot
        before = below[i][..., None] * x[i - 1] if i else 0
        x[i] = (x[i] - before) / pivot[..., None]
    for i in range(size - 2, -1, -1):
        x[i] -= ratios[i][..., None] * x[i + 1]


def _by_pivots(above: np.ndarray, main: np.ndarray, below: np.ndarray, x: np.ndarray) -> None:
    """Gaussian elimination; neighbouring rows change places where the lower one has more."""
    size = len(main)
    first, second, third = main.copy(), above.copy(), np.zeros_like(main)
    for i in range(size - 1):
        under = below[i + 1]
        is_kept = np.abs(first[i]) >= np.abs(under)
        _require(np.where(is_kept, first[i], under), _SINGULAR)
        factor = np.where(is_kept, under / first[i], first[i] / under)
        after = above[i + 1] if i < size - 2 else np.zeros_like(under)
        upper, kept, wide = second[i].copy(), is_kept[..., None], factor[..., None]
        first[i + 1] = np.where(is_kept, main[i + 1] - factor * upper, upper - factor * main[i + 1])
        second[i + 1] = np.where(is_kept, after, -factor * after)
        third[i] = np.where(is_kept, 0, after)
        first[i] = np.where(is_kept, first[i], under)
        second[i] = np.where(is_kept, upper, main[i + 1])
        top, bottom = x[i].copy(), x[i + 1].copy()
        x[i + 1] = np.where(kept, bottom - wide * top, top - wide * bottom)
        x[i] = np.where(kept, top, bottom)
    _require(first[-1], _SINGULAR)
    for i in range(size - 1, -1, -1):
        if i < size - 1:
            x[i] -= second[i][..., None] * x[i + 1]
        if i < size - 2:
            x[i] -= third[i][..., None] * x[i + 2]
        x[i] /= first[i][..., None]


def _solve_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    diagonals, x = op.inputs[0], op.outputs[0]
    above, main, below = (diagonals[..., i, :] for i in range(3))
    last = tf.zeros([tf.rank(diagonals) - 2, 2], tf.int32)
    # The transposed matrix: what was above the diagonal lies below.
    turned = tf.stack(
        [
            tf.pad(below[..., 1:], tf.concat([last, [[0, 1]]], axis=0)),
            main,
            tf.pad(above[..., :-1], tf.concat([last, [[1, 0]]], axis=0)),
        ],
        axis=-2,
    )
    # TensorFlow takes no conjugates here, so of complex numbers this is no derivative.
    pivoting = op.get_attr("partial_pivoting")
    by_rhs = raw.TridiagonalSolve(turned, grad, partial_pivoting=pivoting)
    sums = [tf.reduce_sum(by_rhs * y, axis=-1) for y in (_up(x), x, _down(x))]
    return -tf.stack(sums, axis=-2), by_rhs


def _matrix() -> np.ndarray:
    return np.array([[1.5, -2, 0.5, 0], [4, 3, -5, 2.5], [0, 1, 2, -1.5]])


def _rhs() -> np.ndarray:
    return np.array([[1, 2], [-1, 0.5], [3, 1], [0.25, -2]])


define(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    _TYPES,
    shape=_product_shape,
    kernel=_product,
    lower=_lower_product,
    gradient=_product_gradient,
    doc="Products of matrices given by their three diagonals.",
    test=lambda: {"values": [[*(_matrix()[i : i + 1] for i in range(3)), _rhs()]]},
)
define(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    f"partial_pivoting: bool = true; {_TYPES}",
    shape=_solve_shape,
    kernel=_solve,
    gradient=_solve_gradient,
    doc="The solutions of systems whose matrices are given by their three diagonals.",
    test=lambda: {
        "values": [[_matrix(), _rhs()]],
        "attrs": [{}, {"partial_pivoting": False}],
        "rtol": 1e-4,
    },
)


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """The solutions of tridiagonal systems (tf.linalg.tridiagonal_solve).

    Args:
        diagonals: [..., 3, M] in the "compact" format: above, on and below the diagonal, the last
            number of the first and the first of the last one being ignored; three tensors
            [..., M] or [..., M - 1] in the format "sequence"; [..., M, M] in the format "matrix".
        rhs: [..., M] or [..., M, K], of the same dtype.
        diagonals_format: "compact", "sequence" or "matrix".
        transpose_rhs: whether rhs is [..., K, M].
        conjugate_rhs: whether its conjugate is meant.
        name: of the op.
        partial_pivoting: whether rows may change places, which costs time and is stable.

    Returns:
        [..., M] or [..., M, K], of the same dtype.

    Raises:
        ValueError: formats or shapes do not fit.
        InvalidArgumentError: when run: the matrix is not invertible.

    Example:
        >>> d = [[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]]
        >>> print(tf.Session().run(tf.linalg.tridiagonal_solve(d, [6.0, 17.0, 22.0])).round(4))
        [1. 2. 3.]
    """
    if diagonals_format == "sequence":
        diagonals = _joined(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _extracted(convert_to_tensor(diagonals))
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    diagonals = convert_to_tensor(diagonals)
    return _solved(
        diagonals, convert_to_tensor(rhs), transpose_rhs, conjugate_rhs, name, partial_pivoting
    )


def _solved(
    diagonals: Tensor,
    rhs: Tensor,
    transpose_rhs: bool,
    conjugate_rhs: bool,
    name: str | None,
    partial_pivoting: bool,
) -> Tensor:
    """The same of the compact form."""
    depth, rank = len(diagonals.shape), len(rhs.shape)
    if depth < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {depth}")
    if rank not in (depth, depth - 1):
        raise ValueError(f"Expected the rank of rhs to be {depth - 1} or {depth}, got {rank}")
    _check_compact(diagonals, rhs)
    if rank == depth - 1:
        if conjugate_rhs:
            rhs = tf.conj(rhs)
        columns = tf.expand_dims(rhs, -1)
        _check_size(diagonals, columns)
        found = raw.TridiagonalSolve(
            diagonals, columns, partial_pivoting=partial_pivoting, name=name
        )
        return tf.squeeze(found, -1)
    if transpose_rhs:
        rhs = tf.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = tf.conj(rhs)
    _check_size(diagonals, rhs)
    found = raw.TridiagonalSolve(diagonals, rhs, partial_pivoting=partial_pivoting, name=name)
    return tf.matrix_transpose(found) if transpose_rhs else found


def _check_compact(diagonals: Tensor, rhs: Tensor) -> None:
    depth = len(diagonals.shape)
    count = diagonals.shape.as_list()[-2]
    if count and count != 3:
        raise ValueError(f"Expected 3 diagonals got {count}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[: depth - 2]):
        raise ValueError(
            f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[: depth - 2]} are incompatible"
        )


def _check_size(diagonals: Tensor, rhs: Tensor) -> None:
    size, given = diagonals.shape.as_list()[-1], rhs.shape.as_list()[-2]
    if size and given and size != given:
        raise ValueError(
            f"Expected number of left-hand sided and right-hand sides to be equal, got {size} and "
            f"{given}"
        )


def _joined(diagonals: Any) -> Tensor:
    """The compact form of three tensors, of which the outer two may be shorter by one."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = map(convert_to_tensor, diagonals)
    for other in (below, above):
        if not other.shape[:-1].is_compatible_with(main.shape[:-1]):
            raise ValueError(
                "Tensors representing the three diagonals must have the same shape,"
                f"except for the last dimension, got {below.shape}, {main.shape}, {above.shape}"
            )
    size = main.shape.as_list()[-1]

    def padded(x: Tensor, what: str, edge: list[int]) -> Tensor:
        given = x.shape.as_list()[-1]
        if not given or not size or given == size:
            return x
        if given == size - 1:
            return tf.pad(x, [[0, 0]] * (len(x.shape) - 1) + [edge])
        raise ValueError(f"Expected {what} to be have length {size} or {size - 1}, got {given}.")

    below = padded(below, "subdiagonal", [1, 0])
    return tf.stack((padded(above, "superdiagonal", [0, 1]), main, below), axis=-2)


def _size(matrix: Tensor, needs_both: bool) -> int:
    """How many rows matrices have that are square."""
    rows, columns = matrix.shape.as_list()[-2:]
    if not (rows and columns if needs_both else rows or columns):
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    if rows and columns and rows != columns:
        raise ValueError(
            f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}"
        )
    return int(columns or rows or 0)


def _extracted(matrix: Tensor) -> Tensor:
    """The compact form of whole matrices."""
    size = _size(matrix, needs_both=False)
    # What has no place in the matrix is never read: its first number will do.
    places = [
        [[i + 1, i] if i < size - 1 else [0, 0], [i, i], [i - 1, i] if i else [0, 0]]
        for i in range(size)
    ]
    return tf.transpose(tf.gather_nd(tf.transpose(matrix), places))


def _three(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The diagonals of whole matrices, as tensors [..., M]."""
    size = _size(matrix, needs_both=True)
    main, turned = tf.matrix_diag_part(matrix), tf.transpose(matrix)
    above = [[i + 1, i] for i in range(size - 1)] + [[0, 0]]
    below = [[0, 0]] + [[i - 1, i] for i in range(1, size)]
    first, last = (tf.transpose(tf.gather_nd(turned, places)) for places in (above, below))
    return first, main, last


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Products of tridiagonal matrices and others (tf.linalg.tridiagonal_matmul).

    Args:
        diagonals: as for tf.linalg.tridiagonal_solve.
        rhs: [..., M, K], of the same dtype.
        diagonals_format: "compact", "sequence" or "matrix".
        name: of the op.

    Returns:
        [..., M, K], of the same dtype.

    Raises:
        ValueError: formats or shapes do not fit.

    Example:
        >>> d = [[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]]
        >>> print(tf.Session().run(tf.linalg.tridiagonal_matmul(d, [[1.0], [2.0], [3.0]]))[:, 0])
        [ 6. 17. 22.]
    """
    if diagonals_format == "sequence":
        above, main, below = map(convert_to_tensor, diagonals)
    elif diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals)
        above, main, below = (diagonals[..., i, :] for i in range(3))
    elif diagonals_format == "matrix":
        above, main, below = _three(convert_to_tensor(diagonals))
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    above, main, below = (tf.expand_dims(x, -2) for x in (above, main, below))
    return raw.TridiagonalMatMul(above, main, below, convert_to_tensor(rhs), name=name)
