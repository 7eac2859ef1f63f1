# SPDX-License-Identifier: Apache-2.0
"""Texts put together element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...engine.types.texts import PackedTexts, unpacked
from .. import shape_inference
from . import at_once, packing
from .files import text_array

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _shape(c: ShapeContext) -> TensorShape:
    if all(shape.ndims == 0 for shape in c.inputs):
        return TensorShape([])
    result = shape_inference.unknown()
    for shape in c.inputs:
        # One of unknown rank may be a scalar: it tells nothing.
        if shape.ndims:
            result = shape_inference.merge(result, shape)
    return result


def _join(c: KernelContext, inputs: list[np.ndarray | PackedTexts]) -> np.ndarray | PackedTexts:
    shape: tuple[int, ...] = ()
    for array in inputs:
        if array.ndim and shape not in ((), array.shape):
            raise errors.invalid(
                f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(array.shape)}"
            )
        shape = array.shape or shape
    separator = c.attr("separator").encode()
    if any(map(packing.is_many, inputs)):
        packs = 0 in c.packs and len(shape) == 1
        found = at_once.woven(inputs, math.prod(shape), separator, packs)
        if found is not None:
            return found if isinstance(found, PackedTexts) else found.reshape(shape)
    columns = [np.broadcast_to(unpacked(array), shape).reshape(-1).tolist() for array in inputs]
    return text_array(list(map(separator.join, zip(*columns)))).reshape(shape)


_string_join = define(
    "StringJoin",
    "inputs: N * string -> output: string",
    "N: int >= 1; separator: string = ''",
    shape=_shape,
    kernel=_join,
    elementwise=True,
    takes_packed=("inputs",),
    gives_packed=True,
    gradient=NoGradient("texts have no gradient", silent=True),
    doc="Joins texts element by element; scalars go with every element.",
    test={"broadcast": False},
)


@export("strings.join", "string_join")
@dispatched
def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Joins texts element by element, with `separator` between them."""
    return _string_join(inputs, separator=separator, name=name)
