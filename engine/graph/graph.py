# SPDX-License-Identifier: Apache-2.0
"""`Graph`: owns operations, names, collections and the scopes that new operations fall in."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager as Scope
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import errors
from ..api import export
from ..compat import as_text
from ..hints import hinted
from ..tracebacks import shorten
from ..types.dtypes import DType
from . import defaults, registry
from . import graph_scopes as scopes
from .collections import Collections, names_of
from .graph_element import as_graph_element
from .graph_scopes import apply_scopes, check_string_map, control_dependencies_of
from .operation import Operation, plain_attr
from .scopes import ControlDependencies, ScopeStack, control_inputs_for
from .tensor import Tensor

if TYPE_CHECKING:
    from .annotations import TensorLike

OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")
# The version of graphs that TensorFlow 1.15 writes.
PRODUCER = 134
MIN_CONSUMER = 0


@export("Graph")
class Graph:
    """Operations, tensors between them, and the scopes in force while more are added.

    One graph is the default of a thread; `with graph.as_default()` makes another one that.

    Example:
        >>> graph = tf.Graph()
        >>> with graph.as_default():
        ...     y = tf.add(1, 2, name="sum")
        >>> graph.get_tensor_by_name("sum:0") is y, [op.name for op in graph.get_operations()]
        (True, ['sum/x', 'sum/y', 'sum'])
        >>> tf.Session(graph=graph).run("sum:0")
        np.int32(3)
    """

    # What names of nodes look like.
    _node_name = OP_NAME

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._auto_cast_variable_read_dtype: DType | None = None
        self._nodes_by_id: dict[int, Operation] = {}
        self._nodes_by_name: dict[str, Operation] = {}
        self._next_id_counter = 0
        self._version = 0
        # Counts changes to existing operations: prepared plans are stale when it moves.
        self.mutation = 0
        # Counts those and new operations: while it stands, a session need not look any closer.
        self.changes = 0
        self._names_in_use: dict[str, int] = {}
        self._thread_local = threading.local()
        self._stack_state_is_thread_local = False
        self._graph_device_function_stack = ScopeStack()
        self._graph_colocation_stack = ScopeStack()
        self._graph_control_dependencies_stack: list[ControlDependencies] = []
        # Of each stretch of operations of init_scope: the id before the first, and the last one's.
        self._lifted: list[tuple[int, int]] = []
        self._default_original_op: Operation | None = None
        self._control_flow_context: Any = None
        self._attr_scope_map: dict[str, Any] = {}
        self._op_to_kernel_label_map: dict[str, str] = {}
        self._gradient_override_map: dict[str, str] = {}
        self._collection_lists = Collections()
        self._seed: int | None = None
        self._seed_used = False  # by an operation without a seed of its own
        self._finalized = False
        self._functions: OrderedDict[str, Any] = OrderedDict()
        self._stated: dict[Tensor, None] = {}  # whose shapes the program stated
        # Is some operation to be replaced before a run (engine/session/function_inlining.py)?
        self._has_calls = False
        self._building_function = False
        self._container = ""
        self._producer = PRODUCER
        self._min_consumer = MIN_CONSUMER
        self._unfeedable_tensors: set[Tensor] = set()
        self._unfetchable_ops: set[Operation] = set()

    # Versions, seed, finalizing

    @property
    def version(self) -> int:
        """Grows with every operation."""
        return self._version

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef proto of this graph."""
        from ...io.graph_def import version_def

        return version_def(self)

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise hinted(RuntimeError, "Graph is finalized and cannot be modified.")

    @property
    def building_function(self) -> bool:
        """Whether this graph is the body of a function."""
        return self._building_function

    def _is_function(self, name: str) -> bool:
        return as_text(name) in self._functions

    def _get_function(self, name: str) -> Any:
        return self._functions.get(as_text(name))

    def _add_function(self, function: Any) -> None:
        name = as_text(function.name)
        known = self._functions.get(name)
        if known is not None and known.definition != function.definition:
            raise errors.invalid(
                f"Cannot add function '{name}' because a different function with the same name "
                "already exists."
            )
        self._functions[name] = function
        # Programs before that version know no functions.
        self._min_consumer = max(self._min_consumer, 12)

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, ctx: object) -> None:
        self._control_flow_context = ctx

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The GraphDef proto, of the operations after `from_version` if given."""
        from ...io.graph_def import as_graph_def

        return as_graph_def(self, from_version, add_shapes)

    def _as_graph_def(self, from_version: Any = None, add_shapes: bool = False) -> tuple[Any, int]:
        return self.as_graph_def(from_version, add_shapes), self._version

    # Making operations

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Sequence[DType] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: object = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an operation; `attrs` are Python values or AttrValue protos."""
        del dtypes, op_def, compute_shapes
        for i, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {tensor}")
        definition = registry.find(op_type)
        if definition is None and op_type in self._functions:
            definition = self._functions[op_type].op_definition
        if definition is None:
            text = f"Op type not registered '{op_type}' in binary running on localhost. Make sure "
            what = "the Op and Kernel are registered in the binary running in this process."
            raise errors.not_found(text + what)
        plain = {key: plain_attr(value) for key, value in (attrs or {}).items()}
        return self._create(definition, name, inputs, plain, input_types, compute_device)

    def _create(
        self,
        definition: registry.OpDef,
        name: str | None,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        input_types: Sequence[DType] | None = None,
        compute_device: bool = True,
        in_context: bool = True,
    ) -> Operation:
        """Adds an operation; `in_context`: its branch or loop takes it up at once."""
        self._check_not_finalized()
        name = definition.name if name is None else name
        name = name[:-1] if name[-1:] == "/" else self.unique_name(name)
        if not self._node_name.match(name):
            raise hinted(ValueError, f"'{name}' is not a valid node name")
        before = control_inputs_for(self._control_dependencies_stack, {t.op for t in inputs})
        op = Operation.__new__(Operation)
        with self._lock:
            self._place(op, definition, name, inputs, attrs, input_types, before, in_context)
            apply_scopes(self, op, compute_device)
        return op

    def _place(
        self,
        op: Operation,
        definition: registry.OpDef,
        name: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        input_types: Sequence[DType] | None,
        control_inputs: list[Operation],
        in_context: bool = True,
    ) -> None:
        """Fills a new operation and adds it, without what the scopes set."""
        from .build import complete_attrs, infer_shapes, output_types

        wanted = _input_types(name, inputs, input_types)
        attrs = complete_attrs(definition, inputs, attrs)
        kinds = output_types(definition, attrs)
        with self._lock:
            op._fill(self, definition, name, inputs, attrs, kinds, control_inputs, wanted)
            infer_shapes(op)
            if name in self._nodes_by_name:
                raise ValueError(f"Duplicate node name in graph: '{name}'")
            self._add_op(op)
            if in_context:
                op._control_flow_post_processing()

    def _add_op(self, op: Operation) -> None:
        self._nodes_by_id[op._id] = op
        self._nodes_by_name[op.name] = op
        self._version = max(self._version, op._id)
        if op.definition.expand is not None:
            self._has_calls = True
        for tensor in op._inputs_val:
            tensor._consumers.append(op)
        for other in op._control_inputs_val:
            other._control_outputs_val.append(op)

    def _next_id(self) -> int:
        self._check_not_finalized()
        with self._lock:
            self._next_id_counter += 1
            self.changes += 1
            return self._next_id_counter

    def note_mutation(self) -> None:
        """Called when an existing operation is changed: what was prepared from it is stale."""
        with self._lock:
            self.mutation += 1
            self.changes += 1

    @property
    def _last_id(self) -> int:
        return self._next_id_counter

    # Finding elements

    def as_graph_element(
        self, obj: object, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that `obj`, its name or something that stands for it means."""
        try:
            return as_graph_element(self, obj, allow_tensor, allow_operation)
        except Exception as error:
            shorten(error)
            raise

    _enable_auto_casting_variables = scopes.enable_auto_casting_variables
    taken_in = scopes.taken_in

    def get_operations(self) -> list[Operation]:
        """All operations, in order of creation."""
        with self._lock:
            return list(self._nodes_by_id.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of a name.

        Args:
            name: such as "dense/MatMul".

        Raises:
            KeyError: there is none.
            ValueError: the name is a tensor's.
            TypeError: `name` is no string.
        """
        if not isinstance(name, str):
            kind = type(name).__name__
            raise TypeError(f"Operation names are strings (or similar), not {kind}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def _get_operation_by_name_unsafe(self, name: str) -> Operation:
        return self._nodes_by_name[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of a name.

        Args:
            name: such as "dense/MatMul:0".

        Raises:
            KeyError: there is none.
            ValueError: the name is an operation's.
            TypeError: `name` is no string.
        """
        if not isinstance(name, str):
            kind = type(name).__name__
            raise TypeError(f"Tensor names are strings (or similar), not {kind}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    # Default graph and names

    @contextmanager
    def as_default(self) -> Iterator[Any]:
        """A context in which this graph is the default one."""
        devices = defaults.graphs.devices
        devices.append(self._device_function_stack)
        try:
            with defaults.graphs.get_controller(self):
                yield self
        finally:
            devices.pop()

    @property
    def _variable_creator_stack(self) -> list[Any]:
        """The variable creators in force in this thread, the outermost first."""
        return getattr(self._thread_local, "variable_creators", [])

    @_variable_creator_stack.setter
    def _variable_creator_stack(self, stack: list[Any]) -> None:
        self._thread_local.variable_creators = stack

    @property
    def _name_stack(self) -> str | None:
        return getattr(self._thread_local, "name_stack", "")

    @_name_stack.setter
    def _name_stack(self, name: str | None) -> None:
        self._thread_local.name_stack = name

    def _enter_name(self, name: str | None) -> str | None:
        """Enters a scope and returns its full name; the caller restores `_name_stack`."""
        if isinstance(name, bytes):
            name = name.decode()
        if not name:
            scope = None
        else:
            pattern = _SCOPE_NAME if self._name_stack else OP_NAME
            if not pattern.match(name):
                raise hinted(ValueError, f"'{name}' is not a valid scope name")
            scope = name[:-1] if name[-1] == "/" else self.unique_name(name)
        self._name_stack = scope
        return scope

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """A context that prefixes names; yields the prefix.  "x/" re-enters, None leaves all."""
        old = self._name_stack
        scope = self._enter_name(name)
        try:
            yield "" if scope is None else scope + "/"
        finally:
            self._name_stack = old

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` within the current scope, with a number appended when it is taken."""
        if self._name_stack:
            name = f"{self._name_stack}/{name}"
        used = self._names_in_use
        # Names that differ in case only would clash as file names.
        base = key = name.lower()
        count = used.get(key, 0)
        if mark_as_used:
            used[key] = count + 1
        if count == 0:
            return name
        while key in used:
            key = f"{base}_{count}"
            count += 1
        if mark_as_used:
            used[key] = 1
        return f"{name}_{count - 1}"

    def get_name_scope(self) -> str:
        """The current scope's name, without a trailing slash."""
        return self._name_stack or ""

    # Scopes: original op, devices, colocation, control dependencies, attributes

    @contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        old, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = old

    def _local(self, name: str) -> Any:
        """A scope stack: the graph's, or this thread's copy of it once threads build too."""
        if not self._stack_state_is_thread_local:
            return getattr(self, f"_graph{name}")
        if not hasattr(self._thread_local, name):
            setattr(self._thread_local, name, getattr(self, f"_graph{name}").copy())
        return getattr(self._thread_local, name)

    def _set_local(self, name: str, value: object) -> None:
        if self._stack_state_is_thread_local:
            setattr(self._thread_local, name, value)
        else:
            setattr(self, f"_graph{name}", value)

    def switch_to_thread_local(self) -> None:
        """Gives every thread device, colocation and control dependency scopes of its own."""
        self._stack_state_is_thread_local = True

    @property
    def _device_function_stack(self) -> ScopeStack:
        return self._local("_device_function_stack")

    @_device_function_stack.setter
    def _device_function_stack(self, stack: ScopeStack) -> None:
        self._set_local("_device_function_stack", stack)

    def _apply_device_functions(self, op: object) -> None:
        scopes.tell_device(self, op)

    @property
    def _device_functions_outer_to_inner(self) -> list[Any]:
        return [entry.function for entry, _ in self._device_function_stack.entries]

    @property
    def _colocation_stack(self) -> ScopeStack:
        return self._local("_colocation_stack")

    @_colocation_stack.setter
    def _colocation_stack(self, stack: ScopeStack) -> None:
        self._set_local("_colocation_stack", stack)

    @property
    def _control_dependencies_stack(self) -> list[ControlDependencies]:
        return self._local("_control_dependencies_stack")

    @_control_dependencies_stack.setter
    def _control_dependencies_stack(self, stack: list[ControlDependencies]) -> None:
        self._set_local("_control_dependencies_stack", stack)

    def device(self, device_name_or_function: object) -> Scope[None]:
        """A context that sets the device of new operations: a name, a function of them, or None."""
        return scopes.device(self, device_name_or_function)

    def colocate_with(self, op: object, ignore_existing: bool = False) -> Scope[None]:
        """A context whose operations share the device of `op`."""
        return scopes.colocate_with(self, op, ignore_existing)

    def _colocate_with_for_gradient(
        self, op: Operation | None, gradient_uid: str, ignore_existing: bool = False
    ) -> Scope[None]:
        return scopes.colocate_with_for_gradient(self, op, gradient_uid, ignore_existing)

    def _attr_scope(self, attr_map: dict[str, Any]) -> Scope[None]:
        return scopes.attr_scope(self, attr_map)

    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Scope[None]:
        check_string_map(op_to_kernel_label_map, "op_to_kernel_label_map")
        merged = {**self._op_to_kernel_label_map, **op_to_kernel_label_map}
        return scopes.setting(self, "_op_to_kernel_label_map", merged)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Scope[Any]:
        """A context in which new operations of a type use the gradient of another name."""
        check_string_map(op_type_map, "op_type_map")
        merged = {**self._gradient_override_map, **op_type_map}
        return scopes.setting(self, "_gradient_override_map", merged)

    def container(self, container_name: str) -> Scope[str]:
        """A context in which new stateful operations keep their state in a named container."""
        return scopes.setting(self, "_container", container_name)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> ControlDependencies:
        """A context whose operations run after `control_inputs`; None forgets outer ones."""
        return control_dependencies_of(self, control_inputs)

    def _current_control_dependencies(self) -> set[Operation]:
        stack = self._control_dependencies_stack
        return {op for controller in stack for op in controller.control_inputs}

    # Feeding and fetching

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Marks a tensor as one that no run may feed."""
        self._unfeedable_tensors.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a run may feed the tensor."""
        return tensor not in self._unfeedable_tensors

    def prevent_fetching(self, op: Operation) -> None:
        """Marks an operation as one that no run may fetch."""
        self._unfetchable_ops.add(op)

    def is_fetchable(self, tensor_or_op: Operation | Tensor) -> bool:
        """Whether a run may fetch the element."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable_ops

    # Collections

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collection_lists.lists)

    @property
    def _collections(self) -> dict[Any, list[Any]]:
        return self._collection_lists.lists

    def add_to_collection(self, name: str | Sequence[str], value: object) -> None:
        """Appends a value to a collection."""
        self._check_not_finalized()
        with self._lock:
            self._collection_lists.add(name, value)

    def add_to_collections(self, names: str | Sequence[str], value: TensorLike) -> None:
        """Appends a value to several collections."""
        for name in names_of(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself, created if missing."""
        with self._lock:
            return self._collection_lists.lists.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with a scope, the items whose name it matches."""
        with self._lock:
            return self._collection_lists.get(name, scope)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of the collections that are text."""
        with self._lock:
            return [key for key in self._collection_lists.lists if isinstance(key, str)]

    def clear_collection(self, name: str) -> None:
        """Removes a collection."""
        self._check_not_finalized()
        with self._lock:
            self._collection_lists.lists.pop(name, None)


def _input_types(
    name: str, inputs: Sequence[Tensor], wanted: Sequence[DType] | None
) -> list[DType]:
    if wanted is None:
        return [tensor.dtype.base_dtype for tensor in inputs]
    if not all(x.is_compatible_with(i.dtype) for i, x in zip(inputs, wanted)):
        raise TypeError(
            f"In op '{name}', input types ({[i.dtype for i in inputs]}) are not compatible with "
            f"expected types ({list(wanted)})"
        )
    return list(wanted)


defaults.set_graph_factory(Graph)

# The functions on the default graph, under the names that other modules import them by.
from .scope_functions import (  # noqa: E402,F401
    colocate_with,
    container,
    control_dependencies,
    device,
    get_default_graph,
    get_name_scope,
    init_scope,
    name_scope,
    op_scope,
    reset_default_graph,
)
