# SPDX-License-Identifier: Apache-2.0
"""The contexts that `Graph` offers, and what they set on a new operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..types.dtypes import as_dtype
from .devices import DeviceEntry, DeviceSpec
from .operation import Operation, plain_attr, user_frame
from .scopes import ControlDependencies, ScopeStack
from .tensor import IndexedSlices, SparseTensor, Tensor

if TYPE_CHECKING:
    from .annotations import DTypeLike
    from .graph import Graph


def control_dependencies_of(
    graph: Graph, control_inputs: Iterable[Any] | None
) -> ControlDependencies:
    """The context for `Graph.control_dependencies`: new control inputs, each once."""
    if control_inputs is None:
        return ControlDependencies(graph, None)
    current = graph._current_control_dependencies()
    ops: list[Operation] = []
    for item in control_inputs:
        if isinstance(item, (IndexedSlices, SparseTensor)) or (
            hasattr(item, "_handle") and hasattr(item, "op")
        ):
            item = item.op
        item = graph.as_graph_element(item)
        op = item.op if isinstance(item, Tensor) else item
        if op not in current:
            ops.append(op)
            current.add(op)
    return ControlDependencies(graph, ops)


def apply_scopes(graph: Graph, op: Operation, compute_device: bool) -> None:
    """What the surrounding contexts set on a new operation: attributes, device, colocation."""
    if graph._attr_scope_map:
        _apply_attr_scope(graph, op)
    kind = op.type
    if kind in graph._op_to_kernel_label_map:
        op._attrs["_kernel"] = graph._op_to_kernel_label_map[kind].encode()
    if kind in graph._gradient_override_map:
        op._attrs["_gradient_op_type"] = graph._gradient_override_map[kind].encode()
    for controller in graph._control_dependencies_stack:
        controller.add_op(op)
    if compute_device:
        apply_device_functions(graph, op)
    if graph._colocation_stack.entries:
        _apply_colocation(graph, op)
    if graph._container and op._is_stateful and op._attrs.get("container", None) == b"":
        op._attrs["container"] = graph._container.encode()


def _apply_attr_scope(graph: Graph, op: Operation) -> None:
    for key, value in graph._attr_scope_map.items():
        if key in op._attrs:
            continue
        if callable(value):
            value = value(op.node_def)
            if value is not None and type(value).__name__ != "AttrValue":
                raise TypeError(
                    f"Callable for scope map key '{key}' must return either None or an "
                    f"AttrValue protocol buffer; but it returned: {value}"
                )
        if value is not None:
            op._attrs[key] = plain_attr(value)


def apply_device_functions(graph: Graph, op: Operation) -> None:
    """Sets the device of an operation by the device scopes in force."""
    entries = graph._device_function_stack.peek_objs()
    for entry in _in_force(entries):
        op._device = entry.string_merge(op)
    op._device_entries = tuple(entries)


def _in_force(entries: Iterable[DeviceEntry]) -> Iterator[DeviceEntry]:
    for entry in entries:
        if entry.function is None and not entry.is_null_merge:
            break
        if not entry.is_null_merge:
            yield entry


def tell_device(graph: Graph, asker: Any) -> None:
    """Tells the device in force to a library's object that looks like an operation.

    What takes devices of another form than operations do is given a DeviceSpec.
    """
    said = _Asker()
    for entry in _in_force(graph._device_function_stack.peek_objs()):
        said.device = entry.string_merge(said)  # type: ignore[arg-type]
    if said.device and hasattr(asker, "_set_device_from_string"):
        asker._set_device_from_string(said.device)
    elif said.device:
        asker._set_device(DeviceSpec.from_string(said.device))


class _Asker:
    """What device functions see of an operation that is none."""

    device, type, name = "", "NoOp", ""


def _apply_colocation(graph: Graph, op: Operation) -> None:
    groups: set[bytes] = set()
    for other, frame in graph._colocation_stack.entries[::-1]:
        groups.update(other.colocation_groups())
        if other.device:
            op._device = other.device
        op._colocation_frames[other.name] = frame
    op._attrs["_class"] = sorted(groups)


@contextmanager
def device(graph: Graph, device_name_or_function: object) -> Iterator[None]:
    """A context that sets the device of new operations: a name, a function of them, or None."""
    frame = user_frame()
    entry = DeviceEntry(device_name_or_function, frame)
    graph._device_function_stack.push_obj(entry, frame)
    try:
        yield
    finally:
        stack = graph._device_function_stack
        if not stack.entries or stack.peek_top_obj() is not entry:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        stack.pop_obj()


@contextmanager
def colocate_with(graph: Graph, op: object, ignore_existing: bool = False) -> Iterator[None]:
    """A context whose operations share the device of `op`."""
    if op is None and not ignore_existing:
        raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
    op = _op_to_colocate_with(op)
    # Colocation outranks the device scopes outside of it.
    devices = graph._device_function_stack
    graph._device_function_stack = ScopeStack()
    colocation = graph._colocation_stack
    if ignore_existing:
        graph._colocation_stack = ScopeStack()
    if op is not None:
        graph._colocation_stack.push_obj(op, user_frame())
    try:
        yield
    finally:
        graph._device_function_stack = devices
        if op is not None:
            graph._colocation_stack.pop_obj()
        if ignore_existing:
            graph._colocation_stack = colocation


@contextmanager
def colocate_with_for_gradient(
    graph: Graph, op: Operation | None, gradient_uid: str, ignore_existing: bool = False
) -> Iterator[None]:
    with colocate_with(graph, op, ignore_existing):
        context = graph._control_flow_context
        if gradient_uid is None or context is None:
            yield
            return
        context.EnterGradientColocation(op, gradient_uid)
        try:
            yield
        finally:
            context.ExitGradientColocation(op, gradient_uid)


@contextmanager
def attr_scope(graph: Graph, attr_map: dict[str, Any]) -> Iterator[None]:
    _check_attr_map(attr_map)
    old = dict(graph._attr_scope_map)
    for name, value in attr_map.items():
        if value is None:
            del graph._attr_scope_map[name]
        else:
            graph._attr_scope_map[name] = value
    try:
        yield
    finally:
        graph._attr_scope_map = old


@contextmanager
def setting(graph: Graph, name: str, value: object) -> Iterator[Any]:
    """A context in which an attribute of the graph has another value."""
    old = getattr(graph, name)
    setattr(graph, name, value)
    try:
        yield value
    finally:
        setattr(graph, name, old)


def _op_to_colocate_with(value: object) -> Operation | None:
    if value is None or isinstance(value, Operation):
        return value
    handle = getattr(value, "handle", None)
    if isinstance(getattr(handle, "op", None), Operation):
        return handle.op  # type: ignore[union-attr]
    from .convert import internal_convert_to_tensor_or_indexed_slices

    return internal_convert_to_tensor_or_indexed_slices(value, as_ref=True).op


def _check_attr_map(attr_map: dict[Any, Any]) -> None:
    if not isinstance(attr_map, dict):
        raise TypeError(
            "attr_map must be a dictionary mapping strings to AttrValue protocol buffers"
        )
    for name, value in attr_map.items():
        fits = value is None or callable(value) or type(value).__name__ == "AttrValue"
        if not (isinstance(name, str) and fits):
            raise TypeError(
                "attr_map must be a dictionary mapping strings to AttrValue protocol buffers or "
                "callables that emit AttrValue protocol buffers"
            )


def check_string_map(mapping: dict[Any, Any], what: str) -> None:
    if not isinstance(mapping, dict) or not all(
        isinstance(key, str) and isinstance(value, str) for key, value in mapping.items()
    ):
        raise TypeError(f"{what} must be a dictionary mapping strings to strings")


@contextmanager
def enable_auto_casting_variables(graph: Graph, dtype: DTypeLike | None) -> Iterator[None]:
    """A context in which layers' variables are read in a dtype; None for their own."""
    before = graph._auto_cast_variable_read_dtype
    graph._auto_cast_variable_read_dtype = None if dtype is None else as_dtype(dtype)
    try:
        yield
    finally:
        graph._auto_cast_variable_read_dtype = before


def taken_in(graph: Graph, tensor: Tensor) -> Tensor:
    """What stands in a graph for a tensor of it, or of one around it: the tensor itself."""
    del graph
    return tensor
