# SPDX-License-Identifier: Apache-2.0
"""`tf.saved_model.save`: objects with their functions, variables, tables and files.

The graph of the SavedModel has a node for each variable and table, and calls the functions that are
signatures; functions and objects are beside it in messages of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...engine import compat
from ...engine.graph.constants import constant_value
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph, control_dependencies, device
from ...engine.graph.tensor import Tensor
from ...engine.graph.trackable import Trackable, TrackableReference
from ...engine.types import dtypes
from ...io import protos
from ...io.graph_def import write_atomically
from ...io.meta_graph import strip_graph_default_valued_attrs, stripped_op_list_for_graph
from ...io.versions import GIT_VERSION, VERSION
from ...ops.flow.concrete_functions import ConcreteFunction, call_of
from ...ops.flow.graph_functions import Function, function
from ...ops.public import tf
from ...ops.state.resource_variable import (
    BaseResourceVariable,
    ResourceVariable,
    copy_to_graph_uninitialized,
)
from ...ops.state.trackable_resource import CapturableResource, TrackableAsset
from ..objects.checkpoint import TrackableSaver
from ..objects.object_graph import ObjectGraph
from ..objects.object_saver import MultiDeviceSaver
from . import names, revived_kinds
from . import signature_functions as signing
from .assets import copy_assets_to_destination_dir, get_asset_filename_to_add
from .folder import get_or_create_variables_dir, get_variables_path
from .function_saving import (
    serialize_bare_concrete_function,
    serialize_concrete_function,
    serialize_function,
)
from .signatures import build_signature_def, op_signature_def
from .tensor_info import build_tensor_info

_UNCOPIABLE = (dtypes.resource, dtypes.variant)


class AugmentedView:
    """The objects below a root, with what is saved besides their dependencies."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._added: dict[str, Any] = {}
        # By the numbers of objects: what may be made anew at each call is asked for once.
        self._functions: dict[int, dict[str, Any]] = {}
        self._extra: dict[int, dict[str, Any]] = {}
        self._cache: dict[Any, Any] = {}

    def add_object(self, name: str, added: Any) -> None:
        """Gives the root a further child."""
        self._added[name] = added

    def list_functions(self, obj: Any) -> dict[str, Any]:
        """The functions of an object by their names."""
        if id(obj) not in self._functions:
            self._functions[id(obj)] = obj._list_functions_for_serialization(self._cache)
        return self._functions[id(obj)]

    def list_dependencies(self, obj: Any) -> Iterator[TrackableReference]:
        """The dependencies of an object, in order; what is added comes last.

        Raises:
            ValueError: an attribute has a name that is reserved.
        """
        if id(obj) not in self._extra:
            self._extra[id(obj)] = obj._list_extra_dependencies_for_serialization(self._cache)
        extra = {**self._extra[id(obj)], **(self._added if obj is self.root else {})}
        for name, child in obj._checkpoint_dependencies:
            if name in extra and name != signing.SIGNATURE_ATTRIBUTE_NAME:
                raise ValueError(
                    f"Error when exporting object {obj} of with identifier="
                    f"{obj._object_identifier}. The object has an attribute named {name}, which is "
                    f"reserved. List of all reserved attributes: {list(extra)}"
                )
            yield TrackableReference(name, extra.pop(name, child))
        for name, child in extra.items():
            yield TrackableReference(name, child)


class _Constant(NamedTuple):
    """A tensor of the program that functions use, and the constant that stands for it."""

    tensor: Tensor
    copy: Tensor


class _Assets(NamedTuple):
    """Files to copy: their messages, paths by name, and what initializes the paths' variables."""

    messages: list[Any]
    paths: dict[str, str]
    initializers: dict[Tensor, Any]
    numbers: dict[int, int]


class _Saving:
    """One SavedModel: all objects and functions with their numbers, and the graph that has them."""

    def __init__(self, view: AugmentedView) -> None:
        self.view = view
        self.objects = ObjectGraph(view.root, view.list_dependencies)
        self.nodes: list[Any] = list(self.objects.objects)
        self._numbers = {id(node): number for number, node in enumerate(self.nodes)}
        self.functions: dict[str, ConcreteFunction] = {}
        for node in self.objects.objects:
            for added in view.list_functions(node).values():
                self._add_function(added)
        self.graph = Graph()
        self.assets = _Assets([], {}, {}, {})
        # What stands in the graph for tensors of the program, and the numbers of their objects.
        self.stands_for: dict[Tensor, Any] = {}
        self.tensor_numbers: dict[Tensor, int] = {}
        self._variables: dict[int, Any] = {}

    def _add_function(self, added: Any) -> None:
        if id(added) not in self._numbers:
            self._numbers[id(added)] = len(self.nodes)
            self.nodes.append(added)
        concrete = [added]
        if isinstance(added, Function):
            concrete = added._list_all_concrete_functions_for_serialization()
        for one in concrete:
            self.functions.setdefault(one.name, one)

    # The graph

    def fill(self, message: Any, signatures: dict[str, ConcreteFunction]) -> None:
        """Fills a MetaGraphDef; before, variables are those of the default graph."""
        initializers = self._resource_initializers()
        with self.graph.as_default():
            self._map_resources()
            init_op = self._init_op(initializers)
            message.collection_def[names.MAIN_OP_KEY].node_list.value.append(init_op.name)
            key = names.INIT_OP_SIGNATURE_KEY
            message.signature_def[key].CopyFrom(op_signature_def(init_op, key))
            message.saver_def.CopyFrom(self._saver_def())
            for key, signature in sorted(signatures.items()):
                message.signature_def[key].CopyFrom(self._signature_def(key, signature))
            for concrete in self.functions.values():
                _refuse_references(concrete)
                concrete.add_to_graph()
        message.graph_def.CopyFrom(self.graph.as_graph_def(add_shapes=True))
        info = message.meta_info_def
        info.tags.append(names.SERVING)
        info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION
        info.stripped_default_attrs = True
        info.stripped_op_list.MergeFrom(stripped_op_list_for_graph(message.graph_def))
        message.asset_file_def.extend(self.assets.messages)
        strip_graph_default_valued_attrs(message)

    def _resource_initializers(self) -> list[ConcreteFunction]:
        def wrapped(obj: Any) -> Callable[[], Any]:
            def initialize() -> Any:
                obj._initialize()
                return tf.constant(1.0)  # A call needs a result to be run by.

            return initialize

        return [
            function(wrapped(node), input_signature=[], autograph=False).get_concrete_function()
            for node in self.objects.objects
            if isinstance(node, CapturableResource) and node.resource_handle is not None
        ]

    def _map_resources(self) -> None:
        for number, node in enumerate(self.objects.objects):
            if isinstance(node, BaseResourceVariable):
                copy = self._variables[number] = copy_to_graph_uninitialized(node)
                self._stand(node.handle, copy.handle, number)
            elif isinstance(node, TrackableAsset):
                self._stand(node.asset_path, self._asset(node), number)
            elif isinstance(node, CapturableResource) and node.resource_handle is not None:
                with device(node._resource_device):
                    self._stand(node.resource_handle, node._create_resource(), number)
        for concrete in self.functions.values():
            for capture in concrete.captured_inputs:
                if capture.dtype not in _UNCOPIABLE and capture not in self.stands_for:
                    self._add_constant(concrete, capture)

    def _stand(self, tensor: Tensor, other: Any, number: int) -> None:
        self.stands_for[tensor] = other
        self.tensor_numbers[tensor] = number

    def _add_constant(self, concrete: ConcreteFunction, capture: Tensor) -> None:
        value = constant_value(capture)
        if value is None:
            raise ValueError(
                f"Attempted to save a function {concrete.name} which references a symbolic Tensor "
                f"{capture} that is not a simple constant. This is not supported."
            )
        copy = tf.constant(value, dtype=capture.dtype)
        self._stand(capture, copy, len(self.nodes))
        self.nodes.append(_Constant(capture, copy))

    def _asset(self, asset: TrackableAsset) -> ResourceVariable:
        value = constant_value(asset.asset_path)
        if value is None:
            raise ValueError(f"The path of an asset is not known: {asset.asset_path}")
        source = compat.as_text(np.asarray(value).item())
        name = get_asset_filename_to_add(source, self.assets.paths)
        shape = asset.asset_path.shape
        path = tf.placeholder(dtypes.string, shape, name="asset_path_initializer")
        variable = ResourceVariable(path)
        self.assets.paths[name] = source
        message = protos.AssetFileDef(filename=name)
        message.tensor_info.name = path.name
        self.assets.numbers[id(asset)] = len(self.assets.messages)
        self.assets.messages.append(message)
        self.assets.initializers[asset.asset_path] = variable.initializer
        return variable

    def _init_op(self, initializers: list[ConcreteFunction]) -> Any:
        made = []
        for initializer in initializers:
            captured = initializer.captured_inputs
            before = [self.assets.initializers.get(x) for x in captured]
            with control_dependencies([op for op in before if op is not None]):
                made += self._call(initializer, [])
        with control_dependencies([*made, *self.assets.initializers.values()]):
            return tf.no_op()

    def _call(self, concrete: ConcreteFunction, arguments: list[Tensor]) -> list[Any]:
        """A call of a function in the graph, with what stands for its captures."""
        captured = []
        for exterior in concrete.captured_inputs:
            if exterior not in self.stands_for:
                # What initializes a table may use constants that no function of an object does.
                if exterior.dtype in _UNCOPIABLE:
                    raise AssertionError(
                        "Tried to export a function which references untracked object "
                        f"{exterior}.TensorFlow objects (e.g. tf.Variable) captured by functions "
                        "must be tracked by assigning them to an attribute of a tracked object or "
                        "assigned to an attribute of the main object directly."
                    )
                self._add_constant(concrete, exterior)
            captured.append(tf.convert_to_tensor(self.stands_for[exterior]))
        return call_of(concrete, [*arguments, *captured])

    def _signature_def(self, key: str, signature: ConcreteFunction) -> Any:
        placed = {}
        for name, inner in zip(signature._arg_keywords, signature.inputs):
            wanted = inner.op.get_attr("_user_specified_name").decode()
            if wanted != inner.op.name:
                raise ValueError(
                    f"Got non-flat/non-unique argument names for SavedModel signature '{key}': "
                    f"more than one argument to '{signature.name}' was named '{wanted}'. "
                    "Signatures have one Tensor per named input, so to have predictable names "
                    "Python functions used to generate these signatures should avoid *args and "
                    "Tensors in nested structures unless unique names are specified for each. Use "
                    "tf.TensorSpec(..., name=...) to provide a name for a Tensor input."
                )
            placed[name] = tf.placeholder(inner.dtype, inner.shape, name=f"{key}_{name}")
        results = self._call(signature, list(placed.values()))
        outputs = dict(zip(sorted(signature.structured_outputs), results))
        return build_signature_def(
            {name: build_tensor_info(tensor) for name, tensor in placed.items()},
            {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
            names.PREDICT_METHOD_NAME,
        )

    def _saver_def(self) -> Any:
        """What saves and restores the variables where graphs are loaded without their objects."""
        prefix = tf.placeholder(dtypes.string, [], name="saver_filename")
        found = ObjectGraph(self.view.root, self.view.list_dependencies).frozen(self._variables)
        # Reference variables are in no function: they are in the checkpoint only.
        saveables = [s for s in found if all(_is_in(self.graph, spec.tensor) for spec in s.specs)]
        saver = MultiDeviceSaver(saveables)
        with control_dependencies([saver.save(prefix)]):
            saved = tf.identity(prefix)
        restored = tf.group(*saver.restore(prefix).values(), name="restore_all")
        return protos.SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            version=protos.SaverDef.V2,
        )

    # The objects

    def object_graph(self) -> Any:
        """The SavedObjectGraph of all objects and functions."""
        message = protos.SavedObjectGraph()
        listed = self.objects.message.nodes
        for number, node in enumerate(self.nodes):
            made = message.nodes.add()
            if number < len(listed):
                made.slot_variables.extend(listed[number].slot_variables)
                made.children.extend(listed[number].children)
                for name, child in self.view.list_functions(node).items():
                    made.children.add(node_id=self._numbers[id(child)], local_name=name)
            self._write(node, made)
        for name, concrete in self.functions.items():
            message.concrete_functions[name].CopyFrom(
                serialize_concrete_function(concrete, self.tensor_numbers)
            )
        return message

    def _write(self, node: Any, message: Any) -> None:
        if isinstance(node, TrackableAsset):
            message.asset.SetInParent()
            message.asset.asset_file_def_index = self.assets.numbers[id(node)]
        elif isinstance(node, BaseResourceVariable):
            _write_variable(node, message.variable)
        elif isinstance(node, Function):
            message.function.CopyFrom(serialize_function(node))
        elif isinstance(node, ConcreteFunction):
            message.bare_concrete_function.CopyFrom(serialize_bare_concrete_function(node))
        elif isinstance(node, _Constant):
            message.constant.operation = node.copy.op.name
        elif isinstance(node, CapturableResource):
            message.resource.SetInParent()
            message.resource.device = node._resource_device
        else:
            message.user_object.CopyFrom(revived_kinds.serialize(node) or _user_object(node))


def _refuse_references(concrete: ConcreteFunction) -> None:
    """ValueError for a function of a loaded graph with reference variables: no file has these."""
    for node in concrete.function_def.node_def:
        if node.op in ("VariableV2", "Variable"):
            raise ValueError(
                f"Function {concrete.name} has the reference variable '{node.name}' in it, whose "
                "value would not be saved. Build the model that was loaded with resource variables "
                "(tf.enable_resource_variables()) and save it anew."
            )


def _is_in(graph: Graph, tensor: Any) -> bool:
    return getattr(tensor, "graph", graph) is graph


def _write_variable(variable: Any, message: Any) -> None:
    message.SetInParent()
    message.name = variable.name.rpartition(":")[0]
    message.trainable = variable.trainable
    message.dtype = variable.dtype.as_datatype_enum
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    message.shape.CopyFrom(variable.shape.as_proto())


def _user_object(node: Any) -> Any:
    return protos.SavedUserObject(
        identifier=node._object_identifier,
        version=protos.VersionDef(producer=1, min_consumer=1),
        metadata=node._tracking_metadata,
    )


def save(obj: Any, export_dir: str, signatures: Any = None) -> None:
    """Writes an object with all below it as a SavedModel (`tf.saved_model.save`).

    Variables have the values that they have in the default session.  Functions are those that are
    attributes: each is traced for the arguments of its signature, or of the calls that there were.

    Args:
        obj: a `tf.Module`, a `tf.train.Checkpoint`, a Keras model or another trackable object.
        export_dir: a folder, which is made.
        signatures: a `tf.function` with a signature, or a concrete function, to be served under
            "serving_default"; or a dict of such by name.  By default the only function of the
            object that can be one.

    Raises:
        ValueError: `obj` cannot be tracked, a signature is no function, or a function uses a
            tensor that is no constant.
        AssertionError: it is called within a function, or a function uses a variable that is no
            object's attribute.

    Example:
        >>> class Adder(tf.Module):
        ...     @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        ...     def add(self, x):
        ...         return x + x + 1.0
        >>> with tf.Session() as session:
        ...     tf.saved_model.save(Adder(), "./adder")
        >>> tf.saved_model.contains_saved_model("./adder")
        True
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to "
            "the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    view = AugmentedView(obj)
    if signatures is None:
        signatures = signing.find_function_to_export(view)
    signatures = signing.canonicalize_signatures(signatures)
    signing.validate_saveable_view(view)
    view.add_object(signing.SIGNATURE_ATTRIBUTE_NAME, signing.create_signature_map(signatures))
    _Saving(view)  # Functions that are traced for the first time may make variables.
    saving = _Saving(view)
    message = protos.SavedModel(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
    meta_graph = message.meta_graphs.add()
    saving.fill(meta_graph, signatures)
    meta_graph.object_graph_def.CopyFrom(saving.object_graph())
    get_or_create_variables_dir(export_dir)
    TrackableSaver(obj, view.list_dependencies).save(get_variables_path(export_dir))
    if saving.assets.paths:
        copy_assets_to_destination_dir(saving.assets.paths, export_dir)
    path = os.path.join(compat.as_text(export_dir), names.SAVED_MODEL_FILENAME_PB)
    write_atomically(path, message.SerializeToString())
