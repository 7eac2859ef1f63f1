# SPDX-License-Identifier: Apache-2.0
"""The windows of images, flattened into channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import tf
from .constant import ones
from .join import concat
from .layout import transpose
from .shape import expand_dims, renamed, reshape, shape

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


# Pieces that a result is put together of.
_MOST_VIEWS = 64


def window(size: int, k: int, stride: int, rate: int, same: bool) -> tuple[int, int]:
    """How many windows fit, and the padding before the first."""
    span = (k - 1) * rate + 1
    if not same:
        return max((size - span + stride) // stride, 0), 0
    count = -(-size // stride)
    return count, max((count - 1) * stride + span - size, 0) // 2


def _patches_shape(c: ShapeContext) -> TensorShape:
    n, h, w, d = shape_inference.ranked(c.inputs[0], 4)
    k, s, r = c.attr("ksizes"), c.attr("strides"), c.attr("rates")
    same = c.attr("padding") == "SAME"
    rows = columns = None
    if h is not None and w is not None:
        rows, columns = (window(x, k[i], s[i], r[i], same)[0] for i, x in ((1, h), (2, w)))
    return TensorShape([n, rows, columns, None if d is None else d * k[1] * k[2]])


def _patches(c: KernelContext, x: np.ndarray) -> np.ndarray:
    k, s, r = c.attr("ksizes"), c.attr("strides"), c.attr("rates")
    same = c.attr("padding") == "SAME"
    (rows, top), (columns, left) = (window(x.shape[i], k[i], s[i], r[i], same) for i in (1, 2))
    parts = np.zeros((x.shape[0], rows, columns, k[1], k[2], x.shape[3]), dtype=x.dtype)
    for i in range(k[1]):
        for j in range(k[2]):
            y = np.arange(rows) * s[1] - top + i * r[1]
            z = np.arange(columns) * s[2] - left + j * r[2]
            fy, fz = (y >= 0) & (y < x.shape[1]), (z >= 0) & (z < x.shape[2])
            inside = np.ix_(range(x.shape[0]), y[fy], z[fz])
            parts[np.ix_(range(x.shape[0]), fy.nonzero()[0], fz.nonzero()[0], [i], [j])] = x[
                inside
            ][:, :, :, None, None]
    return (
        parts.reshape(x.shape[0], rows, columns, -1)
        if parts.size
        else parts.reshape(x.shape[0], rows, columns, k[1] * k[2] * x.shape[3])
    )


def _lower_patches(b: Builder, op: OpView, x: Value) -> Any:
    k, s, r = op.attr("ksizes"), op.attr("strides"), op.attr("rates")
    n, h, w, d = x.shape
    if not isinstance(h, int) or not isinstance(w, int) or k[1] * k[2] > _MOST_VIEWS:
        return NotImplemented
    same = op.attr("padding") in ("SAME", b"SAME")
    (rows, top), (columns, left) = (window(v, k[i], s[i], r[i], same) for i, v in ((1, h), (2, w)))
    if not rows or not columns:
        return NotImplemented
    last = [(count - 1) * s[i] + (k[i] - 1) * r[i] + 1 for i, count in ((1, rows), (2, columns))]
    edges = [(0, 0), (top, max(last[0] - top - h, 0)), (left, max(last[1] - left - w, 0)), (0, 0)]
    padded = b.pad(x, edges)
    views = [
        b.slice(padded, [0, i * r[1], j * r[2], 0], (n, rows, columns, d), [1, s[1], s[2], 1])
        for i in range(k[1])
        for j in range(k[2])
    ]
    return b.concat(views, 3)


def _patches_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    """A sparse matrix that maps positions in the image to positions in the patches."""
    sizes = shape(op.inputs[0], out_type=dtypes.int64)
    batch, rows_in, columns_in, channels = sizes[0], sizes[1], sizes[2], sizes[3]
    inputs = 1 + rows_in * columns_in
    # The patches of an image whose pixels are their own numbers tell where each entry comes from; 0
    # is what padding puts in.
    numbers = tf.range(1, inputs, dtype=dtypes.int64)
    patched = _patches_op(
        reshape(numbers, (1, rows_in, columns_in, 1)),
        ksizes=op.get_attr("ksizes"),
        strides=op.get_attr("strides"),
        rates=op.get_attr("rates"),
        padding=op.get_attr("padding"),
    )
    out = shape(op.outputs[0], out_type=dtypes.int64)
    rows, columns = out[1], out[2]
    _, high, wide, _ = op.get_attr("ksizes")
    outputs = rows * columns * high * wide
    order = tf.range(outputs, dtype=dtypes.int64)
    order = reshape(order, (1, rows, columns, high * wide))
    pairs = concat([expand_dims(patched, axis=-1), expand_dims(order, axis=-1)], axis=-1)
    pairs = reshape(pairs, (-1, 2))
    weights = ones([outputs], dtype=grad.dtype)
    matrix = SparseTensor(pairs, weights, (inputs, outputs))
    # Row 0 stands for the padding.
    matrix = tf.sparse_slice(matrix, (1, 0), (inputs - 1, outputs))
    spread = reshape(grad, (batch, rows, columns, high, wide, channels))
    flat = reshape(transpose(spread, (1, 2, 3, 4, 0, 5)), (-1, batch * channels))
    result = tf.sparse_tensor_dense_matmul(matrix, flat)
    result = reshape(result, (rows_in, columns_in, batch, channels))
    return [transpose(result, (2, 0, 1, 3))]


_patches_op = define(
    "ExtractImagePatches",
    "images: T -> patches: T",
    "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; T: realnumbertype; "
    "padding: {'SAME', 'VALID'}",
    shape=_patches_shape,
    kernel=_patches,
    lower=_lower_patches,
    gradient=_patches_gradient,
    doc="The windows of images, flattened into channels.",
    test=lambda: {
        "shapes": [[[2, 5, 4, 3]]],
        "attrs": [
            {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": p}
            for p in (b"SAME", b"VALID")
        ],
        # The gradient is built of sparse ops.
        "gradient": False,
    },
)


@export("image.extract_image_patches", "extract_image_patches")
def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Sequence[Any] | None = None,
) -> Tensor:
    """The windows of `images`, flattened into channels."""
    windows = renamed("sizes", sizes, "ksizes", ksizes)
    attrs = {"ksizes": windows, "strides": strides, "rates": rates, "padding": padding}
    return _patches_op(images, name=name, **attrs)


@export("image.extract_patches")
def extract_patches(
    images: TensorLike,
    sizes: Sequence[Any],
    strides: Sequence[int] | None,
    rates: Sequence[int] | None,
    padding: str | None,
    name: str | None = None,
) -> Tensor:
    """The windows of `images`, flattened into channels."""
    attrs = {"ksizes": sizes, "strides": strides, "rates": rates, "padding": padding}
    return _patches_op(images, name=name, **attrs)
