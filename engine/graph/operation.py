# SPDX-License-Identifier: Apache-2.0
"""`Operation`: one node of a graph."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import errors
from ..api import export
from ..tracebacks import is_own_file
from ..types.dtypes import DType
from ..types.shape import TensorShape, shape_text
from . import defaults
from .devices import device_string
from .registry import Arg, OpDef
from .scopes import Location
from .tensor import Tensor

if TYPE_CHECKING:
    from ..session.session import BaseSession
    from .graph import Graph

Frame = tuple[str, int, str]

# Checks of control flow: called with (op, input op) for every input of a new op.
input_checks: list[Callable[[Any, Any], None]] = []


_LIBRARY = os.path.dirname(os.__file__) + os.sep + "contextlib.py"


@cache
def _is_passed_over(filename: str) -> bool:
    return is_own_file(filename) or filename == _LIBRARY


def user_frame() -> Frame:
    """The innermost frame outside of this package: (file, line, function)."""
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not _is_passed_over(filename):
            return filename, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0, "<module>"


@export("Operation")
class Operation:
    """A node: its type, name, inputs, attributes and outputs.  Made by `Graph.create_op`."""

    # Of a constant: how many elements its GraphDef states; the last one repeats.  None: all.
    _explicit_elements: int | None = None
    # Of an imported constant: whether its GraphDef held the elements as bytes, or listed them.
    _raw_elements: bool | None = None
    # Names that a node had in the graph that it comes from (NodeDef.experimental_debug_info).
    _debug_info: Any = None
    # Of a copy that runs in place of another (engine/session/function_inlining.py): the one that
    # the user made.
    _stands_for: Operation | None = None
    # Of a parameter of a function's body: the tensor outside that it stands for, if that is known.
    _given: Tensor | None = None
    # Of such a parameter: the same, where it has that value in every call.
    _captured: Tensor | None = None
    # Of a call: the Python object that made it (ops/flow/function_library.py).
    _called_function: Any = None

    def __init__(
        self,
        node_def: object,
        g: Graph,
        inputs: list[Tensor] | None = None,
        output_types: object = None,
        control_inputs: object = None,
        input_types: Sequence[DType] | None = None,
        original_op: Operation | None = None,
        op_def: object = None,
    ) -> None:
        """Adds the node that a NodeDef states to a graph; `Graph.create_op` is the usual way."""
        del output_types, op_def
        from .node_def import fill_from_node_def

        fill_from_node_def(self, node_def, g, inputs, control_inputs, input_types, original_op)

    def _fill(
        self,
        graph: Graph,
        definition: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        control_inputs: list[Operation],
        input_types: list[DType],
    ) -> None:
        self._graph = graph
        self.definition = definition
        self._name = name
        self._inputs_val = tuple(inputs)
        self._attrs = attrs
        self._control_inputs_val = control_inputs
        self._control_outputs_val: list[Operation] = []
        self._input_types_val = input_types
        self._device = ""
        self._original_op: Operation | None = graph._default_original_op
        self._control_flow_context: Any = graph._control_flow_context
        self._frame = user_frame()
        self._id = graph._next_id()
        self._outputs = [Tensor(self, i, kind) for i, kind in enumerate(output_types)]
        self._is_stateful = definition.is_stateful
        # Where the device and colocation scopes were entered, for reports.
        self._device_entries: tuple[Any, ...] = ()
        self._colocation_frames: dict[str, Frame] = {}

    @property
    def name(self) -> str:
        """The full name, with its scopes."""
        return self._name

    @property
    def type(self) -> str:
        """The type, such as "MatMul"."""
        return self.definition.name

    @property
    def graph(self) -> Graph:
        """The graph that holds this node."""
        return self._graph

    @property
    def inputs(self) -> _InputList:
        """The data inputs."""
        return _InputList(self._inputs_val)

    @property
    def _inputs(self) -> _InputList:
        return _InputList(self._inputs_val)

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs."""
        return self._outputs

    def values(self) -> tuple[Tensor, ...]:
        """The outputs as a tuple."""
        return tuple(self._outputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must run before this one."""
        return list(self._control_inputs_val)

    @property
    def _control_inputs(self) -> list[Operation]:
        return list(self._control_inputs_val)

    @property
    def _control_outputs(self) -> list[Operation]:
        return list(self._control_outputs_val)

    @property
    def _input_types(self) -> list[DType]:
        return list(self._input_types_val)

    @property
    def _output_types(self) -> list[int]:
        return [output.dtype.as_datatype_enum for output in self._outputs]

    @property
    def device(self) -> str:
        """The requested device's name, or ""."""
        return self._device

    def _set_device(self, device: str) -> None:
        self._device = device_string(device)

    _set_device_from_string = _set_device

    @property
    def _device_assignments(self) -> list[Location]:
        """Where the device scopes around this node were entered."""
        return [Location(e.display_name, *e.frame[:2]) for e in self._device_entries]

    @property
    def _colocation_dict(self) -> dict[str, Location]:
        """Where the colocation scopes around this node were entered, by the other's name."""
        frames = self._colocation_frames.items()
        return {name: Location(None, *frame[:2]) for name, frame in frames}

    @property
    def node_def(self) -> Any:
        """The NodeDef proto."""
        from ...io.graph_def import node_def

        return node_def(self)

    @property
    def _node_def(self) -> Any:
        return self.node_def

    @property
    def op_def(self) -> Any:
        """The OpDef proto of the type."""
        from ...io.graph_def import op_def

        return op_def(self.definition)

    @property
    def traceback(self) -> list[Any]:
        """The user's line that made this node, as (file, line, function, text)."""
        import linecache

        filename, line, function = self._frame
        return [(filename, line, function, linecache.getline(filename, line).strip())]

    @property
    def traceback_with_start_lines(self) -> list[Any]:
        """`traceback` with the first line of the function where known (here: the line)."""
        return [(*frame, frame[1]) for frame in self.traceback]

    # Attributes

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value; text rather than bytes.  KeyError if missing."""
        value = self._attrs[name]
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow returns it: shapes and tensors are protos, strings bytes."""
        try:
            value = self._attrs[name]
        except KeyError:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.") from None
        # Floats pass through TensorFlow's single precision on the way.
        if isinstance(value, (int, bytes, DType)):
            return value
        from ...io.graph_def import get_attr

        kind = next((attr.type for attr in self.definition.attrs if attr.name == name), None)
        return get_attr(value, kind)

    def has_attr(self, name: str) -> bool:
        """Whether there is such an attribute."""
        return name in self._attrs

    def _set_attr(self, name: str, value: str) -> None:
        self._attrs[name] = plain_attr(value)
        self._graph.note_mutation()

    def _clear_attr(self, name: str) -> None:
        self._attrs.pop(name, None)
        # (What is not there has its default value.)
        for attr in self.definition.attrs:
            if attr.name == name and attr.has_default:
                self._attrs[name] = attr.default
        self._graph.note_mutation()

    def _get_attr_type(self, name: str) -> DType:
        return self.get_attr(name)

    def dtype(self, index: int = 0) -> str:
        """The NumPy dtype name of an output."""
        return self._outputs[index].dtype.base_dtype.np_dtype.name

    def shape(self, index: int = 0) -> TensorShape:
        """The static shape of an output."""
        return self._outputs[index].shape

    def grouped_inputs(self) -> list[Any]:
        """The inputs as the signature states them: list inputs as lists."""
        return group(self.definition.inputs, self._attrs, self._inputs_val)

    # Colocation

    def colocation_groups(self) -> list[bytes]:
        """The groups of nodes that this one must share a device with."""
        groups = [
            item
            for item in self._attrs.get("_class", ())
            if isinstance(item, bytes) and item.startswith(b"loc:@")
        ]
        return groups or [b"loc:@" + self._name.encode()]

    # Control flow

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, ctx: object) -> None:
        self._control_flow_context = ctx

    def _control_flow_post_processing(self) -> None:
        for check in input_checks:
            for tensor in self._inputs_val:
                check(self, tensor.op)
        if self._control_flow_context is not None:
            self._control_flow_context.AddOp(self)

    # Changes after creation

    def _update_input(self, index: int, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        self._same_graph(tensor)
        if not 0 <= index < len(self._inputs_val):
            raise errors.out_of_range(
                f"Cannot update edge. Input index [{index}] is greater than the number of total "
                f"inputs [{len(self._inputs_val)}]."
            )
        old = self._inputs_val[index]
        if not tensor.shape.is_compatible_with(old.shape):
            raise errors.invalid(
                f"Cannot update edge, incompatible shapes: {shape_text(tensor.shape)} and "
                f"{shape_text(old.shape)}."
            )
        values = list(self._inputs_val)
        values[index] = tensor
        self._inputs_val = tuple(values)
        old._consumers.remove(self)
        tensor._consumers.append(self)
        self._graph.note_mutation()

    def _add_while_inputs(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"tensor must be a Tensor: {tensor}")
            self._same_graph(tensor)
            self._inputs_val += (tensor,)
            self._input_types_val.append(tensor.dtype.base_dtype)
            tensor._consumers.append(self)
        self._graph.note_mutation()

    def _add_outputs(self, kinds: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        for kind, shape in zip(kinds, shapes, strict=True):
            output = Tensor(self, len(self._outputs), kind)
            output.set_shape(shape)
            self._outputs.append(output)
        self._graph.note_mutation()

    def _same_graph(self, thing: Operation | Tensor) -> None:
        if thing.graph is not self._graph:
            raise ValueError(f"{thing} must be from the same graph as {self}.")

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        known = set(self._control_inputs_val)
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            self._same_graph(op)
            if op not in known:
                known.add(op)
                self._control_inputs_val.append(op)
                op._control_outputs_val.append(self)
                self._graph.note_mutation()

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        for op in self._control_inputs_val:
            op._control_outputs_val.remove(self)
        self._control_inputs_val = []
        self._graph.note_mutation()

    def run(
        self, feed_dict: dict[Any, Any] | None = None, session: BaseSession | None = None
    ) -> None:
        """Runs this operation: session.run of it.

        Args:
            feed_dict: the values of tensors in this run, by Tensor.
            session: the default session if None.

        Raises:
            ValueError: there is no session, or it is of another graph.
        """
        defaults.run_in_session(self, feed_dict, self._graph, session)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self.type}>"


class _InputList(tuple):  # type: ignore[type-arg]
    """The inputs of an operation: a sequence that compares equal to lists of the same tensors."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple)):
            return False
        return len(self) == len(other) and all(x is y for x, y in zip(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return repr(list(self))

    def __add__(self, other: Any) -> Any:
        return list(self) + list(other) if isinstance(other, list) else tuple(self) + tuple(other)

    def __radd__(self, other: Any) -> list[Any]:
        return list(other) + list(self)


def plain_attr(value: object) -> Any:
    """An attribute value, given as such or as an AttrValue proto, as a plain Python value."""
    if type(value).__name__ == "AttrValue":
        from ...io.graph_def import attr_from_proto

        return attr_from_proto(value)
    return value.encode() if isinstance(value, str) else value


def group(args: Sequence[Arg], attrs: dict[str, Any], flat: Sequence[Any]) -> list[Any]:
    """Values laid out as a signature states them: list arguments become lists."""
    result: list[Any] = []
    position = 0
    for arg in args:
        count = arg_length(arg, attrs)
        if count is None:
            result.append(flat[position])
            position += 1
        else:
            result.append(list(flat[position : position + count]))
            position += count
    return result


def arg_length(arg: Arg, attrs: dict[str, Any]) -> int | None:
    """How many tensors an argument stands for; None for one that is not a list."""
    if arg.number_attr:
        return attrs[arg.number_attr]
    return len(attrs[arg.type_list_attr]) if arg.type_list_attr else None
