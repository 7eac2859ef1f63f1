# SPDX-License-Identifier: Apache-2.0
"""Small helpers for the shape functions of the array ops, with the runtime's error texts.

Shapes are handled as lists of `int | None`, None standing for an unknown dimension; a shape of
unknown rank is None.  The builder adds op, node and input shapes to every message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine import errors
from ..engine.types.shape import TensorShape, shape_text

if TYPE_CHECKING:
    from ..engine.graph.inference import ShapeContext
    from ..engine.graph.kernel_context import KernelContext
    from ..jit.kernel.sizes import AnySize

Dims = list[int | None]


def dims(shape: TensorShape) -> Dims | None:
    """The dimensions of a shape, or None when even the rank is unknown."""
    return None if shape.ndims is None else shape.as_list()


def unknown() -> TensorShape:
    """The shape about which nothing is known."""
    return TensorShape(None)


def all_unknown(c: ShapeContext) -> list[TensorShape]:
    """The shape function of ops of which nothing is known before a run."""
    return [unknown() for _ in c.op.outputs]


def of_rank(rank: int | None) -> TensorShape:
    """A shape of which only the rank is known, if that."""
    return TensorShape(None if rank is None else [None] * rank)


def vector(size: int | None) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([size])


def ranked(shape: TensorShape, rank: int) -> Dims:
    """The dimensions, after checking that the rank is or may be `rank`."""
    if shape.ndims is not None and shape.ndims != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {shape.ndims}")
    return shape.as_list() if shape.ndims is not None else [None] * rank


def scalars(c: ShapeContext) -> list[TensorShape]:
    """The shape function of ops that take and give scalars only."""
    for shape in c.inputs:
        ranked(shape, 0)
    return [TensorShape([]) for _ in c.op.outputs]


def ranked_at_least(shape: TensorShape, rank: int) -> Dims | None:
    """The dimensions, after checking that the rank is not known to be below `rank`."""
    if shape.ndims is not None and shape.ndims < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {shape.ndims}")
    return dims(shape)


def images(c: ShapeContext) -> TensorShape:
    """The shape function of ops that change the colours of one image, or of many."""
    ranked_at_least(c.inputs[0], 3)
    return c.inputs[0]


def ranked_at_most(shape: TensorShape, rank: int) -> Dims | None:
    """The dimensions, after checking that the rank is not known to be above `rank`."""
    if shape.ndims is not None and shape.ndims > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {shape.ndims}")
    return dims(shape)


def merge_dim(a: int | None, b: int | None) -> int | None:
    """The one dimension that both are; ValueError when they differ."""
    if a is None or b is None:
        return b if a is None else a
    if a != b:
        raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
    return a


def require_dim(dim: int | None, size: int) -> None:
    """ValueError for a dimension that is known to have another size."""
    if dim not in (None, size):
        raise ValueError(f"Dimension must be {size} but is {dim}")


def merge(a: TensorShape, b: TensorShape) -> TensorShape:
    """What is known about a shape that is both; ValueError when that cannot be."""
    if a.ndims is None or b.ndims is None:
        return b if a.ndims is None else a
    if a.ndims != b.ndims:
        raise ValueError(f"Shapes must be equal rank, but are {a.ndims} and {b.ndims}")
    merged = []
    for i, (p, q) in enumerate(zip(a.as_list(), b.as_list())):
        if p is not None and q is not None and p != q:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {p} and {q}. "
                f"Shapes are {shape_text(a.as_list())} and {shape_text(b.as_list())}."
            )
        merged.append(q if p is None else p)
    return TensorShape(merged)


def product(values: Sequence[int | None]) -> int | None:
    """The product, 0 as soon as one factor is 0, None when it is not known."""
    if 0 in values:
        return 0
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else int(np.prod([1, *known], dtype=np.int64))


def known_sizes(shape: TensorShape) -> list[int]:
    """The sizes of a shape that is fully defined."""
    return cast("list[int]", shape.as_list())


def canonical_axis(axis: int, rank: int) -> int:
    """A non-negative axis; ValueError with the runtime's text when out of range."""
    if not -rank <= axis < rank:
        raise ValueError(
            f"Dimension out of range: axis {axis} must be in the range [{-rank}, {rank})"
        )
    return axis + rank if axis < 0 else axis


def run_time_sizes(sizes: np.ndarray) -> list[int]:
    """The sizes that a vector spells at run time; InvalidArgumentError for a negative one."""
    given = [int(size) for size in sizes]
    for size in given:
        if size < 0:
            raise errors.invalid(f"Dimension {size} must be >= 0")
    return given


def shape_value(c: ShapeContext, i: int) -> TensorShape:
    """The shape that input i, a shape tensor, spells as far as it is known."""
    ranked_at_most(c.inputs[i], 1)
    return c.value_as_shape(i)


def size_array(c: KernelContext, values: Sequence[AnySize], i: int = 0) -> np.ndarray:
    """An output array of sizes; an object array when a symbolic size is among them."""
    flat = np.empty(len(values), dtype=object)
    flat[:] = list(values)
    if all(isinstance(v, (int, np.integer)) for v in flat):
        return flat.astype(c.out_dtype(i))
    return flat


def reduction(c: ShapeContext) -> TensorShape:
    """That of a reduction of the first input over the axes that the second one names."""
    data, keep = c.inputs[0], c.attr("keep_dims")
    if c.inputs[1].ndims is not None and c.inputs[1].ndims > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {c.inputs[1].ndims}")
    axes = c.value(1)
    if axes is None or data.ndims is None:
        return TensorShape([None] * data.ndims if keep and data.ndims is not None else None)
    reduced = set()
    for axis in axes.ravel().tolist():
        if not -data.ndims <= axis < data.ndims:
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {data.ndims} dimensions."
            )
        reduced.add(axis % data.ndims)
    sizes = enumerate(data.as_list())
    if keep:
        return TensorShape([1 if i in reduced else size for i, size in sizes])
    return TensorShape([size for i, size in sizes if i not in reduced])
