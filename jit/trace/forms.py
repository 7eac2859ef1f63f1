# SPDX-License-Identifier: Apache-2.0
"""Simpler forms of what a builder is asked for.  Imports jit's IR."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...engine import errors
from ..kernel import sizes
from ..kernel.sizes import AnySize, Size, same
from ..program.tensor_ir import Axis, Shape

_Key = TypeVar("_Key")


def without(known: dict[_Key, Size], names: Collection[str]) -> dict[_Key, Size]:
    """What is not one of the symbols of these names."""
    return {key: size for key, size in known.items() if size.text not in names} if names else known


def unit_moves(old: Shape, new: Shape) -> tuple[Axis, ...] | None:
    """The view for a reshape that only adds or drops dimensions of one; None for others."""
    places = [i for i, size in enumerate(new) if not same(size, 1)]
    wide = [size for size in old if not same(size, 1)]
    if not sizes.same_shape(wide, [new[i] for i in places]):
        return None
    order = iter(places)
    return tuple(Axis(None) if same(size, 1) else Axis(next(order)) for size in old)


def holds_sizes(value: object) -> bool:
    """Is there a symbolic size in what contents are given as?"""
    if isinstance(value, (list, tuple)):
        return any(map(holds_sizes, value))
    return isinstance(value, Size) or (isinstance(value, np.ndarray) and value.dtype == object)


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of a name."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def as_size(value: Any) -> AnySize:
    """A size, or a number as Python's own."""
    return value if isinstance(value, Size) else int(value)


def new_shape(of: Sequence[Any]) -> Shape:
    """The sizes of a value that is to be made; InvalidArgumentError where one is negative."""
    shape = tuple(map(as_size, of))
    for size in shape:
        if size < 0:
            raise errors.invalid(f"Dimension {sizes.hint(size)} must be >= 0")
    return shape


def shape_key(shape: Iterable[AnySize]) -> tuple[str, ...]:
    """Equal for shapes that are equal by form."""
    return tuple(str(size) for size in shape)


def shape_shown(shape: Sequence[AnySize]) -> str:
    """A shape of the example, as TensorFlow's messages show it."""
    return "[" + ",".join(str(sizes.hint(size)) for size in shape) + "]"


def broadcast_of(shapes: Sequence[Shape], equal: Callable[[AnySize, AnySize], bool]) -> Shape:
    """NumPy's broadcast of several shapes; InvalidArgumentError as TensorFlow words it.

    equal: are two sizes that are not one equal?
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[AnySize] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if same(result[axis], 1):
                result[axis] = size
            elif not same(size, 1) and not equal(size, result[axis]):
                shown = f"{shape_shown(shapes[0])} vs. {shape_shown(shape)}"
                raise errors.invalid(f"Incompatible shapes: {shown}")
    return tuple(result)
