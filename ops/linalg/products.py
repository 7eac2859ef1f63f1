# SPDX-License-Identifier: Apache-2.0
"""Matrix products: MatMul, BatchMatMul, BatchMatMulV2, SparseMatMul, and matmul, matvec, trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel import sizes
from ..elementwise import static_broadcast
from ..public import tf
from ..shape_inference import merge, merge_dim, ranked, ranked_at_least

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_TYPES = "T: {bfloat16, half, float32, float64, int32, int64, complex64, complex128}"
_HALF = ("float16", "bfloat16")
_FLAGS = [(p, q) for p in (False, True) for q in (False, True)]


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """np.matmul in the inputs' dtype; 16-bit floats accumulate in float32."""
    if x.dtype.name in _HALF:
        return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    with np.errstate(all="ignore"):
        return np.matmul(x, y)


def _turned(x: np.ndarray, turn: bool, conjugate: bool = False) -> np.ndarray:
    if not turn:
        return x
    x = np.swapaxes(x, -1, -2)
    return np.conj(x) if conjugate and x.dtype.kind == "c" else x


# MatMul


def _matmul_shape(c: ShapeContext) -> TensorShape:
    a, b = ranked(c.inputs[0], 2), ranked(c.inputs[1], 2)
    rows, inner_a = a[::-1] if c.attr("transpose_a") else a
    inner_b, columns = b[::-1] if c.attr("transpose_b") else b
    merge_dim(inner_a, inner_b)
    return TensorShape([rows, columns])


def _check_matrices(x: np.ndarray, y: np.ndarray, inner_x: int, inner_y: int) -> None:
    for i, matrix in enumerate((x, y)):
        if matrix.ndim != 2:
            shape = shape_text(matrix.shape)
            raise errors.invalid(f"In[{i}] is not a matrix. Instead it has shape {shape}")
    if inner_x != inner_y:
        raise errors.invalid(
            f"Matrix size-incompatible: In[0]: {shape_text(x.shape)}, In[1]: {shape_text(y.shape)}"
        )


def _matmul_kernel(c: KernelContext, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    turn_x, turn_y = c.attr("transpose_a"), c.attr("transpose_b")
    if x.ndim == y.ndim == 2:
        _check_matrices(x, y, x.shape[0 if turn_x else 1], y.shape[1 if turn_y else 0])
    else:
        _check_matrices(x, y, 0, 0)
    return _product(_turned(x, turn_x), _turned(y, turn_y))


def _example(value: Any) -> np.ndarray:
    """An array of the shape that a traced value has now, for messages."""
    return np.broadcast_to(0, tuple(sizes.hint(size) for size in value.shape))


def _matmul_lower(b: Builder, op: OpView, x: Any, y: Any) -> Any:
    from ...jit import library

    turn_x, turn_y = op.attr("transpose_a"), op.attr("transpose_b")
    if not b.equal(x.shape[0 if turn_x else 1], y.shape[1 if turn_y else 0]):
        _check_matrices(_example(x), _example(y), 0, 1)
    return library.matmul(b, x, y, turn_x, turn_y)


# C = A B: dA = G B^H and dB = A^H G.  Transposes are attributes of the products, so that none takes
# a node or a copy.
def _matmul_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    turn_a, turn_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    a, b = tf.conj(op.inputs[0]), tf.conj(op.inputs[1])
    if not turn_a and not turn_b:
        grad_a = mat_mul(grad, b, transpose_b=True)
        grad_b = mat_mul(a, grad, transpose_a=True)
    elif not turn_a and turn_b:
        grad_a = mat_mul(grad, b)
        grad_b = mat_mul(grad, a, transpose_a=True)
    elif turn_a and not turn_b:
        grad_a = mat_mul(b, grad, transpose_b=True)
        grad_b = mat_mul(a, grad)
    else:
        grad_a = mat_mul(b, grad, transpose_a=True, transpose_b=True)
        grad_b = mat_mul(grad, a, transpose_a=True, transpose_b=True)
    return grad_a, grad_b


_SQUARES = {"shapes": [[[3, 3], [3, 3]]]}

mat_mul = define(
    "MatMul",
    "a: T, b: T -> product: T",
    f"transpose_a: bool = False; transpose_b: bool = False; {_TYPES}",
    shape=_matmul_shape,
    kernel=_matmul_kernel,
    lower=_matmul_lower,
    gradient=_matmul_gradient,
    test=lambda: {**_SQUARES, "attrs": [{"transpose_a": p, "transpose_b": q} for p, q in _FLAGS]},
    doc="The product of two matrices, each transposed on demand.",
)


# Batches


def _stack_dims(x: TensorShape, y: TensorShape, adj_x: bool, adj_y: bool) -> tuple[Any, ...]:
    """Batch shapes, rows and columns, after checking the inner sizes."""
    dims = [ranked_at_least(shape, 2) for shape in (x, y)]
    matrices = [[None, None] if d is None else d[-2:] for d in dims]
    rows, inner_x = matrices[0][::-1] if adj_x else matrices[0]
    inner_y, columns = matrices[1][::-1] if adj_y else matrices[1]
    merge_dim(inner_x, inner_y)
    return *(TensorShape(None if d is None else d[:-2]) for d in dims), rows, columns


def _stacked(batch: TensorShape, rows: int | None, columns: int | None) -> TensorShape:
    return TensorShape(None if batch.ndims is None else [*batch.as_list(), rows, columns])


def _batch_shape(c: ShapeContext) -> TensorShape:
    x, y = c.inputs
    batch_x, batch_y, rows, columns = _stack_dims(x, y, c.attr("adj_x"), c.attr("adj_y"))
    return _stacked(merge(batch_x, batch_y), rows, columns)


def _batch_v2_shape(c: ShapeContext) -> TensorShape:
    x, y = c.inputs
    batch_x, batch_y, rows, columns = _stack_dims(x, y, c.attr("adj_x"), c.attr("adj_y"))
    return _stacked(static_broadcast(batch_x, batch_y), rows, columns)


def _check_batches(x: np.ndarray, y: np.ndarray, broadcasts: bool) -> None:
    if not broadcasts and x.ndim != y.ndim:
        raise errors.invalid(
            f"In[0] and In[1] has different ndims: {shape_text(x.shape)} vs. {shape_text(y.shape)}"
        )
    for i, stack in enumerate((x, y)):
        if stack.ndim < 2:
            raise errors.invalid(f"In[{i}] ndims must be >= 2: {stack.ndim}")
    if broadcasts:
        try:
            np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        except ValueError:
            raise errors.invalid(
                "In[0] and In[1] must have compatible batch dimensions: "
                f"{shape_text(x.shape)} vs. {shape_text(y.shape)}"
            ) from None
        return
    for i, (p, q) in enumerate(zip(x.shape[:-2], y.shape[:-2], strict=True)):
        if p != q:
            raise errors.invalid(
                f"In[0].dim({i}) and In[1].dim({i}) must be the same: "
                f"{shape_text(x.shape)} vs {shape_text(y.shape)}"
            )


def _inner_error(
    c: KernelContext | OpView, x: np.ndarray, y: np.ndarray, inner_x: int, inner_y: int
) -> None:
    adj = " ".join(str(int(c.attr(flag))) for flag in ("adj_x", "adj_y"))
    raise errors.invalid(
        f"In[0] mismatch In[1] shape: {inner_x} vs. {inner_y}: {shape_text(x.shape)} "
        f"{shape_text(y.shape)} {adj}"
    )


def _batch_kernel(c: KernelContext, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    _check_batches(x, y, broadcasts=c.op.type == "BatchMatMulV2")
    inner_x = x.shape[-2 if c.attr("adj_x") else -1]
    inner_y = y.shape[-1 if c.attr("adj_y") else -2]
    if inner_x != inner_y:
        _inner_error(c, x, y, inner_x, inner_y)
    return _product(_turned(x, c.attr("adj_x"), True), _turned(y, c.attr("adj_y"), True))


def _batch_lower(b: Builder, op: OpView, x: Any, y: Any) -> Any:
    from ...jit import library

    adj_x, adj_y = op.attr("adj_x"), op.attr("adj_y")
    x, y = _conjugated(b, x, adj_x), _conjugated(b, y, adj_y)
    inner_x, inner_y = x.shape[-2 if adj_x else -1], y.shape[-1 if adj_y else -2]
    if not b.equal(inner_x, inner_y):
        _inner_error(op, _example(x), _example(y), sizes.hint(inner_x), sizes.hint(inner_y))
    lead = b.broadcast_shape(x.shape[:-2], y.shape[:-2])
    if lead and not y.shape[:-2] and not adj_x:
        # One matrix for all: the rows of a whole stack are those of one product.
        rows = b.reshape(x, (sizes.product(x.shape[:-1]), x.shape[-1]))
        found = library.matmul(b, rows, y, False, adj_y)
        if found is NotImplemented:
            return found
        return b.reshape(found, (*x.shape[:-1], found.shape[-1]))
    x, y = (b.broadcast(v, (*lead, *v.shape[-2:])) for v in (x, y))
    return (library.batch_matmul if lead else library.matmul)(b, x, y, adj_x, adj_y)


def _conjugated(b: Builder, value: Any, is_adjoint: bool) -> Any:
    return b.map(k.conj, value) if is_adjoint and k.is_complex(value.dtype) else value


def _batch_products(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    adj_x, adj_y = op.get_attr("adj_x"), op.get_attr("adj_y")
    if not adj_x and not adj_y:
        grad_x = matmul(grad, y, adjoint_b=True)
        grad_y = matmul(x, grad, adjoint_a=True)
    elif not adj_x:
        grad_x = matmul(grad, y)
        grad_y = matmul(grad, x, adjoint_a=True)
    elif not adj_y:
        grad_x = matmul(y, grad, adjoint_b=True)
        grad_y = matmul(x, grad)
    else:
        grad_x = matmul(y, grad, adjoint_a=True, adjoint_b=True)
        grad_y = matmul(grad, x, adjoint_a=True, adjoint_b=True)
    return grad_x, grad_y


def _batch_v2_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    from ..math.gradient import sum_to
    from ..public import raw

    x, y = op.inputs
    grad_x, grad_y = _batch_products(op, grad)
    # Nothing was broadcast, and 1.15 makes no nodes to sum over nothing.
    if x.shape.is_fully_defined() and y.shape.is_fully_defined() and x.shape == y.shape:
        return grad_x, grad_y
    shape_x, shape_y = tf.shape(x), tf.shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x[:-2], shape_y[:-2])
    return sum_to(grad_x, axes_x, shape_x), sum_to(grad_y, axes_y, shape_y)


_STACKS = {
    "shapes": [[[2, 3, 3], [2, 3, 3]]],
    "attrs": [{"adj_x": p, "adj_y": q} for p, q in _FLAGS],
}

batch_mat_mul = define(
    "BatchMatMul",
    "x: T, y: T -> output: T",
    f"{_TYPES}; adj_x: bool = False; adj_y: bool = False",
    shape=_batch_shape,
    kernel=_batch_kernel,
    lower=_batch_lower,
    gradient=_batch_products,
    test=lambda: _STACKS,
    doc="Products of matrices in equal batches, each adjoined on demand.",
)
batch_mat_mul_v2 = define(
    "BatchMatMulV2",
    "x: T, y: T -> output: T",
    f"{_TYPES}; adj_x: bool = False; adj_y: bool = False",
    shape=_batch_v2_shape,
    kernel=_batch_kernel,
    lower=_batch_lower,
    gradient=_batch_v2_gradient,
    test=lambda: {**_STACKS, "shapes": [[[2, 3, 3], [2, 3, 3]], [[2, 1, 3, 3], [4, 3, 3]]]},
    doc="Products of matrices whose batches broadcast, each adjoined on demand.",
)


# Sparse


def _sparse_kernel(c: KernelContext, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    product = _matmul_kernel(c, x.astype(np.float32), y.astype(np.float32))
    return product.astype(np.float32)


def _sparse_lower(b: Builder, op: OpView, x: Any, y: Any) -> Any:
    return _matmul_lower(b, op, b.cast(x, "float32"), b.cast(y, "float32"))


def _sparse_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    turn_a, turn_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    a, b = op.inputs
    sparse = {id(a): op.get_attr("a_is_sparse"), id(b): op.get_attr("b_is_sparse")}
    # TensorFlow's guess: only the gradient of relu is taken to be mostly zero.
    sparse[id(grad)] = grad.op.type == "ReluGrad"

    def product(
        left: Tensor, right: Tensor, dtype: DType, turn_left: bool, turn_right: bool
    ) -> Any:
        flags = {"a_is_sparse": sparse[id(left)], "b_is_sparse": sparse[id(right)]}
        right = tf.transpose(right) if turn_right else right
        result = matmul(left, right, transpose_a=turn_left, **flags)
        return result if result.dtype == dtype else tf.cast(result, dtype)

    if turn_a:
        grad_a = product(b, grad, a.dtype, turn_b, True)
    else:
        grad_a = product(grad, b, a.dtype, False, not turn_b)
    if turn_b:
        return grad_a, product(grad, a, b.dtype, True, turn_a)
    return grad_a, product(a, grad, b.dtype, not turn_a, False)


sparse_mat_mul = define(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float32",
    "transpose_a: bool = False; transpose_b: bool = False; a_is_sparse: bool = False; "
    "b_is_sparse: bool = False; Ta: {float32, bfloat16} = float32; "
    "Tb: {float32, bfloat16} = float32",
    shape=_matmul_shape,
    kernel=_sparse_kernel,
    lower=_sparse_lower,
    gradient=_sparse_gradient,
    doc="MatMul with a hint that many elements are zero.",
    test=lambda: _SQUARES,
)


@export("sparse_matmul")
@deprecated(None, "Use `tf.linalg.matmul` instead")
def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The matrix product, with a hint that many elements are zero."""
    return sparse_mat_mul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name=name)


# Public


def _is_stack(shapes: Sequence[TensorShape]) -> bool:
    return any(shape.ndims is None or shape.ndims > 2 for shape in shapes)


@export("linalg.matmul", "matmul")
@dispatched
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices, or of the matrices in the last two dimensions of two tensors.

    Args:
        a: float16, bfloat16, float32, float64, int32, int64, complex64 or complex128 [..., n, k].
        b: the same dtype [..., k, m]; the dimensions in front broadcast.
        transpose_a, transpose_b: whether the matrices of `a`, of `b` are transposed first.
        adjoint_a, adjoint_b: whether they are conjugated and transposed first.
        a_is_sparse, b_is_sparse: hints that many elements of a matrix are zeros.
        name: of the operation.

    Returns:
        A Tensor [..., n, m] of that dtype.

    Raises:
        TypeError: the dtypes differ or are none of these.
        ValueError: sizes known in the graph do not fit, or both flags of a matrix are set.
        InvalidArgumentError: those of a run do not fit.

    Example:
        >>> a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [10.0]])
        >>> tf.Session().run(tf.matmul(a, b))
        array([[21.],
               [43.]], dtype=float32)
    """
    with name_scope(name, "MatMul", [a, b]) as name:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        if not a_is_sparse and not b_is_sparse and _is_stack((a.shape, b.shape)):
            a = tf.conj(a) if transpose_a else a
            b = tf.conj(b) if transpose_b else b
            flags = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
            return batch_mat_mul_v2(a, b, name=name, **flags)
        a = tf.conj(a) if adjoint_a else a
        b = tf.conj(b) if adjoint_b else b
        flags = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        if not _uses_sparse(a, b, a_is_sparse or b_is_sparse):
            return mat_mul(a, b, name=name, **flags)
        hints = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
        result = sparse_mat_mul(a, b, name=name, **flags, **hints)
        if a.dtype == b.dtype == dtypes.bfloat16:
            return tf.cast(result, dtypes.bfloat16)
        return result


def _uses_sparse(a: Tensor, b: Tensor, is_sparse: bool) -> bool:
    types = (dtypes.bfloat16, dtypes.float32)
    # Only SparseMatMul takes bfloat16 together with float32.
    mixed = dtypes.bfloat16 in (a.dtype, b.dtype) and a.dtype != b.dtype
    return mixed or (is_sparse and a.dtype in types and b.dtype in types)


@export("linalg.matvec")
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector, or of stacks of them."""
    with name_scope(name, "MatVec", [a, b]) as name:
        product = matmul(
            a,
            tf.expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return tf.squeeze(product, axis=-1)


@export("linalg.trace", "trace")
@dispatched
def trace(x: TensorLike, name: str | None = None) -> Any:
    """The sum along the main diagonal of each matrix."""
    with name_scope(name, "Trace", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return tf.reduce_sum(tf.matrix_diag_part(x), [-1], name=name)
