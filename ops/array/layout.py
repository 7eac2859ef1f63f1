# SPDX-License-Identifier: Apache-2.0
"""Ops that permute elements: transposes, reversals and rolls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..public import raw
from ..ranks import ranked, vector
from . import lowered
from .join import concat
from .row_shapes import reverse_rows, transpose_rows
from .shape import rank, renamed

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Transpose


def _transpose_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[1], 1)
    given = shape_inference.dims(c.inputs[0])
    count = c.inputs[1].as_list()[0] if c.inputs[1].ndims is not None else None
    if given is not None and count is not None and len(given) != count:
        raise ValueError(f"Dimension must be {len(given)} but is {count}")
    perm = c.value(1)
    if count in (0, 1) and given is None:
        return c.inputs[0]
    if perm is None or given is None:
        return shape_inference.of_rank(count if given is None else len(given))
    for axis in perm.tolist():
        if not -len(given) <= axis < len(given):
            raise ValueError(f"perm dim {axis} is out of range of input rank {len(given)}")
    return TensorShape([given[axis] for axis in perm.tolist()])


def _checked_perm(ndim: int, perm: np.ndarray) -> list[int]:
    if perm.ndim != 1:
        raise errors.invalid(f"perm must be a vector, not {shape_text(perm.shape)}")
    if len(perm) != ndim:
        raise errors.invalid(
            f"transpose expects a vector of size {ndim}. But input(1) is a vector of size "
            f"{len(perm)}"
        )
    axes = [int(axis) + ndim if axis < 0 else int(axis) for axis in perm]
    for i, axis in enumerate(axes):
        if not 0 <= axis < ndim:
            raise errors.invalid(f"{int(perm[i])} is out of range [0 .. {ndim})")
    for axis in range(ndim):
        if axis not in axes:
            raise errors.invalid(f"{axis} is missing from {{{','.join(map(str, perm.tolist()))}}}.")
    return axes


def _transpose_kernel(c: KernelContext, x: np.ndarray, perm: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(_checked_perm(x.ndim, perm))).reshape(
        [x.shape[axis] for axis in _checked_perm(x.ndim, perm)]
    )


def _lower_transpose(b: Builder, op: OpView, x: Value, perm: Value) -> Any:
    known = b.known(perm)
    if known is None:
        return NotImplemented
    moved = b.transpose(x, tuple(_checked_perm(x.ndim, known)))
    is_turned = op.type == "ConjugateTranspose" and k.is_complex(x.dtype)
    return b.map(k.conj, moved) if is_turned else moved


def _transposes() -> dict[Any, Any]:
    return {
        "values": [
            [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 0], np.int32)],
            [np.arange(6, dtype=np.float32).reshape(1, 2, 3), np.array([2, 0, 1], np.int32)],
        ],
        "gradient": True,
    }


def _transpose_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return (transpose(grad, _invert(op.inputs[1])), None)


_transpose = define(
    "Transpose",
    "x: T, perm: Tperm -> y: T",
    "T: type; Tperm: index = int32",
    shape=_transpose_shape,
    kernel=_transpose_kernel,
    rows=transpose_rows,
    lower=_lower_transpose,
    gradient=_transpose_gradient,
    sizes=True,
    doc="The dimensions of a tensor in another order.",
    test=lambda: _transposes(),
)


def _conjugate(x: np.ndarray) -> np.ndarray:
    return np.conj(x) if x.dtype.kind == "c" else x


def _conjugate_transpose_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return (transpose(grad, _invert(op.inputs[1]), conjugate=True), None)


_conjugate_transpose = define(
    "ConjugateTranspose",
    "x: T, perm: Tperm -> y: T",
    "T: type; Tperm: index = int32",
    shape=_transpose_shape,
    kernel=lambda c, x, perm: _conjugate(_transpose_kernel(c, x, perm)),
    lower=_lower_transpose,
    gradient=_conjugate_transpose_gradient,
    doc="The complex conjugate with dimensions in another order.",
    test=lambda: {"values": [[np.array([[1 + 2j, 3]], np.complex64), np.array([1, 0], np.int32)]]},
)


def _check_permutation(x: np.ndarray) -> None:
    outside = np.flatnonzero((x < 0) | (x >= len(x)))
    if outside.size:
        raise errors.invalid(f"{x[outside[0]]} is not between 0 and {len(x)}")
    twice = np.bincount(x, minlength=len(x))[x] > 1
    if twice.any():
        raise errors.invalid(f"{x[np.argmax(twice)]} is duplicated in the input.")


def _inverse(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if x.dtype == object:  # Sizes, each of which is asked for its number.
        x = np.array([int(axis) for axis in x], np.int64)
    _check_permutation(x)
    out = np.empty_like(x)
    out[x] = np.arange(len(x), dtype=x.dtype)
    return out


def _lower_inverse(b: Builder, op: OpView, x: Value) -> Any:
    known = b.known(x)
    if known is None or x.ndim != 1:
        return lowered.inverted(b, x, _check_permutation)
    # The gradient of a transposition transposes by it, so that it has to be known.
    numbers = np.array([int(axis) for axis in known], np.int64)
    _check_permutation(numbers)
    return b.constant(np.argsort(numbers), x.dtype)


_invert: OpFunction = define(
    "InvertPermutation",
    "x: T -> y: T",
    "T: index = int32",
    shape=lambda c: TensorShape(shape_inference.ranked(c.inputs[0], 1)),
    kernel=_inverse,
    lower=_lower_inverse,
    gradient=NoGradient("a permutation is a vector of integers", silent=True),
    sizes=True,
    doc="The permutation that undoes a permutation.",
    test=lambda: {"values": [[np.array([2, 0, 1], np.int32)]]},
)


@export("math.invert_permutation", "invert_permutation")
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`."""
    return _invert(x, name=name)


@export("transpose")
def transpose(
    a: Any,
    perm: TensorLike | None = None,
    name: str | None = "transpose",
    conjugate: bool = False,
) -> Tensor:
    """A tensor with its dimensions in another order.

    Args:
        a: a tensor of any dtype and shape.
        perm: for each dimension of the result, which one of `a` it is; reversed by default.
        name: of the operation.
        conjugate: whether complex numbers are conjugated, too.

    Returns:
        A Tensor of the dtype of `a`.

    Raises:
        ValueError: `perm` has not one number per dimension.
        InvalidArgumentError: a dimension is missing from it.

    Example:
        >>> tf.Session().run(tf.transpose([[1, 2, 3], [4, 5, 6]]))
        array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
        >>> print(tf.transpose(tf.zeros([2, 3, 4]), [0, 2, 1]).shape)
        (2, 4, 3)
    """
    with name_scope(name, "transpose", [a]) as name:
        function = _conjugate_transpose if conjugate and a.dtype.is_complex else _transpose
        if perm is not None:
            return function(a, perm, name=name)
        a = convert_to_tensor(a, name="a")
        ndims = a.get_shape().ndims
        if ndims:
            perm = (ndims - 1) - np.arange(ndims)
        else:
            ranks = raw.Rank(a)
            perm = (ranks - 1) - raw.Range(0, ranks, 1)
        result = function(a, perm, name=name)
        static = shape_inference.dims(result.op.inputs[0].get_shape())
        if static is not None:
            result.set_shape(static[::-1])
        return result


@export("linalg.transpose", "linalg.matrix_transpose", "matrix_transpose")
def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its last two dimensions exchanged."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        static = a.get_shape()
        ndims = static.ndims
        if ndims is None:
            ranks = rank(a)
            perm: Any = concat((raw.Range(0, ranks - 2, 1), [ranks - 1, ranks - 2]), 0)
        elif ndims < 2:
            raise ValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {static}"
            )
        else:
            perm = [*range(ndims - 2), ndims - 1, ndims - 2]
        return transpose(a, perm=perm, conjugate=conjugate)


# Reverse

_REVERSIBLE = (
    "{uint8, int8, uint16, int16, int32, int64, bool, half, float32, float64, complex64, "
    "complex128, string}"
)


def _flipped(b: Builder, x: Value, axes: set[int]) -> Value:
    if not axes:
        return b.identity(x)
    begin = tuple(size - 1 if i in axes else 0 for i, size in enumerate(x.shape))
    stride = tuple(-1 if i in axes else 1 for i in range(x.ndim))
    return b.slice(x, begin, x.shape, stride)


def _reverse_dims_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    marks = shape_inference.ranked(c.inputs[1], 1)
    if given is not None and marks[0] is not None and marks[0] != len(given):
        raise ValueError(f"Shape must be rank {marks[0]} but is rank {len(given)}")
    return c.inputs[0]


def _reverse_dims(c: KernelContext, x: np.ndarray, marks: np.ndarray) -> np.ndarray:
    if len(marks) != x.ndim:
        raise errors.invalid(
            "'dims' must have the same number of values as 'input' has dimensions. "
            f"'input' has {x.ndim}'dims' has {len(marks)} values"
        )
    return np.flip(x, axis=tuple(np.flatnonzero(marks).tolist()))


def _lower_reverse_marked(b: Builder, op: OpView, x: Value, marks: Value) -> Any:
    known = b.known(marks)
    if known is None or len(known) != x.ndim:
        return NotImplemented
    return _flipped(b, x, set(np.flatnonzero(known).tolist()))


_reverse_marked: OpFunction = define(
    "Reverse",
    "tensor: T, dims: bool -> output: T",
    "T: " + _REVERSIBLE,
    shape=_reverse_dims_shape,
    kernel=_reverse_dims,
    lower=_lower_reverse_marked,
    gradient=lambda op, grad: (_reverse_marked(grad, op.inputs[1]), None),
    doc="A tensor with marked dimensions reversed.",
    test=lambda: {
        "values": [[np.array([[1, 2], [3, 4]], np.float32), np.array([True, False])]],
        "gradient": True,
    },
)


def _reverse_shape(c: ShapeContext) -> TensorShape:
    given, axes = shape_inference.dims(c.inputs[0]), c.value(1)
    shape_inference.ranked(c.inputs[1], 1)
    if given is None or axes is None:
        return c.inputs[0]
    seen = set()
    for i, axis in enumerate(axes.tolist()):
        where = axis + len(given) if axis < 0 else axis
        if not 0 <= where < len(given):
            # The bracket is missing in TensorFlow's text, too.
            last = len(given) - 1
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {last}")
        if where in seen:
            raise ValueError(f"axis {where} specified more than once.")
        seen.add(where)
    return c.inputs[0]


def _reverse_axes(ndim: int, axes: np.ndarray) -> set[int]:
    seen: set[int] = set()
    for i, axis in enumerate(axes.reshape(-1).tolist()):
        where = axis + ndim if axis < 0 else axis
        if not 0 <= where < ndim:
            raise errors.invalid(f"'axis'[{i}] = {axis} is out of valid range [0, {ndim - 1}]")
        if where in seen:
            raise errors.invalid(f"axis {where} specified more than once.")
        seen.add(where)
    return seen


def _lower_reverse(b: Builder, op: OpView, x: Value, axes: Value) -> Any:
    known = b.known(axes)
    return NotImplemented if known is None else _flipped(b, x, _reverse_axes(x.ndim, known))


_reverse_v2: OpFunction = define(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    "Tidx: index = int32; T: " + _REVERSIBLE.replace("half", "bfloat16, half"),
    shape=_reverse_shape,
    kernel=ranked(
        lambda c, x, axes: np.flip(x, axis=tuple(_reverse_axes(x.ndim, axes))),
        vector(1, "'dims' must be 1-dimension, not {rank}"),
    ),
    lower=_lower_reverse,
    rows=reverse_rows,
    gradient=lambda op, grad: (_reverse_v2(grad, op.inputs[1]), None),
    sizes=True,
    doc="A tensor with some dimensions reversed.",
    test=lambda: {
        "values": [[np.array([[1, 2], [3, 4]], np.float32), np.array([-1], np.int32)]],
        "gradient": True,
    },
)


@export("reverse", "manip.reverse", "reverse_v2")
def reverse(tensor: TensorLike, axis: Sequence[int], name: str | None = None) -> Tensor:
    """A tensor with the order along some dimensions reversed.

    Args:
        tensor: a tensor of any dtype and shape.
        axis: the dimensions, a list of integers; negative ones count from the end.
        name: of the operation.

    Returns:
        A Tensor of the dtype and shape of `tensor`.

    Raises:
        ValueError: a dimension is out of range or stated twice.

    Example:
        >>> tf.Session().run(tf.reverse([[1, 2, 3], [4, 5, 6]], axis=[1]))
        array([[3, 2, 1],
               [6, 5, 4]], dtype=int32)
    """
    return _reverse_v2(tensor, axis, name=name)


def _reverse_sequence_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    lengths = shape_inference.ranked(c.inputs[1], 1)
    seq, batch = c.attr("seq_dim"), c.attr("batch_dim")
    if given is None:
        return shape_inference.unknown()
    for name, axis in (("batch_dim", batch), ("seq_dim", seq)):
        if axis >= len(given):
            raise ValueError(f"{name} must be < input rank: {axis} vs. {len(given)}")
    out = list(given)
    out[batch] = shape_inference.merge_dim(given[batch], lengths[0])
    return TensorShape(out)


def _check_lengths(lengths: np.ndarray, most: int, axis: int) -> None:
    wrong = np.flatnonzero((lengths < 0) | (lengths > most))
    if wrong.size:
        what = "< 0" if lengths[wrong[0]] < 0 else f"> input.dims({axis})"
        raise errors.invalid(f"seq_lens({wrong[0]}) {what}")


def _lower_reverse_sequence(b: Builder, op: OpView, x: Value, lengths: Value) -> Value:
    seq, batch = op.attr("seq_dim"), op.attr("batch_dim")

    def check(lengths: np.ndarray, most: np.ndarray) -> None:
        _check_lengths(lengths, int(most), seq)

    return lowered.reversed_sequences(b, x, lengths, seq, batch, check)


def _reverse_sequence(c: KernelContext, x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    seq, batch = c.attr("seq_dim"), c.attr("batch_dim")
    if seq == batch:
        raise errors.invalid(f"batch_dim == seq_dim == {seq}")
    if len(lengths) != x.shape[batch]:
        raise errors.invalid(
            f"Length of seq_lengths != input.dims({batch}), ({len(lengths)} vs. {x.shape[batch]})"
        )
    _check_lengths(lengths, x.shape[seq], seq)
    out = x.copy()
    source, target = (np.moveaxis(a, (batch, seq), (0, 1)) for a in (x, out))
    for i, length in enumerate(lengths.tolist()):
        target[i, :length] = source[i, :length][::-1]
    return out


# A reversal undoes itself.
def _reverse_sequence_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return (
        reverse_sequence(
            grad,
            batch_axis=op.get_attr("batch_dim"),
            seq_axis=op.get_attr("seq_dim"),
            seq_lengths=op.inputs[1],
        ),
        None,
    )


_reverse_sequence_op = define(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    "seq_dim: int; batch_dim: int = 0; T: type; Tlen: index = int64",
    shape=_reverse_sequence_shape,
    kernel=_reverse_sequence,
    lower=_lower_reverse_sequence,
    gradient=_reverse_sequence_gradient,
    doc="The beginning of every row reversed, as far as its length says.",
    test=lambda: {
        "values": [[np.arange(6, dtype=np.float32).reshape(2, 3), np.array([2, 3], np.int64)]],
        "attrs": [{"seq_dim": 1}],
        "gradient": True,
    },
)


@export("reverse_sequence")
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` entries of row i reversed."""
    seq = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    return _reverse_sequence_op(
        input, seq_lengths, seq_dim=seq, batch_dim=0 if batch is None else batch, name=name
    )


# Roll


def _roll_kernel(
    c: KernelContext, x: np.ndarray, shift: np.ndarray, axis: np.ndarray
) -> np.ndarray:
    if x.ndim < 1:
        raise errors.invalid("input must be 1-D or higher")
    if shift.ndim > 1:
        raise errors.invalid(
            "shift must be a scalar or a 1-D vector. Found: " + shape_text(shift.shape)
        )
    if axis.ndim > 1:
        raise errors.invalid(
            "axis must be a scalar or a 1-D vector. Found: " + shape_text(axis.shape)
        )
    if shift.shape != axis.shape:
        raise errors.invalid("shift and axis must have the same size")
    out = x
    for step, where in zip(shift.reshape(-1).tolist(), axis.reshape(-1).tolist()):
        if not -x.ndim <= where < x.ndim:
            raise errors.invalid(f"axis {where} is out of range")
        out = np.roll(out, step, axis=where)
    return out


def _roll_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked_at_most(c.inputs[1], 1)
    shape_inference.ranked_at_most(c.inputs[2], 1)
    shape_inference.merge(c.inputs[1], c.inputs[2])
    return c.inputs[0]


def _roll_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    return _roll(grad, -op.inputs[1], op.inputs[2]), None, None


_roll = define(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    "T: type; Tshift: index; Taxis: index",
    shape=_roll_shape,
    kernel=_roll_kernel,
    lower=lambda b, op, x, shift, axis: lowered.rolled(b, x, shift, axis),
    gradient=_roll_gradient,
    doc="A tensor with its elements moved along dimensions, around the end.",
    test=lambda: {
        "values": [
            [
                np.arange(6, dtype=np.float32).reshape(2, 3),
                np.array([1, -1], np.int32),
                np.array([0, 1], np.int32),
            ]
        ],
        "gradient": True,
    },
)


@export("roll", "manip.roll")
def roll(
    input: TensorLike,
    shift: int | Sequence[int],
    axis: int | Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`input` with its elements moved by `shift` along `axis`, around the end."""
    return _roll(input, shift, axis, name=name)
