# SPDX-License-Identifier: Apache-2.0
"""`tf.saved_model.load` of TensorFlow 2 (`tf.saved_model.load_v2`): the objects of a SavedModel.

Their variables have the saved values once their initializers have run, and tables are filled by
`tf.tables_initializer()`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from ...engine.graph import trust
from ...engine.graph.collections import GraphKeys, add_to_collection
from ...engine.graph.graph import device, init_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ...io.function_placing import renamed_library
from ...io.tensor_proto import make_ndarray, shape_from_proto
from ...ops.flow.concrete_functions import unique_name
from ...ops.public import tf
from ...ops.state.resource_variable import BaseResourceVariable, UninitializedVariable
from ...ops.state.trackable_resource import CapturableResource, TrackableAsset, TrackableResource
from ..objects.checkpoint import TrackableSaver
from ..objects.tracking import AutoTrackable
from . import revived_kinds
from .folder import get_assets_dir, get_variables_path
from .reading import parse_saved_model
from .restored_functions import RestoredConcreteFunction, RestoredFunction, function_spec_of

_loads = itertools.count()


class RestoredResource(TrackableResource):
    """A resource that functions of the SavedModel make and fill."""

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        names = ("_create_resource", "_initialize", "_destroy_resource")
        return {name: vars(self)[name] for name in names if name in vars(self)}


def _call_attribute(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return vars(instance)["__call__"](*args, **kwargs)


class Loader:
    """Makes the objects of one SavedModel; a subclass may make some in another way."""

    def __init__(self, object_graph: Any, meta_graph: Any, export_dir: str) -> None:
        self._proto, self._meta_graph, self._export_dir = object_graph, meta_graph, export_dir
        self._constants = {node.name: node for node in meta_graph.graph_def.node}
        self._functions = self._load_functions()
        self.nodes: dict[int, Any] = {}
        self._setters: dict[int, Callable[..., Any]] = {}
        self._load_nodes()
        self._load_edges()
        self._bind_functions()
        self._restore_checkpoint()
        for node in self.nodes.values():
            if isinstance(node, CapturableResource):
                initialized = node._initialize()
                if initialized is not None:
                    add_to_collection(GraphKeys.TABLE_INITIALIZERS, _operation_of(initialized))

    def _load_functions(self) -> dict[str, RestoredConcreteFunction]:
        suffix = f"_load_{next(_loads)}"
        with trust.importing_from(self._export_dir):
            library = renamed_library(self._meta_graph.graph_def.library, suffix, unique_name)
        known = dict(library.values())
        return {
            name: RestoredConcreteFunction(library[name][0], known, message)
            for name, message in self._proto.concrete_functions.items()
        }

    def _load_nodes(self) -> None:
        """Makes all objects: slots by their optimizers, once the variables are there."""
        slots = {s.slot_variable_node_id for n in self._proto.nodes for s in n.slot_variables}
        for number, proto in enumerate(self._proto.nodes):
            if number not in slots and self._is_wanted(number):
                self.nodes[number], self._setters[number] = self._recreate(proto, number)
        for number, proto in enumerate(self._proto.nodes):
            for slot in proto.slot_variables if number in self.nodes else ():
                variable = self.nodes[slot.original_variable_node_id]
                made = self.nodes[number].add_slot(var=variable, slot_name=slot.slot_name)
                self.nodes[slot.slot_variable_node_id] = made
                self._setters[slot.slot_variable_node_id] = setattr

    def _is_wanted(self, number: int) -> bool:
        """Whether an object is made: a subclass may leave some out."""
        return True

    def _load_edges(self) -> None:
        for number, proto in enumerate(self._proto.nodes):
            obj = self.nodes.get(number)
            for child in proto.children:
                if obj is None or child.node_id not in self.nodes:
                    continue
                self._add_child(obj, number, child.local_name, self.nodes[child.node_id])

    def _add_child(self, obj: Any, number: int, name: str, child: Any) -> None:
        self._setters[number](obj, name, child)
        # Python looks for `__call__` at the class, which each object has to itself.
        if name == "__call__" and not callable(obj):
            type(obj).__call__ = _call_attribute

    def _bind_functions(self) -> None:
        for concrete in self._functions.values():
            if any(number not in self.nodes for number in concrete.bound_ids):
                continue  # It belongs to an object that is not made.
            concrete.captured_inputs = [self._tensor_of(number) for number in concrete.bound_ids]
            concrete.graph.variables = [
                self.nodes[number]
                for number in concrete.bound_ids
                if isinstance(self.nodes[number], BaseResourceVariable)
            ]

    def _tensor_of(self, number: int) -> Any:
        obj = self.nodes[number]
        if isinstance(obj, BaseResourceVariable):
            return obj.handle
        if isinstance(obj, TrackableAsset):
            return obj.asset_path
        if isinstance(obj, Tensor):
            return obj
        if isinstance(obj, CapturableResource):
            return obj.resource_handle
        raise ValueError(f"Can't convert node {type(obj)} to tensor")

    def _restore_checkpoint(self) -> None:
        path = get_variables_path(self._export_dir)
        saver = TrackableSaver(self.nodes[0])
        with device("CPU"):
            saver._restore_prefix = tf.constant(path)
        status = saver.restore(path)
        status.assert_existing_objects_matched()
        status.expect_partial()
        checkpoint = status._checkpoint
        for number, obj in dict(checkpoint.objects).items():
            for attribute in checkpoint.message.nodes[number].attributes:
                op = saver._restore_ops.get(attribute.checkpoint_key)
                if op is None:
                    continue
                if not isinstance(obj, BaseResourceVariable):
                    raise NotImplementedError(
                        f"Missing functionality to restore state of object {obj!r} from the "
                        "checkpoint."
                    )
                obj._initializer_op = op

    # What stands for each kind of message

    def _recreate(self, proto: Any, number: int) -> tuple[Any, Callable[..., Any]]:
        kind = proto.WhichOneof("kind")
        makers: dict[Any, Callable[..., Any]] = {
            "user_object": self._recreate_user_object,
            "asset": self._recreate_asset,
            "function": self._recreate_function,
            "bare_concrete_function": self._recreate_bare_concrete_function,
            "variable": self._recreate_variable,
            "constant": self._recreate_constant,
            "resource": lambda message, _: RestoredResource(message.device),
        }
        if kind not in makers:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        made = makers[kind](getattr(proto, kind), number)
        return made if isinstance(made, tuple) else (made, setattr)

    def _recreate_user_object(self, proto: Any, number: int) -> Any:
        found = revived_kinds.deserialize(proto)
        return self._recreate_base_user_object(proto, number) if found is None else found

    def _recreate_base_user_object(self, proto: Any, number: int) -> Any:
        return type("_UserObject", (AutoTrackable,), {})(), setattr

    def _recreate_asset(self, proto: Any, number: int) -> Any:
        name = self._meta_graph.asset_file_def[proto.asset_file_def_index].filename
        return TrackableAsset(os.path.join(get_assets_dir(self._export_dir), name))

    def _recreate_function(self, proto: Any, number: int) -> Any:
        concrete = [self._functions[name] for name in proto.concrete_functions]
        return RestoredFunction(function_spec_of(proto.function_spec), concrete)

    def _recreate_bare_concrete_function(self, proto: Any, number: int) -> Any:
        found = self._functions[proto.concrete_function_name]
        found.use_keywords(proto)
        return found

    def _recreate_variable(self, proto: Any, number: int) -> Any:
        return UninitializedVariable(
            shape=shape_from_proto(proto.shape),
            dtype=dtypes.as_dtype(proto.dtype),
            name=proto.name or None,
            trainable=proto.trainable,
            synchronization=tf.VariableSynchronization(proto.synchronization),
            aggregation=tf.VariableAggregation(proto.aggregation),
        )

    def _recreate_constant(self, proto: Any, number: int) -> Any:
        message = self._constants[proto.operation].attr["value"].tensor
        return tf.constant(make_ndarray(message), dtype=dtypes.as_dtype(message.dtype))


def _operation_of(value: Any) -> Any:
    return value.op if isinstance(value, Tensor) else value


def load(export_dir: str, tags: Any = None) -> Any:
    """The objects of a SavedModel that `tf.saved_model.save` wrote, here or in TensorFlow.

    Args:
        export_dir: the folder.
        tags: the tags of the graph; needed only where there are several.

    Returns:
        The object that was saved, as one with the same attributes: variables, functions, lists and
        objects; `signatures` has the functions that are served, by name.  Objects of classes that
        are not known have no methods but their functions.

    Raises:
        ValueError: the tags are not those of the graph.
        OSError: the folder holds no SavedModel.

    Example:
        >>> class Adder(tf.Module):
        ...     @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        ...     def add(self, x):
        ...         return x + x + 1.0
        >>> with tf.Session() as session:
        ...     tf.saved_model.save(Adder(), "./adder")
        ...     print(session.run(tf.saved_model.load_v2("./adder").add(2.0)))
        5.0
    """
    return load_internal(export_dir, tags)


def load_internal(
    export_dir: str, tags: Any = None, loader_class: Callable[..., Loader] = Loader
) -> Any:
    """`load`, with objects that a class of loaders makes."""
    message = parse_saved_model(export_dir)
    if tags is not None and not isinstance(tags, set):
        tags = nest.flatten(tags)
    graphs = message.meta_graphs
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        from .graph_loading import load_graph, meta_graph_of

        meta_graph = meta_graph_of(message, tags, export_dir)
        with init_scope():
            return _with_versions(load_graph(meta_graph, export_dir), meta_graph)
    (meta_graph,) = graphs
    if tags is not None and set(tags) != set(meta_graph.meta_info_def.tags):
        raise ValueError(
            f"The SavedModel at {export_dir} has one MetaGraph with tags "
            f"{meta_graph.meta_info_def.tags}, but got an incompatible argument tags={tags} to "
            "tf.saved_model.load. You may omit it, pass 'None', or pass matching tags."
        )
    with init_scope():
        root = loader_class(meta_graph.object_graph_def, meta_graph, export_dir).nodes[0]
    return _with_versions(root, meta_graph)


def _with_versions(root: Any, meta_graph: Any) -> Any:
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
    return root
