# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of sparse tensors: sums, extremes, reductions, softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, SparseTensorValue
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from ..math.reduce_gradient import reduced_shape
from ..math.reduce_public import reduction_axes
from ..public import raw, tf
from ..shape_inference import ranked
from ..sparse_checks import require_matrices, require_pair, require_sparse, require_vectors
from .common import (
    OTHER,
    SAMPLE,
    as_sparse,
    flat_places,
    in_order,
    indices_at,
    merged_rows,
    no_gradient_yet,
    parted_rows,
    parts,
    require_shape,
    sparse_result,
    sparse_shapes,
)
from .compiled import (
    lower_add_gradient,
    lower_merge,
    lower_reduce_sum,
    lower_softmax,
    require_places,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Two sparse tensors


def _require_equal(a_shape: np.ndarray, b_shape: np.ndarray) -> None:
    if len(a_shape) != len(b_shape):
        raise errors.invalid(
            "Operands do not have the same ranks; got shapes: "
            f"{shape_text(a_shape.tolist())} and {shape_text(b_shape.tolist())}"
        )
    for i, (m, n) in enumerate(zip(a_shape, b_shape, strict=True)):
        if m != n:
            raise errors.invalid(
                f"Operands' shapes do not match: got {m} and {n} for dimension {i}"
            )


_OF_SUM = (
    "Input indices",
    "Input values should be vectors but received shapes:",
    "Input shapes should be a vector but received shapes",
)
_OF_EXTREME = (
    "Inputs a_indices and b_indices",
    "Inputs a_values and b_values should be vectors but received shapes:",
    "Input shapes should be a vector but received shapes",
)


def _merged(
    a: Sequence[np.ndarray],
    b: Sequence[np.ndarray],
    combine: Callable[[np.ndarray, np.ndarray], np.ndarray],
    least: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and values over all places where either has an entry.

    What stands alone is combined with zero.  Of two in one place those are left out that come to
    less than `least`, without the sign: as in TensorFlow, what stands alone may be as small as it
    is.
    """
    (a_indices, a_values, shape), (b_indices, b_values, b_shape) = a, b
    require_pair(a, b, _OF_SUM if least is not None else _OF_EXTREME)
    _require_equal(shape, b_shape)
    if least is not None and least.ndim:
        text = "The magnitude threshold must be a scalar: got shape "
        raise errors.invalid(f"{text}{shape_text(least.shape)}")
    for indices in (a_indices, b_indices):
        if indices.shape[1] != len(shape):
            raise errors.invalid("Order length must be SparseTensor rank.")
    places = merged_rows(a_indices, b_indices)
    sides = []
    for place, values in zip(places, (a_values, b_values), strict=True):
        sides.append(np.append(values, np.zeros(1, values.dtype))[place])
    indices = np.concatenate([a_indices, b_indices])
    indices = indices[np.where(places[0] >= 0, places[0], places[1] + len(a_indices))]
    with np.errstate(all="ignore"):
        values = combine(*sides).astype(a_values.dtype)
        if least is None:
            return indices, values
        kept = (places[0] < 0) | (places[1] < 0) | (np.abs(values) >= least)
    return indices[kept], values[kept]


def _add(c: KernelContext, *given: Any) -> Any:
    return *_merged(given[:3], given[3:6], np.add, given[6]), given[2]


def _extreme_shapes(c: ShapeContext) -> list[TensorShape]:
    for i in (0, 3):
        sparse_shapes(c, i)
    return sparse_result(None, ranked(c.inputs[0], 2)[1])[:2]


def _add_shape(c: ShapeContext) -> list[TensorShape]:
    c.value_as_shape(2)  # what becomes of it may ask for sizes
    return sparse_result(None, ranked(c.inputs[2], 1)[0])


def _add_gradient(
    op: Operation, *grads: Any
) -> tuple[None, Tensor, None, None, Tensor, None, None]:
    a_grad, b_grad = raw.SparseAddGrad(grads[1], op.inputs[0], op.inputs[3], op.outputs[0])
    a_grad.set_shape(op.inputs[1].get_shape())
    b_grad.set_shape(op.inputs[4].get_shape())
    return None, a_grad, None, None, b_grad, None, None


def _add_gradient_kernel(
    c: KernelContext, grad: np.ndarray, a: np.ndarray, b: np.ndarray, total: np.ndarray
) -> tuple[Any, ...]:
    require_matrices("Input indices", " and ", a, b, total)
    require_vectors("Input backprop_val_grad should be a vector but received shape:", grad)
    if not a.shape[1] == b.shape[1] == total.shape[1]:
        raise errors.invalid(
            "The densified operands should have the same ndims; for A, B, sum got: "
            f"{a.shape[1]}{b.shape[1]}{total.shape[1]}"
        )
    if len(grad) != len(total):
        raise errors.invalid(
            "# elements of backprop_val_grad and # rows of sum_indices should match "
            f"(#nnz of sum): got {len(grad)} and {len(total)}"
        )
    # What fell below the threshold gets nothing: one more gradient of zero.
    grads = np.append(grad, np.zeros(1, grad.dtype))
    return tuple(grads[places] for places in parted_rows(a, b, total))


_PAIR = (
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64"
)

define(
    "SparseAdd",
    f"{_PAIR}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    "T: numbertype; Treal: realnumbertype",
    shape=_add_shape,
    kernel=_add,
    lower=lower_merge("add", _require_equal),
    gradient=_add_gradient,
    doc="The sum of two sparse tensors, without entries below a threshold.",
    test=lambda: {"values": [[*SAMPLE, *OTHER, np.float32(0.1)]], "gradient": False},
)
define(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> "
    "a_val_grad: T, b_val_grad: T",
    "T: numbertype",
    shape=lambda c: [TensorShape([ranked(c.inputs[i], 2)[0]]) for i in (1, 2)],
    kernel=_add_gradient_kernel,
    lower=lower_add_gradient,
    gradient=NoGradient("TensorFlow has none for it", silent=True),
    doc="The gradients of the sum of two sparse tensors.",
    test=lambda: {
        "values": [[np.array([1, 2], np.float32), SAMPLE[0], OTHER[0], np.array([[0, 0], [1, 2]])]]
    },
)


@export("sparse.add", "sparse_add")
def sparse_add(
    a: Any,
    b: Any,
    threshold: Any = None,
    thresh: Any = None,
) -> Any:
    """The sum of two tensors of which at least one is sparse."""
    threshold = deprecated_argument_lookup("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    kinds = (SparseTensor, SparseTensorValue)
    if not (isinstance(a, kinds) or isinstance(b, kinds)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (isinstance(a, kinds) and isinstance(b, kinds)):
        sparse, dense = (b, a) if isinstance(b, kinds) else (a, b)
        return raw.SparseTensorDenseAdd(*parts(as_sparse(sparse)), dense)
    a, b = as_sparse(a), as_sparse(b)
    real = a.values.dtype.real_dtype.base_dtype
    threshold = convert_to_tensor(threshold, dtype=real, name="threshold")
    shape: Any
    indices, values, shape = raw.SparseAdd(*parts(a), *parts(b), threshold)
    a.get_shape().assert_is_compatible_with(b.get_shape())
    static = tf.broadcast_static_shape(a.get_shape(), b.get_shape())
    if static.is_fully_defined():
        shape = static.as_list()
    return SparseTensor(indices, values, shape)


def _extreme(
    name: str, fn: str, combine: Callable[..., Any], kinds: str, doc: str
) -> Callable[..., SparseTensor]:
    define(
        name,
        f"{_PAIR} -> output_indices: int64, output_values: T",
        f"T: {kinds}",
        shape=_extreme_shapes,
        kernel=lambda c, *given: _merged(given[:3], given[3:], combine),
        lower=lower_merge(fn, _require_equal),
        gradient=no_gradient_yet(name),
        doc=doc,
        test=lambda: {"values": [[*SAMPLE, *OTHER]]},
    )

    def function(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
        values = [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]
        with name_scope(name, op_type, values) as scope:
            indices, found = getattr(raw, op_type)(*parts(sp_a), *parts(sp_b), name=scope)
        return SparseTensor(indices, found, sp_a.dense_shape)

    op_type = name
    function.__doc__ = doc
    return function


sparse_maximum = _extreme(
    "SparseSparseMaximum",
    "max",
    np.maximum,
    "realnumbertype",
    "The greater of two, entry by entry.",
)
sparse_minimum = _extreme(
    "SparseSparseMinimum", "min", np.minimum, "numbertype", "The lesser of two, entry by entry."
)
export("sparse.maximum", "sparse_maximum")(sparse_maximum)
export("sparse.minimum", "sparse_minimum")(sparse_minimum)


# Reductions


def _grouped(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, axes: np.ndarray, kind: str
) -> tuple[list[int], list[int], np.ndarray, np.ndarray]:
    """(kept axes, their sizes, places of the groups that have entries, their reduced values)."""
    require_vectors("Expected input_shape to be a vector; got shape:", shape)
    if axes.ndim > 1:
        text = "Expected reduction_axes to be a scalar or a vector; got shape: "
        raise errors.invalid(f"{text}{shape_text(axes.shape)}")
    rank = len(shape)
    for axis in axes.ravel().tolist():
        if not -rank <= axis < rank:
            raise errors.invalid(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    require_shape(shape)
    require_sparse(indices, values, shape)
    reduced = {axis % rank for axis in axes.ravel().tolist()}
    kept = [i for i in range(rank) if i not in reduced]
    require_places(indices[:, kept], shape[kept])
    sizes = shape[kept].tolist()
    places, group = np.unique(flat_places(indices[:, kept], sizes), return_inverse=True)
    if kind == "sum":
        result = np.zeros(len(places), values.dtype)
        np.add.at(result, group, values)
        return kept, sizes, places, result
    # The maximum of the entries that are there: absent zeros do not count.
    result = values[np.unique(group, return_index=True)[1]].copy()
    np.maximum.at(result, group, values)
    return kept, sizes, places, result


def _kept_sizes(kept: list[int], sizes: list[int], rank: int) -> list[int]:
    return [sizes[kept.index(i)] if i in kept else 1 for i in range(rank)]


def _dense_reduction(kind: str) -> Callable[..., np.ndarray]:
    @np.errstate(all="ignore")
    def kernel(
        c: KernelContext,
        indices: np.ndarray,
        values: np.ndarray,
        shape: np.ndarray,
        axes: np.ndarray,
    ) -> np.ndarray:
        kept, sizes, places, result = _grouped(indices, values, shape, axes, kind)
        dense = np.zeros(sizes, values.dtype)
        dense.reshape(-1)[places] = result
        return dense.reshape(_kept_sizes(kept, sizes, len(shape))) if c.attr("keep_dims") else dense

    return kernel


def _sparse_reduction(kind: str) -> Callable[..., Any]:
    @np.errstate(all="ignore")
    def kernel(
        c: KernelContext,
        indices: np.ndarray,
        values: np.ndarray,
        shape: np.ndarray,
        axes: np.ndarray,
    ) -> Any:
        kept, sizes, places, result = _grouped(indices, values, shape, axes, kind)
        if c.attr("keep_dims"):
            sizes = _kept_sizes(kept, sizes, len(shape))
        return indices_at(places, sizes), result, np.array(sizes, np.int64)

    return kernel


def _reduced(c: ShapeContext) -> TensorShape:
    ranked(c.inputs[2], 1)
    shape, axes = c.value(2), c.value(3)
    if shape is None or axes is None:
        c.value_as_shape(2)
        if c.attr("keep_dims") and c.inputs[2].ndims == 1:
            return unknown_shape(rank=c.inputs[2].as_list()[0])
        return unknown_shape()
    rank = len(shape)
    reduced = {int(axis) % rank for axis in np.ravel(axes)}
    if c.attr("keep_dims"):
        return TensorShape([1 if i in reduced else int(shape[i]) for i in range(rank)])
    return TensorShape([int(shape[i]) for i in range(rank) if i not in reduced])


def _sum_gradient(op: Operation, grad: Tensor) -> tuple[None, Tensor, None, None]:
    indices, _, shape, axes = op.inputs
    kept = reduced_shape(shape, axes)
    grad = tf.reshape(grad, kept)
    # A reduced axis has the size one in `kept`, and dividing by its size maps all positions to 0.
    scale = shape // tf.cast(kept, dtypes.int64)
    return None, tf.gather_nd(grad, indices // scale), None, None


_NONE = NoGradient("TensorFlow has none for it")
_REDUCED = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
for _name, _sparse_name, _kind, _types, _lower, _gradient in (
    (
        "SparseReduceSum",
        "SparseReduceSumSparse",
        "sum",
        "numbertype",
        lower_reduce_sum,
        _sum_gradient,
    ),
    ("SparseReduceMax", "SparseReduceMaxSparse", "max", "realnumbertype", None, _NONE),
):
    define(
        _name,
        f"{_REDUCED} -> output: T",
        f"keep_dims: bool = false; T: {_types}",
        shape=_reduced,
        kernel=_dense_reduction(_kind),
        lower=_lower,
        gradient=_gradient,
        dynamic_shape=_lower is None,
        doc=f"The {_kind} of a sparse tensor along axes, as a dense tensor.",
        test=lambda: {"values": [[*SAMPLE, np.array([1], np.int32)]], "gradient": False},
    )
    define(
        _sparse_name,
        f"{_REDUCED} -> output_indices: int64, output_values: T, output_shape: int64",
        f"keep_dims: bool = false; T: {_types}",
        shape=lambda c: [unknown_shape()] * 3,
        kernel=_sparse_reduction(_kind),
        gradient=_NONE,
        doc=f"The {_kind} of a sparse tensor along axes, as a sparse tensor.",
        test=lambda: {"values": [[*SAMPLE, np.array([1], np.int32)]]},
    )


def _reduce(
    op_type: str,
    sp_input: Any,
    axis: Any,
    keepdims: bool | None,
    old_axes: Any,
    keep_dims: bool | None,
) -> Any:
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    axis = deprecated_argument_lookup("axis", axis, "reduction_axes", old_axes)
    axes = reduction_axes(sp_input, axis)
    return getattr(raw, op_type)(*parts(sp_input), axes, keepdims)


@export("sparse.reduce_sum", "sparse_reduce_sum")
def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Any:
    """The sum along axes, as a dense tensor."""
    return _reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


@export("sparse.reduce_max", "sparse_reduce_max")
def sparse_reduce_max(
    sp_input: SparseTensor,
    axis: int | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Any:
    """The greatest entry along axes, as a dense tensor; zero where there is none."""
    return _reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


@export("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: SparseTensor,
    axis: int | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The sum along axes, as a sparse tensor."""
    found = _reduce("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)
    return SparseTensor(*found)


@export("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: SparseTensor,
    axis: int | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The greatest entry along axes, as a sparse tensor."""
    found = _reduce("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)
    return SparseTensor(*found)


# Softmax


@np.errstate(all="ignore")
def _softmax(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    if indices.ndim != 2:
        text = "Input sp_indices should be a matrix but received shape: "
        raise errors.invalid(f"{text}{shape_text(indices.shape)}")
    text = "Inputs sp_values and sp_shape should be vectors but received shapes:"
    require_vectors(text, values, shape)
    if len(shape) < 2:
        raise errors.invalid(
            f"Input should have rank >= 2, but received shape: {shape_text(shape.tolist())}"
        )
    require_shape(shape)
    require_sparse(indices, values, shape)
    # TensorFlow sorts the entries, and its results are in that order.
    order = in_order(indices)
    indices, values = indices[order], values[order]
    row = np.cumsum((np.diff(indices[:, :-1], axis=0, prepend=indices[:1, :-1]) != 0).any(axis=1))
    rows = int(row[-1]) + 1 if len(row) else 0
    greatest = np.full(rows, -np.inf, values.dtype)
    np.maximum.at(greatest, row, values)
    powers = np.exp(values - greatest[row])
    total = np.zeros(rows, values.dtype)
    np.add.at(total, row, powers)
    return powers / total[row]


def _softmax_gradient(op: Operation, grad: Tensor) -> list[Any]:
    indices, _, shape = op.inputs
    output = op.outputs[0]
    product = SparseTensor(indices, output * grad, shape)
    # dx = (g - sum(g * s)) * s, as for dense rows, over the entries that are there.
    negated = -sparse_reduce_sum(product, [-1], keepdims=True)
    shifted = raw.SparseDenseCwiseAdd(indices, grad, shape, negated)
    return [None, shifted * output, None]


define(
    "SparseSoftmax",
    "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    "T: {float32, float64}",
    shape=lambda c: TensorShape([sparse_shapes(c)[0]]),
    kernel=_softmax,
    lower=lower_softmax,
    gradient=_softmax_gradient,
    doc="Softmax over the entries of each row of a sparse tensor.",
    test=lambda: {"values": [SAMPLE], "gradient": False},
)


@export("sparse.softmax", "sparse_softmax")
def sparse_softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Softmax over the entries of each row; absent ones stay absent."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = raw.SparseSoftmax(*parts(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def sparse_dense_cwise_add(sp_t: SparseTensor, dense_t: TensorLike) -> SparseTensor:
    """Adds to each entry the element of a dense tensor at its place."""
    values = raw.SparseDenseCwiseAdd(*parts(sp_t), dense_t)
    return SparseTensor(sp_t.indices, values, sp_t.dense_shape)
