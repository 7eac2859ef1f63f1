# SPDX-License-Identifier: Apache-2.0
"""Several diagonals of matrices at once: the second version of the diagonal ops.

Diagonal d holds the entries [i, i + d].  A tensor of diagonals lists them from the uppermost to
the lowest; each starts at the left, and shorter ones are padded at the right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import tf
from . import lowered
from .constant import zeros, zeros_like
from .join import concat
from .shape import reshape, shape

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _range(k: np.ndarray) -> tuple[int, int]:
    """The lowest and the uppermost diagonal that `k` names."""
    if k.ndim > 1 or k.size not in (1, 2):
        raise errors.invalid(
            "diag_index must be a vector with one or two elements. It has shape "
            f"{shape_text(k.shape)}"
        )
    flat = k.reshape(-1)
    low, high = int(flat[0]), int(flat[-1])
    if low > high:
        raise errors.invalid(
            "lower_diag_index must not be larger than upper_diag_index: "
            f"lower_diag_index = {low} > upper_diag_index = {high}"
        )
    return low, high


def _check_bounds(rows: int, columns: int, low: int, high: int) -> None:
    for name, d in (("lower_diag_index", low), ("upper_diag_index", high)):
        # Even a matrix without entries has diagonal 0, of length 0.
        if not (-rows < d < columns or d == 0):
            raise errors.invalid(
                f"{name} is out of bound: {d}. It must be between {-rows} and {columns}"
            )


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    # The length of the diagonal nearest to the main one: diagonal d has rows + d entries at most
    # where it lies below that, columns - d where it lies above.
    return min(rows + min(high, 0), columns - max(low, 0))


def _known_length(given: shape_inference.Dims, low: int, high: int) -> int | None:
    """The length of the longest diagonal, where the matrices' sizes are known."""
    rows, columns = given[-2:]
    return None if rows is None or columns is None else _longest(rows, columns, low, high)


def _entries(rows: int, columns: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of diagonal d."""
    count = min(rows + min(d, 0), columns - max(d, 0))
    at = np.arange(max(count, 0))
    return at + max(-d, 0), at + max(d, 0)


def _as_bands(x: np.ndarray, low: int, high: int) -> np.ndarray:
    """Diagonals with a dimension that numbers them, even when there is only one."""
    if low == high:
        return x[..., None, :]
    if x.ndim < 2 or x.shape[-2] != high - low + 1:
        raise errors.invalid(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            "and upper_diag_index range."
        )
    return x


def _extent(length: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    """The size of the matrix, as far as it is asked for and else as small as can be."""
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        return (max(least_rows, least_columns),) * 2
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    for name, size, least in (("rows", rows, least_rows), ("columns", columns, least_columns)):
        if size < least:
            raise errors.invalid(f"The number of {name} is too small.")
    # The longest diagonal runs from border to border, so one of the sizes is the least that holds
    # it.
    if rows != least_rows and columns != least_columns:
        raise errors.invalid(
            "The number of rows or columns is not consistent with the specified d_lower, "
            "d_upper, and diagonal."
        )
    return rows, columns


def _diag(
    c: KernelContext,
    x: np.ndarray,
    k: np.ndarray,
    num_rows: np.ndarray,
    num_cols: np.ndarray,
    padding: np.ndarray,
) -> np.ndarray:
    if not x.ndim:
        raise errors.invalid("diagonal must be at least 1-dim, received shape: []")
    low, high = _range(k)
    bands = _as_bands(x, low, high)
    rows, columns = _extent(x.shape[-1], low, high, int(num_rows), int(num_cols))
    out = np.full((*bands.shape[:-2], rows, columns), padding[()], dtype=x.dtype)
    for d in range(low, high + 1):
        i, j = _entries(rows, columns, d)
        out[..., i, j] = bands[..., high - d, : len(i)]
    return out


def _diag_part(c: KernelContext, x: np.ndarray, k: np.ndarray, padding: np.ndarray) -> np.ndarray:
    if x.ndim < 2:
        raise errors.invalid(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")
    (low, high), (rows, columns) = _range(k), x.shape[-2:]
    _check_bounds(rows, columns, low, high)
    length = _longest(rows, columns, low, high)
    out = np.full((*x.shape[:-2], high - low + 1, length), padding[()], dtype=x.dtype)
    for d in range(low, high + 1):
        i, j = _entries(rows, columns, d)
        out[..., high - d, : len(i)] = x[..., i, j]
    return out[..., 0, :] if low == high else out


def _set_diag(c: KernelContext, x: np.ndarray, diagonal: np.ndarray, k: np.ndarray) -> np.ndarray:
    if x.ndim < 2:
        raise errors.invalid(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")
    if not diagonal.ndim:
        raise errors.invalid("diagonal must be at least 1-dim, received shape: []")
    (low, high), (rows, columns) = _range(k), x.shape[-2:]
    _check_bounds(rows, columns, low, high)
    count = [] if low == high else [high - low + 1]
    wanted = [*x.shape[:-2], *count, _longest(rows, columns, low, high)]
    if list(diagonal.shape) != wanted:
        raise errors.invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape"
            "[:-1] is not equal to the longests diagonal in range [lower_diag_index:"
            f"upper_diag_index].\nInput shape: {shape_text(x.shape)}\nDiagonal shape: "
            f"{shape_text(diagonal.shape)}\nExpected diagonal shape: {shape_text(wanted)}"
        )
    bands, out = _as_bands(diagonal, low, high), x.copy()
    for d in range(low, high + 1):
        i, j = _entries(rows, columns, d)
        out[..., i, j] = bands[..., high - d, : len(i)]
    return out


def _bounds(b: Builder, k: Value, *others: Value) -> tuple[int, int] | None:
    """The diagonals that `k` names, where all of that is known in numbers."""
    known = [b.known(value) for value in (k, *others)]
    if any(array is None or array.dtype == object for array in known):
        return None
    return _range(known[0])  # type: ignore[arg-type]


def _lower_diag(
    b: Builder, op: OpView, x: Value, k: Value, rows: Value, columns: Value, padding: Value
) -> Any:
    found = _bounds(b, k, rows, columns, padding)
    length = x.shape[-1] if x.ndim else None
    if found is None or not isinstance(length, int):
        return NotImplemented
    (low, high), sizes = found, [int(b.known(size)) for size in (rows, columns)]  # type: ignore[arg-type]
    extent = _extent(length, low, high, *sizes)
    batch = x.shape[:-1] if low == high else x.shape[:-2]
    base = b.full((*batch, *extent), padding, x.dtype)
    return lowered.diagonals_set(b, base, x, low, high)


def _lower_diag_part(b: Builder, op: OpView, x: Value, k: Value, padding: Value) -> Any:
    found = _bounds(b, k, padding)
    if found is None or x.ndim < 2:
        return NotImplemented
    (low, high), (rows, columns) = found, x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        return NotImplemented
    _check_bounds(rows, columns, low, high)
    length = _longest(rows, columns, low, high)
    if low == high:
        return lowered.diagonal_of(b, x, low, length)
    parts = []
    for d in range(low, high + 1):
        one = lowered.diagonal_of(b, x, d, len(_entries(rows, columns, d)[0]))
        one = b.reshape(one, (*x.shape[:-2], 1, one.shape[-1]))
        parts.append((one, [0] * (x.ndim - 2) + [high - d, 0], None))
    fill = b.known(padding).item()  # type: ignore[union-attr]
    return b.assemble((*x.shape[:-2], high - low + 1, length), x.dtype, parts, fill)


def _lower_set_diag(b: Builder, op: OpView, x: Value, diagonal: Value, k: Value) -> Any:
    found = _bounds(b, k)
    if found is None or x.ndim < 2:
        return NotImplemented
    (low, high), (rows, columns) = found, x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        return NotImplemented
    _check_bounds(rows, columns, low, high)
    count = [] if low == high else [high - low + 1]
    b.require_shape(diagonal, [*x.shape[:-2], *count, _longest(rows, columns, low, high)])
    return lowered.diagonals_set(b, x, diagonal, low, high)


def _known_range(c: ShapeContext, i: int) -> tuple[int, int] | None:
    k = c.value(i)
    if k is None:
        return None
    try:
        return _range(np.asarray(k))
    except Exception as error:
        raise ValueError(getattr(error, "message", str(error))) from None


def _diag_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.ranked_at_least(c.inputs[0], 1)
    for one in c.inputs[2:]:
        shape_inference.ranked(one, 0)
    found, rows, columns = _known_range(c, 1), c.value(2), c.value(3)
    if given is None or found is None:
        return shape_inference.unknown()
    low, high = found
    batch = given[:-1] if low == high else given[:-2]
    if low != high:
        shape_inference.ranked_at_least(c.inputs[0], 2)
        shape_inference.merge_dim(given[-2], high - low + 1)
    if given[-1] is None or rows is None or columns is None:
        return TensorShape([*batch, None, None])
    try:
        return TensorShape([*batch, *_extent(given[-1], low, high, int(rows), int(columns))])
    except Exception as error:
        raise ValueError(getattr(error, "message", str(error))) from None


def _diag_part_shape(c: ShapeContext) -> TensorShape:
    given, found = shape_inference.ranked_at_least(c.inputs[0], 2), _known_range(c, 1)
    shape_inference.ranked(c.inputs[2], 0)
    if given is None or found is None:
        return shape_inference.unknown()
    low, high = found
    count = [] if low == high else [high - low + 1]
    length = _known_length(given, low, high)
    return TensorShape([*given[:-2], *count, length])


def _set_diag_shape(c: ShapeContext) -> TensorShape:
    given, found = shape_inference.ranked_at_least(c.inputs[0], 2), _known_range(c, 2)
    shape_inference.ranked_at_least(c.inputs[1], 1)
    if given is None or found is None:
        return c.inputs[0]
    low, high = found
    count = [] if low == high else [high - low + 1]
    length = _known_length(given, low, high)
    shape_inference.merge(c.inputs[1], TensorShape([*given[:-2], *count, length]))
    return c.inputs[0]


def _part(grad: Tensor, k: Tensor) -> Tensor:
    return diag_part_op(grad, k, 0, name="diag_part")


def _diag_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    # Each entry of a diagonal went to one place of the matrix, so its gradient is what lies there.
    return (_part(grad, op.inputs[1]), *([None] * 4))


def _diag_part_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    static = op.inputs[0].get_shape()[-2:]
    k = op.inputs[1]
    # Without the sizes `diag` would make the smallest matrix that holds the diagonals, which need
    # not be this one.
    if static.is_fully_defined():
        rows, columns = static.as_list()
        result = diag_op(grad, k, rows, columns, 0, name="diag")
    else:
        result = set_diag_op(zeros_like(op.inputs[0]), grad, k, name="set_diag")
    return result, None, None


def _set_diag_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    k = op.inputs[2]
    # Entries that were written over had no effect: their gradient is zero, and the diagonals get
    # what lies there.
    diagonal: Any = op.inputs[1].get_shape()
    if not diagonal.is_fully_defined():
        diagonal = _computed_shape(grad, k)
    rest = set_diag_op(grad, zeros(diagonal, dtype=grad.dtype), k, name="set_diag")
    return rest, _part(grad, k), None


def _computed_shape(grad: Tensor, k: Tensor) -> Tensor:
    """The shape of the diagonals of `grad`, when the graph runs."""
    sizes = shape(grad)
    batch, last = sizes[:-2], sizes[-2:]
    flat = reshape(k, [-1])
    low, high = flat[0], flat[-1]
    longest = tf.minimum(last[0] + tf.minimum(high, 0), last[1] - tf.maximum(low, 0))
    count = high - low + 1
    # One diagonal has no dimension that numbers it.
    tail = tf.boolean_mask(tf.stack([count, longest]), tf.stack([count > 1, count > 0]))
    return concat([batch, tail], 0)


def _band() -> list[Any]:
    return [np.arange(1, 7, dtype=np.float32).reshape(2, 3), np.array([0, 1], np.int32)]


def _table() -> np.ndarray:
    return np.arange(12, dtype=np.float32).reshape(3, 4)


diag_op = define(
    "MatrixDiagV2",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    shape=_diag_shape,
    kernel=_diag,
    lower=_lower_diag,
    gradient=_diag_gradient,
    doc="Matrices with the given diagonals.",
    # As in TensorFlow, no gradient reaches the padding.
    test=lambda: {
        "values": [[*_band(), np.int32(3), np.int32(4), np.float32(0)]],
        "gradient": False,
    },
)
diag_part_op = define(
    "MatrixDiagPartV2",
    "input: T, k: int32, padding_value: T -> diagonal: T",
    shape=_diag_part_shape,
    kernel=_diag_part,
    lower=_lower_diag_part,
    gradient=_diag_part_gradient,
    doc="Some diagonals of matrices.",
    test=lambda: {
        "values": [[_table(), np.array([-1, 1], np.int32), np.float32(0)]],
        "gradient": False,
    },
)
set_diag_op = define(
    "MatrixSetDiagV2",
    "input: T, diagonal: T, k: int32 -> output: T",
    shape=_set_diag_shape,
    kernel=_set_diag,
    lower=_lower_set_diag,
    gradient=_set_diag_gradient,
    doc="Matrices with some diagonals replaced.",
    test=lambda: {"values": [[_table(), *_band()]], "gradient": True},
)
