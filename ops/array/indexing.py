# SPDX-License-Identifier: Apache-2.0
"""StridedSlice and `tensor[...]`; what ranges are taken stands in `slice_ranges`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import constant as publish
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor, overload
from ...engine.types import dtypes
from ...engine.types.shape import Dimension, TensorShape, shape_text
from ...jit.kernel.sizes import is_measured, same
from .. import shape_inference
from ..public import raw, tf
from . import moving_slices
from .constant import constant
from .row_shapes import strided_slice_rows
from .shape import shape
from .slice_ranges import Range, masks_of, resolve, resolved, taken
from .stack import stack

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView
    from ..state.variables import Variable

newaxis = None
publish("newaxis", None)


def _strided_slice_shape(c: ShapeContext) -> TensorShape:
    for i in (1, 2, 3):
        shape_inference.ranked(c.inputs[i], 1)
    merged = shape_inference.merge(shape_inference.merge(c.inputs[1], c.inputs[2]), c.inputs[3])
    sizes, strides = shape_inference.dims(c.inputs[0]), c.value(3)
    if sizes is None or strides is None or merged.ndims is None:
        return shape_inference.unknown()
    begin, end = (None if v is None else v.tolist() for v in (c.value(1), c.value(2)))
    return TensorShape(resolve(sizes, begin, end, strides.tolist(), masks_of(c.attr))[1])


def _strided_slice_kernel(
    c: KernelContext, x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray
) -> np.ndarray:
    ranges, out = resolved(x.shape, begin, end, strides, c.attr)
    # (The ellipsis keeps a scalar an array: of strings and symbolic sizes it would be the thing.)
    return x[(*map(taken, ranges), ...)].reshape(out)


def _lower_strided_slice(
    b: Builder, op: OpView, x: Any, begin: Value, end: Value, strides: Value
) -> Any:
    steps = b.known(strides)
    if steps is None:
        return NotImplemented
    ranges, out = moving_slices.moving_ranges(b, op.attr, x.shape, (begin, end, steps))
    part = moving_slices.taken(b, x, ranges)
    return b.reshape(part, tuple(out))


MASKS = (
    "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
    "shrink_axis_mask: int = 0"
)


def _mask_attrs(op: Operation) -> dict[str, Any]:
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    return {name: op.get_attr(name) for name in names}


def _strided_slice_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    begin, end, strides = op.inputs[1], op.inputs[2], op.inputs[3]
    x = shape(op.inputs[0], out_type=begin.dtype)
    return _strided_slice_grad(x, begin, end, strides, grad, **_mask_attrs(op)), None, None, None


def _sample() -> list[Any]:
    return [np.array([1, 0], np.int32), np.array([3, 4], np.int32), np.array([1, 2], np.int32)]


_strided_slice = define(
    "StridedSlice",
    "input: T, begin: Index, end: Index, strides: Index -> output: T",
    "T: type; Index: index; " + MASKS,
    shape=_strided_slice_shape,
    kernel=_strided_slice_kernel,
    rows=strided_slice_rows,
    lower=_lower_strided_slice,
    gradient=_strided_slice_gradient,
    sizes=True,
    doc="What Python's `x[begin:end:stride, ...]` takes of a tensor.",
    test=lambda: {
        "values": [[np.arange(12, dtype=np.float32).reshape(3, 4), *_sample()]],
        "attrs": [{}, {"begin_mask": 1, "end_mask": 2}, {"shrink_axis_mask": 1}],
        "gradient": True,
    },
)


def _strided_slice_grad_kernel(
    c: KernelContext,
    sizes: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    dy: np.ndarray,
) -> np.ndarray:
    if sizes.ndim != 1:
        text = f"shape must be 1-D, got shape.shape = {shape_text(sizes.shape)}"
        raise errors.invalid(text)
    for size in sizes.tolist():
        if size < 0:
            raise errors.invalid(f"Dimension {size} must be >= 0")
    ranges, out = resolved(sizes.tolist(), begin, end, strides, c.attr)
    if list(dy.shape) != out:
        raise _not_as_sliced(out, dy.shape)
    whole = np.zeros([int(n) for n in sizes.tolist()], dtype=dy.dtype)
    if dy.size:
        whole[(*map(taken, ranges), ...)] = dy.reshape([r.size for r in ranges])
    return whole


def _not_as_sliced(out: Sequence[int], given: Sequence[int]) -> BaseException:
    return errors.invalid(f"shape of dy was {shape_text(given)} instead of {shape_text(out)}")


def _moves(r: object) -> bool:
    return isinstance(r, moving_slices.Moving)


def _takes_nothing(r: Any) -> bool:
    """Is a range known to be empty?

    Where a run learns how long it is that makes no difference, unless steps are to be left out
    between its entries.
    """
    is_open = _moves(r) or (is_measured(r.size) and r.stride == 1)
    return same(r.size, 0) if is_open else bool(r.size == 0)


def _spread(b: Builder, value: Value, axis: int, r: Range, size: AnySize) -> Value:
    """Puts a dimension back where a strided range took it from, with zeros around."""
    step, count, start = r.stride, r.size, r.begin
    # A range that goes down is one that goes up, read from its other end.
    if step < 0:
        first = tuple(n - 1 if i == axis else 0 for i, n in enumerate(value.shape))
        flip = tuple(-1 if i == axis else 1 for i in range(value.ndim))
        value = b.slice(value, first, value.shape, flip)
        start, step = start + (count - 1) * step, -step
    # Each entry gets step - 1 zeros behind it; those behind the last one go again.
    if step > 1:
        head, tail = value.shape[:axis], value.shape[axis + 1 :]
        value = b.reshape(value, (*head, count, 1, *tail))
        value = b.pad(value, [(0, step - 1 if i == axis + 1 else 0) for i in range(value.ndim)])
        value = b.reshape(value, (*head, count * step, *tail))
        count = (count - 1) * step + 1
        value = b.slice(value, (0,) * value.ndim, (*head, count, *tail))
    around = (start, size - start - count)
    return b.pad(value, [around if i == axis else (0, 0) for i in range(value.ndim)])


def _lower_strided_slice_grad(
    b: Builder, op: OpView, sizes: Value, begin: Value, end: Value, strides: Value, dy: Value
) -> Any:
    known, steps = b.known(sizes), b.known(strides)
    if known is None or steps is None:
        return NotImplemented
    whole = known.tolist()
    fill = moving_slices.Filling(dy.shape, _not_as_sliced)
    ranges, out = moving_slices.moving_ranges(b, op.attr, whole, (begin, end, steps), fill)
    b.require_shape(dy, out)
    if any(map(_takes_nothing, ranges)):
        return b.full(tuple(whole), 0, op.dtype(0))
    value = b.reshape(dy, tuple(r.size for r in ranges))
    for axis, r in enumerate(ranges):
        if not _moves(r) and (r.stride != 1 or not same(r.size, whole[axis])):
            value = _spread(b, value, axis, r, whole[axis])
    return moving_slices.put(b, value, ranges, whole, b.constant(0, op.dtype(0)))


def _strided_slice_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    return (
        *([None] * 4),
        strided_slice(grad, *op.inputs[1:4], **_mask_attrs(op)),
    )


_strided_slice_grad = define(
    "StridedSliceGrad",
    "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    "T: type; Index: index; " + MASKS,
    shape=lambda c: c.value_as_shape(0),
    kernel=_strided_slice_grad_kernel,
    lower=_lower_strided_slice_grad,
    gradient=_strided_slice_grad_gradient,
    doc="Zeros of the given shape with `dy` where StridedSlice takes from.",
    test=lambda: {
        "values": [[np.array([3, 4], np.int32), *_sample(), np.ones([2, 2], np.float32)]],
        "gradient": True,
    },
)


@export("strided_slice")
def strided_slice(
    input_: object,
    begin: Any,
    end: object,
    strides: object = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Variable | None = None,
    name: str | None = None,
) -> Tensor:
    """What brackets take of a tensor: `x[begin:end:strides]`, per dimension.

    Args:
        input_: a tensor of any dtype.
        begin: where each dimension starts: a vector of int32 or int64.
        end: where it ends, which is left out.
        strides: the steps, which may be negative but not 0; ones by default.
        begin_mask: bit i is set where begin[i] does not count: from the start.
        end_mask: bit i is set where end[i] does not count: up to the end.
        ellipsis_mask: the one bit that is set stands for `...`.
        new_axis_mask: bits that are set stand for tf.newaxis.
        shrink_axis_mask: bits that are set stand for one index: the dimension goes.
        var: a Variable, which `assign` of the result then changes.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `input_`.

    Raises:
        ValueError: a stride is 0, an index out of range, or there are more than dimensions.

    Example:
        >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
        >>> tf.Session().run([tf.strided_slice(x, [0, 2], [2, 0], [1, -1]), x[:, 2:0:-1]])
        [array([[3, 2],
               [6, 5]], dtype=int32), array([[3, 2],
               [6, 5]], dtype=int32)]
    """
    if strides is None:
        strides = tf.ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = _strided_slice(input_, begin, end, strides, name=name, **masks)
    prefix = result.op.name if name is None else name

    def assign(val: TensorLike, name: str | None = None) -> Any:
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        full = f"{prefix}_assign" if name is None else name
        ranges = {"begin": begin, "end": end, "strides": strides}
        return var._strided_slice_assign(**ranges, value=val, name=full, **masks)

    result.assign = assign
    return result


# tensor[...]

_SLICE_TYPE_ERROR = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)
_INDEX_TYPES = ("int32", "int64", "int32_ref", "int64_ref")


def _check_index(index: Any) -> None:
    if isinstance(index, (int, Dimension)):
        return
    dtype = getattr(index, "dtype", None)
    if dtype is None or dtypes.as_dtype(dtype).name not in _INDEX_TYPES:
        raise TypeError(f"{_SLICE_TYPE_ERROR}, got {index!r}")
    if index.shape and len(index.shape) == 1:
        raise TypeError(f"{_SLICE_TYPE_ERROR}, got {index!r}")


class _Spec:
    """Begin, end, strides and masks gathered from the entries of one index expression."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks: dict[str, Any] = dict.fromkeys(
            ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"), 0
        )

    def _append(self, begin: TensorLike, end: TensorLike, stride: int, *masks: str) -> None:
        for mask in masks:
            self.masks[mask] |= 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def _append_slice(self, s: Any) -> None:
        masks, bounds = [], []
        for bound, mask in ((s.start, "begin_mask"), (s.stop, "end_mask")):
            # Python may write sys.maxsize for an end that is left out.
            if bound is not None and (isinstance(bound, Tensor) or bound != sys.maxsize):
                _check_index(bound)
                bounds.append(bound)
            else:
                bounds.append(0)
                masks.append(mask)
        if s.step is not None:
            _check_index(s.step)
        begin, end = bounds
        self._append(begin, end, 1 if s.step is None else s.step, *masks)

    def append(self, entry: Any) -> None:
        """Adds one entry: a slice, an ellipsis, a new axis or an index."""
        if isinstance(entry, slice):
            self._append_slice(entry)
        elif entry is Ellipsis:
            self._append(0, 0, 1, "ellipsis_mask")
        elif entry is newaxis:
            self._append(0, 0, 1, "new_axis_mask")
        else:
            _check_index(entry)
            # The end is not read under the shrink mask, but 1.15 writes it so.
            self._append(entry, entry + 1, 1, "shrink_axis_mask")


def _packed(spec: _Spec) -> list[Tensor]:
    if not spec.begin:
        return [constant([], dtype=dtypes.int32)] * 3
    packed = [stack(spec.begin), stack(spec.end), stack(spec.strides)]
    if any(p.dtype == dtypes.int64 for p in packed):
        # The three inputs of a node have one type.
        packed = [p if p.dtype == dtypes.int64 else raw.Cast(p, DstT=dtypes.int64) for p in packed]
    return packed


def _is_mask(spec: object) -> bool:
    if isinstance(spec, bool):
        return True
    if isinstance(spec, Tensor):
        return spec.dtype == dtypes.bool
    return isinstance(spec, np.ndarray) and spec.dtype == bool


def slice_helper(tensor: Any, slice_spec: Any, var: Variable | None = None) -> Tensor:
    """`tensor[slice_spec]`; `var` is the variable that `tensor` reads, for sliced assignment."""
    if _is_mask(slice_spec):
        return tf.boolean_mask(tensor=tensor, mask=slice_spec)
    spec = _Spec()
    for entry in slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec]:
        spec.append(entry)
    values = [tensor, *spec.begin, *spec.end, *spec.strides]
    with name_scope(None, "strided_slice", values) as name:
        begin, end, strides = _packed(spec)
        return strided_slice(tensor, begin, end, strides, var=var, name=name, **spec.masks)


def slice_helper_var(var: Variable, slice_spec: object) -> Tensor:
    """`variable[slice_spec]`."""
    return slice_helper(var.value(), slice_spec, var)


overload("__getitem__", slice_helper)
