# SPDX-License-Identifier: Apache-2.0
"""Shapes of loop variables: what they are declared to keep, and whether they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.interface.specs import (
    IndexedSlicesSpec,
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    type_spec_from_value,
)
from ...engine.types import nest
from ...engine.types.shape import TensorShape, unknown_shape
from .nodes import as_slices, next_iteration

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike
    from ..state.variables import Variable


def is_within(shape: TensorShape, bound: TensorShape) -> bool:
    """Whether a shape says at least what the other one says."""
    if bound.sizes is None:
        return True
    if shape.sizes is None or len(shape.sizes) != len(bound.sizes):
        return False
    return all(b is None or a == b for a, b in zip(shape.sizes, bound.sizes))


def invariants_of(var: Variable, shape: Any = None) -> Any:
    """The shape that a loop variable keeps; a list of them for a composite."""
    if nest.is_composite(var):
        spec = type_spec_from_value(var) if shape is None else _declared_spec(var, shape)
        return [part.shape for part in nest.flatten(spec._component_specs)]
    if shape is None:
        return var.shape
    if isinstance(shape, TensorSpec):
        if var.dtype != shape.dtype:
            raise TypeError(f"TensorSpec {shape!r} is not compatible with {var!r}")
        return shape.shape
    if isinstance(shape, TypeSpec):
        raise TypeError(f"TypeSpec {shape!r} is not compatible with {var!r}")
    return shape


def _declared_spec(var: Any, shape: Any) -> TypeSpec:
    if isinstance(shape, TypeSpec):
        if not shape.is_compatible_with(var):
            raise TypeError(f"TypeSpec {shape!r} is not compatible with {var!r}")
        return shape
    if not isinstance(shape, TensorShape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if isinstance(var, SparseTensor):
        # The shape stated is that of the dense shape: it tells the rank.
        if shape.rank not in (None, 1):
            raise ValueError("Expected a shape with 1 dimension")
        rank = None if shape.rank is None else shape.as_list()[0]
        return SparseTensorSpec(unknown_shape(rank), var.dtype)
    if not isinstance(var, IndexedSlices):
        return var._shape_invariant_to_type_spec(shape)
    # The shape stated is that of the values.
    dense = TensorShape([None]).concatenate(shape[1:])
    kind = None if var.dense_shape is None else var.dense_shape.dtype
    return IndexedSlicesSpec(dense, var.dtype, var.indices.dtype, kind, shape[:1])


def set_invariants(inputs: list[Tensor], entered: list[Tensor], shapes: Sequence[Any]) -> None:
    """Gives the entered variables their declared shapes."""
    if shapes is None:
        return
    flat = _flat_shapes(shapes)
    if not all(isinstance(shape, TensorShape) for shape in flat):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    for given, var, shape in zip(inputs, entered, flat):
        if not is_within(given.get_shape(), shape):
            raise ValueError(
                f"The shape invariant specified for {given.name} is not compatible with the "
                "initial shape of the loop variable. It enters the loop with shape "
                f"{given.get_shape()}, but the specified shape invariant is {shape}."
            )
        var.set_shape(shape)


def _flat_shapes(shapes: ShapeLike) -> list[Any]:
    if isinstance(shapes, TensorShape) or not nest.is_sequence(shapes):
        return [shapes]
    return [shape for item in nest.children(shapes) for shape in _flat_shapes(item)]


def _require_kept(merged: Tensor, value: Tensor) -> None:
    if is_within(value.get_shape(), merged.get_shape()):
        return
    start = merged.op.inputs[0].op.inputs[0]
    raise ValueError(
        f"Input tensor '{start.name}' enters the loop with shape {start.shape}, but has shape "
        f"{value.get_shape()} after one iteration. To allow the shape to vary across iterations, "
        "use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
    )


def back_edge(merged: Any, value: Any, enforce_shape_invariant: bool = True) -> Any:
    """Sends a value to the next iteration, where it comes out of the merge."""
    if isinstance(merged, Tensor):
        value = next_iteration(convert_to_tensor(value))
        if enforce_shape_invariant:
            _require_kept(merged, value)
        merged.op._update_input(1, value)
        return value
    if not nest.is_composite(merged):
        raise TypeError(f"Type {type(merged)} not supported")
    if isinstance(merged, IndexedSlices):
        value = as_slices(value)
    value = next_iteration(value)
    nest.map_structure(lambda m, v: m.op._update_input(1, v), merged, value, expand_composites=True)
    return value
