# SPDX-License-Identifier: Apache-2.0
"""The windows of volumes, flattened into channels."""

from __future__ import annotations

import itertools
import math
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
from .patches import window
from .shape import expand_dims, reshape, shape

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
_SPATIAL = (1, 2, 3)


def _windows(sizes: Sequence[int], attr: Any) -> list[tuple[int, int]]:
    """How many windows fit along planes, rows and columns, and the padding before the first."""
    same = attr("padding") in ("SAME", b"SAME")
    return [
        window(size, attr("ksizes")[i], attr("strides")[i], 1, same)
        for i, size in zip(_SPATIAL, sizes, strict=True)
    ]


def _shape(c: ShapeContext) -> TensorShape:
    batch, *sizes, depth = shape_inference.ranked(c.inputs[0], 5)
    for name, words in (("ksizes", "the ksizes"), ("strides", "the stride")):
        if len(c.attr(name)) != 5:
            raise ValueError(
                f"ExtractVolumePatches requires {words} attribute to contain 5 values, but got: "
                f"{len(c.attr(name))}"
            )
    depth = None if depth is None else depth * math.prod(c.attr("ksizes")[1:4])
    known = shape_inference.known_sizes(TensorShape(sizes)) if None not in sizes else None
    counts = [None] * 3 if known is None else [n for n, _ in _windows(known, c.attr)]
    return TensorShape([batch, *counts, depth])


def _views(sizes: Sequence[int], attr: Any) -> tuple[list[int], list[list[int]], list[list[int]]]:
    """The numbers of windows, the paddings, and where each place of a window begins."""
    k, s = attr("ksizes"), attr("strides")
    found = _windows(sizes, attr)
    edges = [
        [before, max((count - 1) * s[i] + k[i] - before - size, 0)]
        for i, size, (count, before) in zip(_SPATIAL, sizes, found, strict=True)
    ]
    places = [list(place) for place in itertools.product(*(range(k[i]) for i in _SPATIAL))]
    return [count for count, _ in found], edges, places


def _patches(c: KernelContext, x: np.ndarray) -> np.ndarray:
    counts, edges, places = _views(x.shape[1:4], c.attr)
    padded = np.pad(x, [[0, 0], *edges, [0, 0]])
    strides = c.attr("strides")[1:4]
    views = [
        padded[
            :,
            *(
                slice(at, at + (n - 1) * s + 1, s) if n else slice(0)
                for at, n, s in zip(place, counts, strides, strict=True)
            ),
        ]
        for place in places
    ]
    return np.concatenate(views, -1)


def _lower(b: Builder, op: OpView, x: Value) -> Any:
    batch, *sizes, depth = x.shape
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        return NotImplemented
    counts, edges, places = _views(known, op.attr)
    if not all(counts) or len(places) > _MOST_VIEWS:
        return NotImplemented
    padded = b.pad(x, [(0, 0), *((before, after) for before, after in edges), (0, 0)])
    steps = [1, *op.attr("strides")[1:4], 1]
    return b.concat(
        [b.slice(padded, [0, *at, 0], (batch, *counts, depth), steps) for at in places], 4
    )


def _gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    """A sparse matrix that maps positions in the volume to positions in the patches."""
    sizes = shape(op.inputs[0], out_type=dtypes.int64)
    batch, planes_in, rows_in, columns_in, channels = (sizes[i] for i in range(5))
    inputs = 1 + planes_in * rows_in * columns_in
    # The patches of a volume whose voxels are their own numbers tell where each entry comes from; 0
    # is what padding puts in.
    numbers = reshape(
        tf.range(1, inputs, dtype=dtypes.int64), (1, planes_in, rows_in, columns_in, 1)
    )
    attrs = {name: op.get_attr(name) for name in ("ksizes", "strides", "padding")}
    patched = _patches_op(numbers, **attrs)
    out = shape(op.outputs[0], out_type=dtypes.int64)
    planes, rows, columns = out[1], out[2], out[3]
    _, thick, high, wide, _ = op.get_attr("ksizes")
    outputs = planes * rows * columns * (thick * high * wide)
    order = reshape(
        tf.range(outputs, dtype=dtypes.int64), (1, planes, rows, columns, thick * high * wide)
    )
    pairs = concat([expand_dims(patched, axis=-1), expand_dims(order, axis=-1)], axis=-1)
    weights = ones([outputs], dtype=grad.dtype)
    matrix = SparseTensor(reshape(pairs, (-1, 2)), weights, (inputs, outputs))
    # Row 0 stands for the padding.
    matrix = tf.sparse_slice(matrix, (1, 0), (inputs - 1, outputs))
    spread = reshape(grad, (batch, planes, rows, columns, thick, high, wide, channels))
    flat = reshape(transpose(spread, (1, 2, 3, 4, 5, 6, 0, 7)), (-1, batch * channels))
    result = tf.sparse_tensor_dense_matmul(matrix, flat)
    result = reshape(result, (planes_in, rows_in, columns_in, batch, channels))
    return [transpose(result, (3, 0, 1, 2, 4))]


_patches_op = define(
    "ExtractVolumePatches",
    "input: T -> patches: T",
    "ksizes: list(int) >= 5; strides: list(int) >= 5; T: realnumbertype; "
    "padding: {'SAME', 'VALID'}",
    shape=_shape,
    kernel=_patches,
    lower=_lower,
    gradient=_gradient,
    doc="The windows of volumes, flattened into channels.",
    test=lambda: {
        "shapes": [[[2, 4, 5, 3, 2]]],
        "attrs": [
            {"ksizes": [1, 2, 3, 1, 1], "strides": [1, 2, 1, 2, 1], "padding": padding}
            for padding in (b"SAME", b"VALID")
        ],
        # The gradient is built of sparse ops.
        "gradient": False,
    },
)


@export("extract_volume_patches")
def extract_volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The windows of volumes, flattened into channels (tf.extract_volume_patches).

    Args:
        input: real numbers, [batch, planes, rows, columns, depth].
        ksizes: the size of the window, 1 for the first and the last dimension.
        strides: how far windows are apart, 1 for the first and the last dimension.
        padding: "SAME" or "VALID".
        name: of the op.

    Returns:
        [batch, planes, rows, columns, depth * ksizes[1] * ksizes[2] * ksizes[3]]: of each window
        its numbers.

    Raises:
        ValueError: the input is not of rank 5.

    Example:
        >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
        >>> windows = tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1] * 5, "VALID")
        >>> tf.Session().run(windows)[0, 0, 0, 0].tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    return _patches_op(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
