# SPDX-License-Identifier: Apache-2.0
"""Where values belong in sorted rows; flat indices as coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import maximum, product
from .. import shape_inference
from ..run_checks import error_of
from .shape import reshape, shape_internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NO_ORDER = NoGradient("TensorFlow declares none")


# Sorted search


def _search(side: Literal["left", "right"]) -> Any:
    def kernel(c: KernelContext, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        if rows.ndim != 2 or values.ndim != 2:
            raise errors.invalid("sorted_inputs and values must be matrices")
        if rows.shape[0] != values.shape[0]:
            raise errors.invalid("Leading dim_size of both tensors must match.")
        out = np.zeros(values.shape, dtype=c.out_dtype())
        for i, (row, wanted) in enumerate(zip(rows, values)):
            out[i] = np.searchsorted(row, wanted, side=side)
        return out

    return kernel


def _lower_search(side: Literal["left", "right"]) -> Any:
    def lower(b: Builder, op: OpView, rows: Value, values: Value) -> Any:
        from ...jit import library

        b.require(rows.ndim == 2 and values.ndim == 2)
        b.require(b.equal(rows.shape[0], values.shape[0]))
        return library.search_sorted(b, rows, values, side == "right", op.dtype(0))

    return lower


def _search_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 2)
    shape_inference.ranked(c.inputs[1], 2)
    return c.inputs[1]


_SIDES: dict[Literal["left", "right"], str] = {"left": "LowerBound", "right": "UpperBound"}
_bounds: dict[str, OpFunction] = {
    side: define(
        name,
        "sorted_inputs: T, values: T -> output: out_type",
        "T: type; out_type: index = int32",
        shape=_search_shape,
        kernel=_search(side),
        lower=_lower_search(side),
        gradient=_NO_ORDER,
        doc=f"Where values belong in sorted rows, {side} of equal ones.",
        test=lambda: {
            "values": [[np.array([[1, 2, 2, 3]], np.float32), np.array([[2, 0, 5]], np.float32)]]
        },
    )
    for side, name in _SIDES.items()
}


@export("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where each value belongs in the sorted innermost dimension of `sorted_sequence`."""
    length = shape_internal(sorted_sequence)[-1]
    count = shape_internal(values)[-1]
    rows = reshape(sorted_sequence, [-1, length])
    wanted = reshape(values, [-1, count])
    if side not in _bounds:
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    found = _bounds[side](rows, wanted, out_type=out_type, name=name)
    return reshape(found, shape_internal(values))


def _unravel(c: KernelContext, indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    if indices.ndim > 1:
        text = "The indices can only be scalar or vector, got "
        raise errors.invalid(f'{text}"{shape_text(indices.shape)}"')
    if sizes.ndim != 1:
        raise errors.invalid(f'The indices can only be 1-D, got "{shape_text(sizes.shape)}"')
    total = math.prod(sizes.tolist())
    if total > np.iinfo(sizes.dtype).max:
        raise errors.invalid("Input dims product is causing integer overflow")
    _require_places(indices, sizes)
    parts = np.unravel_index(indices, tuple(sizes.tolist()))
    return np.stack([np.asarray(p) for p in parts]).astype(c.out_dtype())


def _require_places(indices: np.ndarray, sizes: np.ndarray) -> None:
    if (indices < 0).any():
        raise errors.invalid("index is out of bound: negative indices are not supported")
    if indices.size and indices.max() >= math.prod(sizes.tolist()):
        raise errors.invalid(f"index is out of bound as with dims: {shape_text(sizes.tolist())}")


def _lower_unravel(b: Builder, op: OpView, indices: Value, sizes: Value) -> Any:
    known = b.known(sizes)
    if known is None:
        return NotImplemented
    b.require(indices.ndim <= 1 and sizes.ndim == 1 and len(known) > 0)
    extents = known.tolist()
    total = product(extents)
    b.require(total <= np.iinfo(indices.dtype).max)
    limit = b.constant(total, indices.dtype)
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), indices, limit)
    b.require_not(b.reduce("any", outside, None), error_of(_require_places), indices, sizes)
    rows, rest = [], indices
    for extent in reversed(extents):
        # (Nothing lies in a dimension of size 0, and nothing is to be divided by it.)
        size = b.constant(maximum(extent, 1), indices.dtype)
        rows.append(b.reshape(b.map(k.floormod, rest, size), (1, *indices.shape)))
        rest = b.map(k.floordiv, rest, size)
    return b.concat(rows[::-1], 0)


def _unravel_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_most(c.inputs[0], 1)
    count = shape_inference.ranked(c.inputs[1], 1)[0]
    if c.inputs[0].ndims is None:
        return shape_inference.unknown()
    return TensorShape([count, *c.inputs[0].as_list()])


_unravel_index = define(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    "Tidx: index = int32",
    shape=_unravel_shape,
    kernel=_unravel,
    lower=_lower_unravel,
    gradient=NoGradient("indices are integers"),
    doc="Flat indices as coordinates, one row per dimension.",
    test=lambda: {"values": [[np.array([4, 1], np.int32), np.array([2, 3], np.int32)]]},
)


@export("unravel_index")
def unravel_index(indices: Sequence[int], dims: Sequence[int], name: str | None = None) -> Tensor:
    """Flat indices into a tensor of shape `dims` as coordinates."""
    return _unravel_index(indices, dims, name=name)
