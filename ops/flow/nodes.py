# SPDX-License-Identifier: Apache-2.0
"""The ops that branches and loops are made of, and the functions that make single nodes of them.

The executor (engine/session/dataflow.py) knows an op by its role; the kernels here serve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.build import define
from ...engine.graph.convert import (
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    internal_convert_to_tensor_or_indexed_slices,
)
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import colocate_with, name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.types import nest
from ...engine.types.shape import TensorShape, unknown_shape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _parts_of_slices(value: IndexedSlices) -> tuple[Any, ...]:
    parts = (value.values, value.indices)
    return parts if value.dense_shape is None else (*parts, value.dense_shape)


def _spec(value: IndexedSlices | SparseTensor) -> Any:
    from ...engine.interface.specs import type_spec_from_value

    return type_spec_from_value(value)


nest.COMPOSITES[IndexedSlices] = nest.Composite(
    _parts_of_slices, lambda like, parts: IndexedSlices(*parts), _spec
)
nest.COMPOSITES[SparseTensor] = nest.Composite(
    lambda value: [value.indices, value.values, value.dense_shape],
    lambda like, parts: SparseTensor(*parts),
    _spec,
)


def _pass(c: KernelContext, x: TensorLike) -> Any:
    return x


def _switch_kernel(c: KernelContext, data: Any, pred: Any) -> Any:
    # None stands for an output that is dead.
    return (None, data) if pred else (data, None)


def _both(c: ShapeContext) -> list[TensorShape]:
    return [c.inputs[0], c.inputs[0]]


def _merge_shape(c: ShapeContext) -> list[TensorShape]:
    """What all inputs agree about: a loop's second input may come later."""
    first, scalar = c.inputs[0].sizes, TensorShape([])
    if first is None:
        return [unknown_shape(), scalar]
    sizes = list(first)
    for other in c.inputs[1:]:
        if other.sizes is None or len(other.sizes) != len(sizes):
            return [unknown_shape(), scalar]
        sizes = [a if a == b else None for a, b in zip(sizes, other.sizes)]
    return [TensorShape(sizes), scalar]


def _scalar_condition(c: ShapeContext) -> TensorShape:
    if c.inputs[0].rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[0].rank}")
    return TensorShape([])


def _entered_shape(c: ShapeContext) -> TensorShape:
    """A loop variable's shape may change."""
    return c.inputs[0] if c.attr("is_constant") else unknown_shape()


_PART = {"needs": "the rest of a branch or loop"}
_LATER = "stated in ops/flow/grad.py, which needs these functions"
_SWITCH = "data: {T}, pred: bool -> output_false: {T}, output_true: {T}"
_MERGE = "inputs: {N} -> output: {T}, value_index: int32"
_FRAME = "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"

for _is_ref, _type, _many in ((False, "T", "N * T"), (True, "Ref(T)", "Ref(N * T)")):
    _kind = "a reference" if _is_ref else "a value"
    define(
        ("Switch", "RefSwitch")[_is_ref],
        _SWITCH.format(T=_type),
        shape=_both,
        kernel=_switch_kernel,
        gradient=NoGradient(_LATER),
        control_flow_role="switch",
        test=lambda: _PART,
        doc=f"Hands {_kind} to the output that pred tells; the other one is dead.",
    )
    define(
        ("Merge", "RefMerge")[_is_ref],
        _MERGE.format(N=_many, T=_type),
        "T: type; N: int >= 1",
        shape=_merge_shape,
        kernel=lambda c, inputs: (inputs[0], 0),
        gradient=NoGradient(_LATER),
        control_flow_role="merge",
        test=lambda: _PART,
        doc=f"The one of the inputs that is {_kind} and not dead, with its number.",
    )
    define(
        ("Enter", "RefEnter")[_is_ref],
        f"data: {_type} -> output: {_type}",
        _FRAME,
        shape=(lambda c: c.inputs[0]) if _is_ref else _entered_shape,
        kernel=_pass,
        gradient=NoGradient(_LATER),
        control_flow_role="enter",
        test=lambda: _PART,
        doc=f"Makes {_kind} available in a loop body.",
    )
    define(
        ("Exit", "RefExit")[_is_ref],
        f"data: {_type} -> output: {_type}",
        shape=lambda c: c.inputs[0],
        kernel=_pass,
        gradient=NoGradient(_LATER),
        control_flow_role="exit",
        test=lambda: _PART,
        doc=f"Makes {_kind} of the last iteration available outside of the loop.",
    )
    define(
        ("NextIteration", "RefNextIteration")[_is_ref],
        f"data: {_type} -> output: {_type}",
        shape=lambda c: c.inputs[0],
        kernel=_pass,
        gradient=NoGradient(_LATER),
        control_flow_role="next",
        test=lambda: _PART,
        doc=f"Makes {_kind} available in the next iteration.",
    )
define(
    "LoopCond",
    "input: bool -> output: bool",
    shape=_scalar_condition,
    kernel=_pass,
    gradient=NoGradient("a decision has no slope"),
    control_flow_role="condition",
    test=lambda: _PART,
    doc="Whether a loop goes on.",
)
define(
    "RefSelect",
    "index: int32, inputs: Ref(N * T) -> output: Ref(T)",
    "T: type; N: int >= 1",
    shape=lambda c: _merge_shape_of_references(c),
    kernel=lambda c, index, inputs: inputs[int(index)],
    gradient=NoGradient("hands on a reference"),
    control_flow_role="step",
    test=lambda: _PART,
    doc="One of several references.",
)


def _merge_shape_of_references(c: ShapeContext) -> TensorShape:
    _scalar_condition(c)
    shapes = c.inputs[1:]
    fits = all(shape.is_fully_defined() and shape == shapes[0] for shape in shapes)
    return shapes[0] if fits else unknown_shape()


def _as_input(data: Tensor) -> Any:
    return internal_convert_to_tensor_or_indexed_slices(data, as_ref=True)


def _node(data: Tensor, plain: str, reference: str, *args: Any, name: str | None) -> Any:
    """One node for a tensor, one for each part of a composite."""
    data = _as_input(data)
    if isinstance(data, Tensor):
        kind = reference if data.dtype._is_ref_dtype else plain
        return getattr(raw, kind)(data, *args, name=name)
    if nest.is_composite(data):
        return nest.map_structure(
            lambda part: _node(part, plain, reference, *args, name=None),
            data,
            expand_composites=True,
        )
    raise TypeError(f"Type {type(data)} not supported")


def identity_like(data: Any, name: str | None = None) -> Any:
    """Identity that keeps references; of each part of a composite."""
    return _node(data, "Identity", "RefIdentity", name=name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """Sends a value to the next iteration."""
    return _node(data, "NextIteration", "RefNextIteration", name=name)


def exit(data: Any, name: str | None = None) -> Any:
    """Hands a value out of the loop."""
    return _node(data, "Exit", "RefExit", name=name)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Hands a value into the loop body called `frame_name`."""
    data = _as_input(data)
    if isinstance(data, Tensor):
        kind = "RefEnter" if data.dtype._is_ref_dtype and use_ref else "Enter"
        result = getattr(raw, kind)(data, frame_name, is_constant, parallel_iterations, name=name)
        if use_input_shape:
            result.set_shape(data.get_shape())
        return result
    if not nest.is_composite(data):
        raise TypeError(f"Type {type(data)} not supported")
    options = (frame_name, is_constant, parallel_iterations, use_ref, use_input_shape)
    return nest.map_structure(lambda part: enter(part, *options), data, expand_composites=True)


def switch(data: Any, pred: TensorLike, dtype: Any = None, name: str | None = None) -> Any:
    """`(output_false, output_true)`: the data is on the one that `pred` tells."""
    with name_scope(name, "Switch", [data, pred]) as name:
        data = internal_convert_to_tensor_or_indexed_slices(
            data, dtype=dtype, name="data", as_ref=True
        )
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return raw.Switch(data, pred, name=name)
        if not nest.is_composite(data):
            raise TypeError(f"Type {type(data)} not supported")
        pairs = [raw.Switch(part, pred) for part in nest.flatten(data, expand_composites=True)]
        false, true = zip(*pairs)
        return tuple(
            nest.pack_sequence_as(data, side, expand_composites=True) for side in (false, true)
        )


def switch_ref_or_tensor(data: TensorLike, pred: Any, name: str = "Switch") -> Any:
    """`switch` beside its data; a reference stays one."""
    data = convert_to_tensor_or_indexed_slices(data, name="data")
    # The scopes around may ask for another device, that of what a branch updates.
    with colocate_with(data, ignore_existing=True):
        if isinstance(data, Tensor) and data.dtype._is_ref_dtype:
            return raw.RefSwitch(data, pred, name=name)
        return switch(data, pred, name=name)


def as_slices(value: Gradient) -> IndexedSlices:
    """A tensor as slices of itself, all of them."""
    if not isinstance(value, Tensor):
        return value
    from ..array.shape import shape_internal

    shape = shape_internal(value, optimize=False)
    return IndexedSlices(value, tf.range(0, shape[0]), shape)


def _as_slices_list(values: list[Any]) -> list[Any]:
    slices = [as_slices(value) for value in values]
    kinds = {s.indices.dtype for s in slices}
    if len(kinds) == 1:
        return slices
    return [
        IndexedSlices(s.values, tf.cast(s.indices, tf.int64), s.dense_shape)
        if s.indices.dtype == tf.int32
        else s
        for s in slices
    ]


def merge(inputs: Sequence[Tensor], name: str | None = None) -> Any:
    """The input that is not dead, and its number."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as name:
        inputs = [_as_input(value) for value in inputs]
        if all(isinstance(value, Tensor) for value in inputs):
            is_ref = all(value.dtype._is_ref_dtype for value in inputs)
            return (raw.RefMerge if is_ref else raw.Merge)(inputs, name=name)
        if all(isinstance(value, (IndexedSlices, Tensor)) for value in inputs):
            inputs = _as_slices_list(inputs)
        for value in inputs:
            if not nest.is_composite(value):
                raise TypeError(f"Type {type(value)} not supported")
        for value in inputs[1:]:
            nest.assert_same_structure(inputs[0], value, expand_composites=True)
        flat = [nest.flatten(value, expand_composites=True) for value in inputs]
        merged = [raw.Merge(list(parts)) for parts in zip(*flat)]
        values = [value for value, _ in merged]
        return nest.pack_sequence_as(inputs[0], values, expand_composites=True), merged[0][1]
