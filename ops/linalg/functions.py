# SPDX-License-Identifier: Apache-2.0
"""LU factors and functions of whole matrices: exponential, logarithm, square root."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ..public import tf
from . import solve_lower, triangles
from .decompose import stacked
from .solve import TYPES, adjoint, check_square, matrix_solve, square, wide

if TYPE_CHECKING:
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_NONE = NoGradient("TensorFlow registers none")
_NO_FACTORS = "Input is not invertible."


def _lu_shape(c: ShapeContext) -> list[TensorShape]:
    x = square(c.inputs[0])
    return [x, stacked(x, None if x.ndims is None else x.as_list()[-1])]


def _each(function: Callable[..., Any], x: np.ndarray) -> list[Any]:
    count = math.prod(x.shape[:-2])
    return [function(matrix) for matrix in wide(x).reshape(count, *x.shape[-2:])]


def _lu_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.linalg.lapack import get_lapack_funcs

    check_square(x)
    factors, orders = np.empty(x.shape, x.dtype), np.empty(x.shape[:-1], c.out_dtype(1))
    if not x.size:
        return factors, orders
    count, order = math.prod(x.shape[:-2]), x.shape[-1]
    rows, target = orders.reshape(count, order), factors.reshape(count, order, order)
    (factor,) = get_lapack_funcs(("getrf",), (wide(x),))
    for i, (both, pivots, singular) in enumerate(_each(factor, x)):
        # (Of pivots that are NaN the first one alone makes the smallest none: solve_lower.py.)
        if singular or np.isnan(both[0, 0]) or not np.all(np.diagonal(both)):
            raise errors.invalid(_NO_FACTORS)
        target[i], rows[i] = both, _swapped(pivots.tolist())
    return factors, orders


def _swapped(pivots: Sequence[int]) -> list[int]:
    """The order of rows once each has changed places with its pivot, one after the other."""
    order = list(range(len(pivots)))
    for i, j in enumerate(pivots):
        order[i], order[j] = order[j], order[i]
    return order


lu = define(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    f"{TYPES}; output_idx_type: {{int32, int64}} = int32",
    shape=_lu_shape,
    kernel=_lu_kernel,
    lower=solve_lower.lu(_NO_FACTORS),
    gradient=_NONE,
    test=lambda: {"values": [[np.array([[2.0, 0.5], [0.25, 1.5]])]]},
    doc="The two triangles of an LU decomposition in one matrix, and the permutation of rows.",
)
export("linalg.lu")(lu)


def _exponential(x: np.ndarray) -> np.ndarray:
    import scipy.linalg

    return np.asarray(scipy.linalg.expm(x))


def _matrix_function(
    op_type: str,
    function: Callable[[np.ndarray], np.ndarray],
    types: str,
    gradient: object,
    *public: str,
    doc: str,
) -> OpFunction:
    def kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
        check_square(x)
        if not x.size:
            return x
        # Twice the precision: these algorithms lose half of the digits near singular matrices.
        found = function(x.astype(np.result_type(x, np.float64), copy=False))
        return (found if x.dtype.kind == "c" else found.real).astype(x.dtype)

    op = define(
        op_type,
        "input: T -> output: T",
        types,
        shape=lambda c: square(c.inputs[0]),
        kernel=kernel,
        gradient=gradient,
        doc=doc,
        test=lambda: {"values": [[np.array([[2.0, 0.5], [0.5, 1.0]], np.complex64)]]},
    )
    return export(*public)(op) if public else op


def _kronecker(x: Tensor, y: Tensor) -> Tensor:
    """The Kronecker product of each pair of square matrices."""
    shape_x, shape_y = tf.shape(x), tf.shape(y)
    order_x, order_y = shape_x[-1], shape_y[-1]
    batch = tf.slice(shape_x, [0], [tf.subtract(tf.size(shape_x), 2)])
    wide_x = tf.reshape(x, tf.concat([batch, [order_x], [1], [order_x], [1]], 0))
    wide_y = tf.reshape(y, tf.concat([batch, [1], [order_y], [1], [order_y]], 0))
    order = order_x * order_y
    return tf.reshape(wide_x * wide_y, tf.concat([batch, [order], [order]], 0))


def _square_root_gradient(op: Operation, grad: Tensor) -> Tensor:
    """Solves the Sylvester equation R dR + dR R = dA for all entries at once."""
    root = op.outputs[0]
    shape = tf.shape(root)
    order = shape[-1]
    count = tf.reduce_prod(shape[0:-2])
    identity = tf.eye(order, dtype=root.dtype)
    identities = tf.reshape(tf.tile(tf.reshape(identity, [-1]), [count]), shape)
    # The adjoint equation R^T Y + Y R^T = G is (I x R^T + R x I) vec(Y) = vec(G), where vec stacks
    # columns.  Reshape stacks rows, hence the transposes below.
    system = tf.add(_kronecker(identities, tf.matrix_transpose(root)), _kronecker(root, identities))
    batch = tf.slice(shape, [0], [tf.subtract(tf.size(shape), 2)])
    column = tf.concat([batch, [order * order], [1]], 0)
    entries = tf.reshape(tf.matrix_transpose(grad), column)
    return tf.matrix_transpose(tf.reshape(matrix_solve(system, entries), shape))


def _exponential_gradient(op: Operation, grad: Tensor) -> Any:
    """The upper right block of exp([[A^H, G], [0, A^H]]) is the derivative along G."""
    a = adjoint(op.inputs[0])
    upper = tf.concat([a, grad], -1)
    lower = tf.concat([tf.zeros_like(a), a], -1)
    size = tf.shape(a)[-1]
    blocks = matrix_exponential(tf.concat([upper, lower], -2))
    result = blocks[..., :size, size:]
    result.set_shape(a.shape)
    return result


matrix_square_root = _matrix_function(
    "MatrixSquareRoot",
    triangles.square_root,
    TYPES,
    _square_root_gradient,
    "linalg.sqrtm",
    "matrix_square_root",
    doc="The square matrices whose squares are the input.",
)
matrix_logarithm = _matrix_function(
    "MatrixLogarithm",
    triangles.logarithm,
    "T: {complex64, complex128}",
    _NONE,
    "linalg.logm",
    doc="The principal logarithms of square complex matrices.",
)
# Graphs of TensorFlow before 1.8 have it; tf.linalg.expm makes other nodes.
matrix_exponential = _matrix_function(
    "MatrixExponential",
    _exponential,
    TYPES,
    _exponential_gradient,
    doc="The exponentials of square matrices.",
)
