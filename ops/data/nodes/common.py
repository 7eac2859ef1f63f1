# SPDX-License-Identifier: Apache-2.0
"""What definitions of dataset ops share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph.build import define
from ....engine.graph.registry import NoGradient
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape, as_shape
from ..runtime.context import arrays_of, library_of
from ..runtime.dataset import Dataset
from ..runtime.functions import Captured
from ..runtime.origins import made_by

if TYPE_CHECKING:
    from ....engine.graph.inference import ShapeContext
    from ....engine.graph.kernel_context import KernelContext

NONE = NoGradient("data is read, not computed")
TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
FUNCTION = "f: func; Targuments: list(type) >= 0"
_TEST = {"needs": "a dataset"}


def element_types(c: KernelContext) -> tuple[list[DType], list[TensorShape]]:
    """The types and shapes that a node states of its elements."""
    attrs = c.op._attrs
    types = attrs.get("output_types") or attrs.get("Toutput_types")
    return list(types or ()), [as_shape(shape) for shape in attrs.get("output_shapes", ())]


def captured(c: KernelContext, name: str, values: Any) -> Captured:
    """The function that an attribute names, with captured values of their own memory."""
    return Captured(c.op._attrs[name], library_of(c.op), arrays_of(values))


def scalar(value: np.ndarray, name: str) -> Any:
    """The number, text or truth value of a scalar argument."""
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim:
        raise errors.invalid(f"{name} must be a scalar")
    return value.item()


def scalars(*ranks: int | None) -> Callable[[ShapeContext], TensorShape]:
    """A shape function: inputs have given ranks, where they are stated; the output is a scalar."""

    def shape(c: ShapeContext) -> TensorShape:
        for given, rank in zip(c.inputs, ranks):
            if rank is not None and given.ndims not in (None, rank):
                raise ValueError(f"Shape must be rank {rank} but is rank {given.ndims}")
        return TensorShape([])

    return shape


def _boxed(kernel: Callable[..., Dataset]) -> Callable[..., np.ndarray]:
    def make(c: KernelContext, *inputs: Any) -> np.ndarray:
        owned = [arrays_of(x) if isinstance(x, list) else arrays_of([x])[0] for x in inputs]
        return made_by(c.op, owned, kernel(c, *owned)).boxed()

    make.__module__ = kernel.__module__
    return make


def define_dataset(
    name: str,
    arguments: str,
    attrs: str,
    kernel: Callable[..., Dataset],
    doc: str,
    output: str = "handle",
    **facts: Any,
) -> None:
    """Defines an op that makes a dataset: `kernel(c, *inputs)`, of inputs that nobody changes."""
    facts = {"shape": scalars(), "touches": (), "test": _TEST, **facts}
    define(
        name,
        f"{arguments} -> {output}: variant",
        attrs,
        kernel=_boxed(kernel),
        gradient=NONE,
        doc=doc,
        **facts,
    )


def stated_shapes(c: ShapeContext) -> list[TensorShape]:
    """A shape function: the outputs have the shapes that the node states."""
    types, shapes = c.attr("output_types"), c.attr("output_shapes")
    if len(types) != len(shapes):
        raise ValueError(
            f"`output_shapes` must be the same length as `output_types` ({len(shapes)} vs. "
            f"{len(types)})"
        )
    return [as_shape(shape) for shape in shapes]
