# SPDX-License-Identifier: Apache-2.0
"""Rows replaced or changed, copies, and bits of comparisons: what programs reach as raw ops.

TensorFlow writes into the memory of the input; here the input stays as it was, which programs can
tell apart only where they read it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw, tf
from ..shape_inference import run_time_sizes

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_NONE = NoGradient("TensorFlow has no gradient of it")


def _rows() -> np.ndarray:
    return np.arange(12.0).reshape(4, 3)


def _check_rows(x: np.ndarray, i: np.ndarray, v: np.ndarray) -> None:
    xs, vs = shape_text(x.shape), shape_text(v.shape)
    if i.ndim != 1:
        raise errors.invalid(f"i must be a vector. {shape_text(i.shape)}")
    if x.ndim != v.ndim:
        raise errors.invalid(f"x and v shape doesn't match (ranks differ): {xs} vs. {vs}")
    for k in range(1, x.ndim):
        if x.shape[k] != v.shape[k]:
            raise errors.invalid(f"x and v shape doesn't match at index {k} : {xs} vs. {vs}")
    if i.shape[0] != v.shape[0]:
        raise errors.invalid(
            f"i and x shape doesn't match at index 0: {shape_text(i.shape)} vs. {vs}"
        )


def _on_rows(change: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A kernel that changes rows of a copy, one after the other; numbers of rows count modulo."""

    def kernel(c: KernelContext, x: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
        _check_rows(x, i, v)
        if c.type != "InplaceUpdate" and x.dtype.kind in "bO":
            raise errors.invalid(f"Unsupported data type: {c.out_dtype().name}")
        found = np.array(x)
        if not len(x):
            return found
        for row, value in zip(i.tolist(), v, strict=True):
            found[row % len(x)] = change(found[row % len(x)], value)
        return found

    return kernel


for _name, _change, _what in (
    ("InplaceUpdate", lambda old, new: new, "replaced by"),
    ("InplaceAdd", lambda old, new: old + new, "increased by"),
    ("InplaceSub", lambda old, new: old - new, "decreased by"),
):
    define(
        _name,
        "x: T, i: int32, v: T -> y: T",
        shape=lambda c: c.inputs[0],
        kernel=_on_rows(_change),
        gradient=_NONE,
        doc=f"A tensor some of whose rows are {_what} others.",
        test=lambda: {"values": [[_rows(), np.array([1, -1], np.int32), _rows()[:2] + 0.5]]},
    )


define(
    "DeepCopy",
    "x: T -> y: T",
    shape=lambda c: c.inputs[0],
    kernel=lambda c, x: np.array(x),
    gradient=_NONE,
    stateful=True,
    doc="A copy of a tensor in memory of its own.",
    test=lambda: {"values": [[_rows()]]},
)


def _empty_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 1)
    return c.value_as_shape(0)


def _empty(c: KernelContext, shape: np.ndarray) -> np.ndarray:
    if shape.ndim != 1:
        raise errors.invalid(
            f"shape must be a vector of int32, got shape {shape_text(shape.shape)}"
        )
    kind = c.out_dtype()
    return np.full(run_time_sizes(shape), b"" if kind.kind == "O" else 0, kind)


define(
    "Empty",
    "shape: int32 -> output: dtype",
    "dtype: type; init: bool = false",
    shape=_empty_shape,
    kernel=_empty,
    gradient=_NONE,
    stateful=True,
    doc="A tensor of some shape; what it holds, which TensorFlow leaves open, is zeros.",
    test=lambda: {"values": [[np.array([2, 3], np.int32)]], "attrs": [{"dtype": np.float32}]},
)


def _packed_shape(c: ShapeContext) -> TensorShape:
    sizes = shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[1], 0)
    if sizes is None:
        return TensorShape(None)
    if sizes[-1] is not None and sizes[-1] % 8:
        raise ValueError(f"Dimension size must be evenly divisible by 8 but is {sizes[-1]}")
    return TensorShape([*sizes[:-1], None if sizes[-1] is None else sizes[-1] // 8])


def _packed(c: KernelContext, x: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    if threshold.ndim:
        raise errors.invalid(
            f"Compare must be a scalar, but saw shape: {shape_text(threshold.shape)}"
        )
    if not x.ndim:
        raise errors.invalid("Input should be at least a vector, but saw a scalar.")
    if x.shape[-1] % 8:
        raise errors.invalid(
            "Inner dimension of input should be divisible by 8, but saw shape: "
            f"{shape_text(x.shape)}"
        )
    # Of booleans the bits are packed as they are.
    return np.packbits(x if x.dtype == bool else x > threshold, axis=-1)


define(
    "CompareAndBitpack",
    "input: T, threshold: T -> output: uint8",
    "T: {bool, half, float32, float64, int8, int16, int32, int64}",
    shape=_packed_shape,
    kernel=_packed,
    gradient=_NONE,
    doc="One bit per number, eight to the byte: whether it is larger than a threshold.",
    test=lambda: {"values": [[np.linspace(-1, 1, 16).reshape(2, 8), np.float64(0.1)]]},
)


def _summed_tiles(c: KernelContext, grad: np.ndarray, multiples: np.ndarray) -> np.ndarray:
    if multiples.ndim != 1 or multiples.size != grad.ndim:
        raise errors.invalid(
            f"Expected multiples argument to be a vector of length {grad.ndim} but got length "
            f"{multiples.size}"
        )
    pairs = [(int(n), size // int(n)) for n, size in zip(multiples, grad.shape, strict=True)]
    split = grad.reshape([size for pair in pairs for size in pair])
    return np.asarray(split.sum(axis=tuple(range(0, 2 * grad.ndim, 2))), grad.dtype)


define(
    "TileGrad",
    "input: T, multiples: int32 -> output: T",
    shape=lambda c: shape_inference.of_rank(c.inputs[0].ndims),
    kernel=_summed_tiles,
    gradient=_NONE,
    doc="The sum of the tiles of a tensor, the gradient of Tile of old graphs.",
    test=lambda: {"values": [[_rows(), np.array([2, 3], np.int32)]]},
)


def _with_rows(make: Any, x: TensorLike, i: Any, v: TensorLike) -> Any:
    """A change of whole tensors (i is None), of one row or of several."""
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        flat = make(tf.reshape(x, [1, -1]), [0], tf.reshape(v, [1, -1]))
        return tf.reshape(flat, tf.shape(x))
    i = convert_to_tensor(i, dtypes.int32)
    if i.shape.ndims == 0:
        return make(x, tf.reshape(i, [1]), tf.expand_dims(v, 0))
    return make(x, i, v)


def alias_inplace_update(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """x with rows i being v; x itself stays as it was."""
    return _with_rows(raw.InplaceUpdate, x, i, v)


def alias_inplace_add(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """x with v added to rows i; x itself stays as it was."""
    return _with_rows(raw.InplaceAdd, x, i, v)


def alias_inplace_sub(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """x with v taken from rows i; x itself stays as it was."""
    return _with_rows(raw.InplaceSub, x, i, v)


def inplace_update(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """A copy of x with rows i being v."""
    return alias_inplace_update(raw.DeepCopy(x), i, v)


def inplace_add(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """A copy of x with v added to rows i."""
    return alias_inplace_add(raw.DeepCopy(x), i, v)


def inplace_sub(x: TensorLike, i: Any, v: TensorLike) -> Any:
    """A copy of x with v taken from rows i."""
    return alias_inplace_sub(raw.DeepCopy(x), i, v)


def empty(shape: TensorLike, dtype: DTypeLike = dtypes.float32, init: bool = False) -> Tensor:
    """A tensor of some shape, filled with zeros."""
    return raw.Empty(shape, dtype=dtype, init=init)


def empty_like(x: TensorLike, init: bool | None = None) -> Tensor:
    """A tensor in the shape of another, filled with zeros."""
    x = convert_to_tensor(x)
    return raw.Empty(tf.shape(x), dtype=x.dtype, init=bool(init))
