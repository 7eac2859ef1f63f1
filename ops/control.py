# SPDX-License-Identifier: Apache-2.0
"""Ops that do nothing but order others: no_op, group, tuple, control dependencies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.api import export
from ..engine.graph.build import define
from ..engine.graph.graph import (
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from ..engine.graph.operation import Operation
from ..engine.graph.registry import NoGradient, Touch
from ..engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from .public import raw, tf

if TYPE_CHECKING:
    from ..engine.graph.annotations import TensorLike
    from ..engine.graph.kernel_context import KernelContext


_NOTHING = NoGradient("computes nothing")

_no_op = define(
    "NoOp",
    "->",
    kernel=lambda c: None,
    lower=lambda b, op: (),
    gradient=_NOTHING,
    transfer="value",
    doc="Does nothing; for control dependencies.",
)
define(
    "ControlTrigger",
    "->",
    kernel=lambda c: None,
    lower=lambda b, op: (),
    gradient=_NOTHING,
    control_flow_role="trigger",
    doc="Does nothing; runs even where its control inputs are dead.",
)


def _abort(c: KernelContext) -> None:
    # The process ends as if it had crashed, or without a word to who started it.
    if c.attr("exit_without_error"):
        print(f"Exiting the process: {c.attr('error_msg')}", file=sys.stderr, flush=True)
        os._exit(0)
    print(f"Abort_op intentional failure; {c.attr('error_msg')}", file=sys.stderr, flush=True)
    os.abort()


define(
    "Abort",
    "->",
    "error_msg: string = ''; exit_without_error: bool = false",
    kernel=_abort,
    gradient=_NOTHING,
    touches=(Touch("python"), Touch("output")),
    test={"needs": "a process to end"},
    doc="Ends the process, for tests of what survives that.",
)


@export("no_op")
def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing: something for control dependencies to hang on.

    Args:
        name: of the operation.

    Returns:
        An Operation.

    Example:
        >>> tf.Session().run(tf.no_op())
    """
    return _no_op(name=name)


def _grouped(place: str | None, deps: list[Any], name: str | None = None) -> Operation:
    with control_dependencies(deps):
        if place is None:
            return no_op(name=name)
        with device(place):
            return no_op(name=name)


def _flattened(inputs: Iterable[Any]) -> list[Any]:
    from ..engine.types.nest import flatten

    return flatten(inputs, expand_composites=True)


@export("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that is done when all its inputs are.

    Args:
        inputs: Operations, Tensors and Variables, or structures of them.
        name: of the operation, by keyword.

    Returns:
        An Operation, which has no value.

    Raises:
        TypeError: something else is among them.
        ValueError: there is another keyword than `name`.

    Example:
        >>> a, b = tf.Variable(1), tf.Variable(2)
        >>> sess = tf.Session()
        >>> sess.run(tf.group(a.initializer, b.initializer))
        >>> sess.run([a, b])
        [np.int32(1), np.int32(2)]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs.keys()))
    with name_scope(name, "group_deps", inputs) as name:
        if not inputs:
            return no_op(name=name)
        by_device: dict[str, list[Any]] = {}
        for thing in _flattened(inputs):
            if not hasattr(thing, "device"):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{thing}' with type "
                    f"'{type(thing)}'"
                )
            by_device.setdefault(thing.device, []).append(thing)
        if len(by_device) == 1:
            (place, deps), *_ = by_device.items()
            return _grouped(place or None, deps, name=name)
        # One node for each device, and one that waits for these: one edge between devices is
        # enough.
        nodes = [_grouped(place or None, by_device[place]) for place in sorted(by_device)]
        with control_dependencies(nodes):
            return no_op(name=name)


def identity_of(data: Any, name: str | None = None) -> Any:
    """Identity of a tensor, IndexedSlices or SparseTensor; keeps references references."""
    if isinstance(data, IndexedSlices):
        values = identity_of(data.values, name=name)
        indices = tf.identity(data.indices, name="indices")
        shape = data.dense_shape
        shape = None if shape is None else tf.identity(shape, name="dense_shape")
        return IndexedSlices(values, indices, shape)
    if isinstance(data, SparseTensor):
        parts = (data.indices, data.values, data.dense_shape)
        return SparseTensor(*(tf.identity(part) for part in parts))
    if data.dtype._is_ref_dtype:
        return raw.RefIdentity(data, name=name)
    return tf.identity(data, name=name)


def with_dependencies(
    dependencies: Iterable[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """`output_tensor`, after the given operations have run."""
    dependencies = list(dependencies)
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as name:
        with colocate_with(output_tensor), control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                values = identity_of(output_tensor.values, name=name)
                return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
            if not isinstance(output_tensor, SparseTensor):
                from ..engine.graph.convert import convert_to_tensor

                output_tensor = convert_to_tensor(output_tensor)
            return identity_of(output_tensor, name=name)


@export("tuple")
def tuple_(
    tensors: Sequence[Any],
    name: str | None = None,
    control_inputs: Sequence[Operation] | None = None,
) -> list[Any]:
    """Tensors, each of which is available only when all of them are.

    Args:
        tensors: a list of Tensors, IndexedSlices, Operations or None.
        name: the scope of the operations.
        control_inputs: Operations and Tensors to wait for besides.

    Returns:
        A list with a new tensor for each, and None where None was.

    Raises:
        TypeError: something else is among `control_inputs`.
        ValueError: there is nothing but None.

    Example:
        >>> a, b = tf.tuple([tf.constant(1), tf.constant(2)])
        >>> tf.Session().run(a)
        np.int32(1)
    """
    with name_scope(name, "tuple", tensors) as name:
        tensors = [None if t is None else _element_of(t) for t in tensors]
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for control in control_inputs or ():
            if not isinstance(control, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {control}")
            gating.append(control.op if isinstance(control, Tensor) else control)
        # The gate's control inputs are in a fixed order, whatever that of the tensors.
        gating = sorted(set(gating), key=lambda op: op._id)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*gating)
        return [_gated(gate, t) for t in tensors]


def _element_of(thing: TensorLike) -> Any:
    from ..engine.graph.convert import convert_to_tensor, is_dense_tensor_like

    kinds = (Operation, Tensor, IndexedSlices, SparseTensor)
    # A variable stays one: its own node gates, and its value is read behind the gate.
    if isinstance(thing, kinds) or is_dense_tensor_like(thing):
        return thing
    return convert_to_tensor(thing)


def _gated(gate: Operation, thing: object) -> Any:
    if thing is None:
        return None
    if isinstance(thing, Operation):
        with control_dependencies([gate]):
            return group(thing)
    return with_dependencies([gate], thing)
