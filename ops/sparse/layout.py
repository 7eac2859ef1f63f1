# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors in another order or shape: reorder, reshape, transpose, concat, split, slice."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value, constant_value_as_shape
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from ..shape_inference import known_sizes
from ..sparse_checks import (
    as_one,
    require_matrices,
    require_sparse,
    require_vectors,
    with_parts,
)
from .common import (
    OTHER,
    SAMPLE,
    as_sparse,
    flat_places,
    in_order,
    indices_at,
    inside_of,
    parts,
    sparse_result,
    sparse_shapes,
)
from .compiled import (
    lower_concat,
    lower_reorder,
    lower_reshape,
    lower_slice,
    lower_slice_gradient,
    lower_split,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import SparseLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

# Order


def _reorder(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> tuple[Any, Any]:
    order = in_order(indices)
    return indices[order], values[order]


def _reorder_gradient(op: Operation, unused: object, grad: Tensor) -> tuple[None, Tensor, None]:
    indices, _, shape = op.inputs
    # The numbers of the entries, sorted with them, are the permutation.
    entries = tf.range(tf.shape(indices)[0])
    ordered = sparse_reorder(SparseTensor(indices, entries, shape))
    return None, tf.gather(grad, tf.invert_permutation(ordered.values)), None


define(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> "
    "output_indices: int64, output_values: T",
    shape=lambda c: sparse_result(*sparse_shapes(c))[:2],
    kernel=with_parts(as_one(_reorder)),
    lower=lower_reorder,
    gradient=_reorder_gradient,
    doc="The entries of a sparse tensor, row by row.",
    test=lambda: {"values": [[SAMPLE[0][::-1], SAMPLE[1], SAMPLE[2]]], "gradient": False},
)


def _static_or(sparse: SparseTensor, otherwise: Callable[..., Any]) -> Any:
    """The dense shape as a list where the graph knows it."""
    shape = sparse.get_shape()
    return shape.as_list() if shape.is_fully_defined() else otherwise()


@export("sparse.reorder", "sparse_reorder")
def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its entries in the canonical order, row by row."""
    sp_input = as_sparse(sp_input)
    indices, values = raw.SparseReorder(*parts(sp_input), name=name)
    shape = _static_or(sp_input, lambda: tf.identity(sp_input.dense_shape))
    return SparseTensor(indices, values, shape)


@export("sparse.transpose", "sparse_transpose")
def sparse_transpose(
    sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Exchanges the axes of a sparse tensor; without `perm`, reverses them."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = tf.rank(sp_input)
            perm = rank - 1 - tf.range(0, rank, 1)
        indices = tf.transpose(tf.gather(tf.transpose(sp_input.indices), perm))
        known = constant_value(convert_to_tensor(perm))
        if known is not None and sp_input.get_shape().is_fully_defined():
            sizes = sp_input.get_shape().as_list()
            shape: Any = [sizes[i] for i in known]
        else:
            shape = tf.gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, shape))


# Shape


def _target(shape: np.ndarray, wanted: np.ndarray) -> list[int]:
    """The new shape with the one size that may be left open."""
    sizes, dense = wanted.tolist(), int(np.prod(shape, dtype=np.int64))
    unknown = [i for i, size in enumerate(sizes) if size == -1]
    if len(unknown) > 1:
        raise errors.invalid(
            f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    for i, size in enumerate(sizes):
        if size < -1:
            raise errors.invalid(f"size {i} must be non-negative, not {size}")
    product = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
    if unknown:
        if product <= 0:
            raise errors.invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero"
            )
        sizes[unknown[0]] = dense // product
        if sizes[unknown[0]] * product != dense:
            raise errors.invalid(
                f"Input to reshape is a SparseTensor with {dense} dense values, but the requested "
                f"shape requires a multiple of {product}. input_shape={shape.tolist()} "
                f"output_shape={sizes}"
            )
    elif product != dense:
        raise errors.invalid(
            f"Input to reshape is a tensor with {dense} dense values, but the requested shape has "
            f"{product}. input_shape={shape.tolist()} output_shape={sizes}"
        )
    return sizes


def _reshape(c: KernelContext, indices: np.ndarray, shape: np.ndarray, wanted: np.ndarray) -> Any:
    for array, text, rank in (
        (indices, "Input indices should be a matrix", 2),
        (shape, "Input shape should be a vector", 1),
        (wanted, "Target shape should be a vector", 1),
    ):
        if array.ndim != rank:
            raise errors.invalid(f"{text} but received shape {list(array.shape)}")
    sizes = _target(shape, wanted)
    if not len(indices):
        return np.zeros((0, len(sizes)), np.int64), np.array(sizes, np.int64)
    if sizes == shape.tolist():
        # As they are, those outside too, which TensorFlow does not look at here.
        return indices.copy(), np.array(sizes, np.int64)
    return indices_at(flat_places(indices, shape), sizes), np.array(sizes, np.int64)


def _reshape_shapes(c: ShapeContext) -> list[TensorShape]:
    c.inputs[1].with_rank(1)
    c.value_as_shape(1)  # places are computed with the sizes
    rows = c.inputs[0].with_rank(2)[0]
    rank = c.inputs[2].with_rank(1)[0]
    return [TensorShape([rows, rank]), TensorShape([rank])]


define(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> "
    "output_indices: int64, output_shape: int64",
    shape=_reshape_shapes,
    kernel=_reshape,
    lower=lower_reshape,
    gradient=NoGradient("indices are integers"),
    doc="The indices of the entries of a sparse tensor in another shape.",
    test=lambda: {"values": [[SAMPLE[0], SAMPLE[2], np.array([3, -1])]]},
)


def _known_target(sp_input: SparseTensor, shape: Tensor) -> list[int] | None:
    """The static new shape, with the implied size filled in; ValueError for what cannot be."""
    sizes = constant_value_as_shape(shape)
    if sizes.ndims is None or not sp_input.get_shape().is_fully_defined():
        return None
    given = constant_value(shape)
    if given is not None and np.sum(given == -1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    total = int(np.prod(known_sizes(sp_input.get_shape())))
    wanted = sizes.as_list()
    original = list(wanted)
    if wanted.count(None) == 1:
        rest = int(np.prod([size for size in wanted if size is not None]))
        wanted[wanted.index(None)] = total // rest
    result = [size for size in wanted if size is not None]
    if len(result) < len(wanted):
        return None
    if int(np.prod(result)) != total:
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {original} "
            f"({int(np.prod(result))} elements)."
        )
    return result


@export("sparse.reshape", "sparse_reshape")
def sparse_reshape(
    sp_input: SparseLike | TensorLike, shape: Any, name: str | None = None
) -> SparseTensor:
    """The same entries in another dense shape; one size may be -1."""
    sp_input = as_sparse(sp_input)
    shape = tf.cast(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, new_shape = raw.SparseReshape(
            sp_input.indices, sp_input.dense_shape, shape, name=scope
        )
        known = _known_target(sp_input, shape)
        if known is not None:
            new_shape = tf.constant(known, dtype=dtypes.int64)
        return SparseTensor(indices, tf.identity(sp_input.values), new_shape)


@export("sparse.expand_dims")
def sparse_expand_dims(
    sp_input: SparseTensor, axis: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Inserts an axis of size 1."""
    rank = sp_input.dense_shape.get_shape()[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, numbers.Integral):
            axis = convert_to_tensor(axis, name="axis", dtype=dtypes.int32)
        elif not isinstance(axis, Tensor):
            raise TypeError(
                "axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]"
            )
        axis = tf.where_v2(axis >= 0, axis, axis + rank + 1)
        column = tf.zeros([tf.shape(sp_input.indices)[0], 1], dtype=dtypes.int64)
        before = tf.slice(sp_input.indices, [0, 0], [-1, axis])
        after = tf.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = tf.concat([before, column, after], axis=1)
        sizes_before = tf.slice(sp_input.dense_shape, [0], [axis])
        sizes_after = tf.slice(sp_input.dense_shape, [axis], [-1])
        one = convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        shape = tf.concat([sizes_before, one, sizes_after], axis=0)
        return SparseTensor(indices, sp_input.values, shape)


# Parts


def _require_one_shape(axis: int, *shapes: np.ndarray) -> None:
    """Raises InvalidArgumentError unless shapes differ along an axis alone."""
    rank = len(shapes[0])
    for i, shape in enumerate(shapes[1:], 1):
        if len(shape) != rank:
            raise errors.invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at "
                f"position {i}"
            )
        for d in range(rank):
            if d != axis and shape[d] != shapes[0][d]:
                raise errors.invalid(
                    f"Input shapes must match: expected {shapes[0][d]} for dimension {d} but got "
                    f"{shape[d]} at position {i}"
                )


def _concat(
    c: KernelContext, indices: list[Any], values: list[Any], shapes: list[Any]
) -> tuple[Any, Any, Any]:
    rank = len(shapes[0])
    axis = c.attr("concat_dim")
    if not -rank <= axis < rank:
        raise errors.invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}")
    axis %= rank
    _require_one_shape(axis, *shapes)
    moved, start = [], 0
    for part, shape in zip(indices, shapes, strict=True):
        part = part.copy()
        part[:, axis] += start
        start += int(shape[axis])
        moved.append(part)
    whole, size = np.concatenate(moved), shapes[0].copy()
    size[axis] = start
    # Entries of later inputs may come first row by row.
    order = in_order(whole)
    return whole[order], np.concatenate(values)[order], size


def _concat_shapes(c: ShapeContext) -> list[TensorShape]:
    number = len(c.inputs) // 3
    counts = [c.inputs[i].with_rank(2)[0] for i in range(number)]
    rank = TensorShape([None])
    for shape in c.inputs[2 * number :]:
        rank = rank.merge_with(shape.with_rank(1))
    total = sum(counts[1:], counts[0])
    return [TensorShape([total, rank[0]]), TensorShape([total]), rank]


define(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64 -> "
    "output_indices: int64, output_values: T, output_shape: int64",
    "concat_dim: int; N: int >= 2; T: type",
    shape=_concat_shapes,
    kernel=_concat,
    lower=lower_concat(_require_one_shape),
    gradient=NoGradient("TensorFlow has none for it", silent=True),
    doc="Sparse tensors one after the other along an axis.",
    test=lambda: {
        "values": [[[a, b] for a, b in zip(SAMPLE, OTHER, strict=True)]],
        "attrs": [{"concat_dim": 1}],
    },
)


def _as_sparse_list(values: Sequence[Any]) -> list[SparseTensor]:
    if not isinstance(values, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    return [as_sparse(value) for value in values]


def _expanded(shapes: list[Any], axis: int) -> list[Any]:
    """The shapes with every size but that of the axis raised to the greatest."""
    greatest = tf.reduce_max(tf.concat([tf.reshape(shape, [1, -1]) for shape in shapes], 0), 0)

    def widened(shape: Tensor) -> Tensor:
        own = shape[-1:] if axis == -1 else shape[axis : axis + 1]
        after = [] if axis == -1 else greatest[axis + 1 :]
        return tf.concat([greatest[:axis], own, after], 0)

    return [widened(shape) for shape in shapes]


@export("sparse.concat", "sparse_concat")
def sparse_concat(
    axis: int,
    sp_inputs: Sequence[Any],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: Any = None,
) -> SparseTensor:
    """Sparse tensors one after the other along an axis."""
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    axis = deprecated_argument_lookup("axis", axis, "concat_dim", concat_dim)
    inputs = _as_sparse_list(sp_inputs)
    if len(inputs) == 1:
        return inputs[0]
    shapes = [sparse.dense_shape for sparse in inputs]
    if expand_nonconcat_dim:
        shapes = _expanded(shapes, axis)
    indices, values, shape = raw.SparseConcat(
        [s.indices for s in inputs], [s.values for s in inputs], shapes, concat_dim=axis, name=name
    )
    known = [constant_value(s) for s in shapes]
    if all(sizes is not None for sizes in known):
        whole = np.array(known[0])
        whole[axis] = sum(sizes[axis] for sizes in known)
        shape = convert_to_tensor(whole)
    return SparseTensor(indices, values, shape)


def _require_parts(size: np.ndarray, count: int | np.ndarray) -> None:
    """Raises InvalidArgumentError for more parts than there are indices along an axis."""
    if not 1 <= count <= size:
        raise errors.invalid(
            f"Input num_split should be between 1 and the splitting dimension size "
            f"({size}), got {count}"
        )


def _split(
    c: KernelContext, axis: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> tuple[Any, ...]:
    if axis.size != 1:
        raise errors.invalid(f"axis should be a scalar but received shape {list(axis.shape)}")
    count, place, rank = c.attr("num_split"), int(axis.item()), len(shape)
    if not -rank <= place < rank:
        raise errors.invalid(f"Input split_dim should be between 0 and rank ({rank}), got {place}")
    place %= rank
    _require_parts(shape[place], count)
    least, extra = divmod(int(shape[place]), count)
    results, start = [], 0
    for i in range(count):
        # The first parts take the remainder.
        size = least + (i < extra)
        inside = (indices[:, place] >= start) & (indices[:, place] < start + size)
        part, sizes = indices[inside].copy(), shape.copy()
        part[:, place] -= start
        sizes[place] = size
        results.append((part, values[inside], sizes))
        start += size
    return tuple(list(column) for column in zip(*results, strict=True))


def _split_shapes(c: ShapeContext) -> list[TensorShape]:
    count, (rank,) = c.attr("num_split"), c.inputs[3].with_rank(1).as_list()
    return [shape for shape in sparse_result(None, rank) for _ in range(count)]


define(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split * "
    "int64, output_values: num_split * T, output_shape: num_split * int64",
    "num_split: int >= 1; T: type",
    shape=_split_shapes,
    kernel=_split,
    lower=lower_split(_require_parts),
    gradient=NoGradient("TensorFlow has none for it"),
    doc="A sparse tensor in parts along an axis; the first parts are the larger ones.",
    test=lambda: {"values": [[np.int64(1), *SAMPLE]], "attrs": [{"num_split": 2}]},
)


class KeywordRequired:
    """The default of the argument that keeps positional ones away."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


_REQUIRED = KeywordRequired()


@export("sparse.split", "sparse_split")
def sparse_split(
    keyword_required: object = _REQUIRED,
    sp_input: SparseTensor | None = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """A sparse tensor in `num_split` parts along an axis."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = deprecated_argument_lookup("axis", axis, "split_dim", split_dim)
    if axis is None:
        raise ValueError("axis is required")
    sp_input = as_sparse(sp_input)
    columns = raw.SparseSplit(axis, *parts(sp_input), num_split=num_split, name=name)
    return [SparseTensor(*part) for part in zip(*columns, strict=True)]


def _slice(
    c: KernelContext,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    start: np.ndarray,
    size: np.ndarray,
) -> tuple[Any, Any, Any]:
    for name, given in (("start", start), ("size", size)):
        require_vectors(f"Input {name} should be a vector but received shape", given)
    for name, given in (("start", start), ("size", size)):
        if len(given) != len(shape):
            raise errors.invalid(
                f"Expected {name} to be a vector of length {len(shape)} but got length {len(given)}"
            )
    require_sparse(indices, values, shape)
    for i, (first, length) in enumerate(zip(start.tolist(), size.tolist(), strict=True)):
        if length < 0 or first + length >= 2**63:
            raise errors.invalid(
                f"The slice of {length} from {first} in dimension {i} is not valid"
            )
    inside = inside_of(indices, start, start + size)
    sizes = np.maximum(np.minimum(size, shape - start), 0)
    return indices[inside] - start, values[inside], sizes


def _slice_gradient(op: Operation, *grads: Any) -> tuple[None, Tensor, None, None, None]:
    indices, values, _, start, _ = op.inputs
    grad = raw.SparseSliceGrad(grads[1], indices, start, op.outputs[0])
    grad.set_shape(values.get_shape())
    return None, grad, None, None, None


def _require_all_used(count: np.ndarray, found: np.ndarray) -> None:
    """Raises InternalError unless so many gradients as there are belong to an entry."""
    if found != count:
        raise errors.internal(
            f"Elements of backprop_val_grad aren't all propagated. Num elements:{count}, "
            f"used: {found}",
        )


def _slice_gradient_kernel(
    c: KernelContext, grad: np.ndarray, indices: np.ndarray, start: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    require_matrices("Input and output indices", " and ", indices, chosen)
    require_vectors("Input backprop_val_grad should be a vector but received shape:", grad)
    if indices.shape[1] != chosen.shape[1]:
        raise errors.invalid(
            "The input and output should have the same ndims: got: "
            f"{indices.shape[1]} and {chosen.shape[1]}"
        )
    if len(chosen) > len(indices):
        raise errors.invalid(
            "# rows of output_indices should be not greater than of input_indices, got "
            f"{len(chosen)} and {len(indices)}"
        )
    if len(grad) != len(chosen):
        raise errors.invalid(
            "# elements of backprop_val_grad and # rows of output_indices should match "
            f"(#nnz of sum): got {len(grad)} and {len(chosen)}"
        )
    require_vectors("The input_start should be a vector but received shape", start)
    if len(start) != indices.shape[1]:
        raise errors.invalid(
            f"Expected input_start to be a vector of length {indices.shape[1]} but got length "
            f"{len(start)}"
        )
    # The block's entries are some of those given, in their order.
    rows, wanted = indices.tolist(), (chosen + start).tolist()
    result, found = np.zeros(len(rows), grad.dtype), 0
    for i, row in enumerate(rows):
        if found < len(wanted) and row == wanted[found]:
            result[i] = grad[found]
            found += 1
    _require_all_used(np.array(len(wanted)), np.array(found))
    return result


define(
    "SparseSlice",
    "indices: int64, values: T, shape: int64, start: int64, size: int64 -> "
    "output_indices: int64, output_values: T, output_shape: int64",
    shape=lambda c: sparse_result(None, c.inputs[2].with_rank(1).as_list()[0]),
    kernel=with_parts(_slice),
    lower=lower_slice,
    gradient=_slice_gradient,
    doc="A block of a sparse tensor.",
    test=lambda: {"values": [[*SAMPLE, np.array([0, 1]), np.array([2, 2])]], "gradient": False},
)
define(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> "
    "val_grad: T",
    "T: numbertype",
    shape=lambda c: TensorShape([c.inputs[1].with_rank(2)[0]]),
    kernel=_slice_gradient_kernel,
    lower=lower_slice_gradient(_require_all_used),
    gradient=NoGradient("TensorFlow has none for it"),
    doc="The gradient of a block of a sparse tensor.",
    test=lambda: {
        "values": [[np.array([5], np.float32), SAMPLE[0], np.array([0, 1]), np.array([[1, 1]])]]
    },
)


@export("sparse.slice", "sparse_slice")
def sparse_slice(
    sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """The block of a sparse tensor that begins at `start` and has the shape `size`."""
    sp_input = as_sparse(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        return SparseTensor(*raw.SparseSlice(*parts(sp_input), start, size, name=scope))
