# SPDX-License-Identifier: Apache-2.0
"""`tf.saved_model.load_v2` of graphs without objects, as `SavedModelBuilder` writes them.

The graph becomes one that functions are pruned from: one for each signature, one that restores the
variables and one that initializes the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from ...engine.graph import trust
from ...engine.graph.collections import GraphKeys, add_to_collection
from ...io import protos
from ...io.function_placing import fix_node, renamed_library
from ...ops.flow.concrete_functions import unique_name
from ...ops.flow.lifting import UnliftableError
from ...ops.public import tf
from ...ops.state.trackable_resource import CapturableResource, TrackableAsset
from ..checkpoints.meta_graph import import_meta_graph_with_return_elements
from ..objects.tracking import AutoTrackable
from ..sessions.scaffold import Scaffold
from .assets import get_asset_tensors
from .reading import SavedModelLoader, get_init_op
from .signature_functions import create_signature_map
from .wrapped_functions import WrappedFunction, wrap_function

_loads = itertools.count()


class Initializer(CapturableResource):
    """What initializes tables and local variables of a graph that was loaded."""

    def __init__(self, init_fn: WrappedFunction, asset_paths: list[TrackableAsset]) -> None:
        super().__init__()
        self._init_fn, self._asset_paths = init_fn, asset_paths

    def _create_resource(self) -> Any:
        return tf.placeholder(tf.resource, [], name="unused_resource")

    def _initialize(self) -> Any:
        return self._init_fn(*(path.asset_path for path in self._asset_paths))


def meta_graph_of(saved_model: Any, tags: Collection[str] | None, export_dir: str) -> Any:
    """The graph of a SavedModel with some tags, or the only one for None.

    Raises:
        ValueError: there are several, of which none is asked for.
        RuntimeError: there is none with the tags.
    """
    if tags is not None:
        return SavedModelLoader(export_dir).get_meta_graph_def_from_tags(tags)
    if len(saved_model.meta_graphs) == 1:
        return saved_model.meta_graphs[0]
    sets = [list(message.meta_info_def.tags) for message in saved_model.meta_graphs]
    raise ValueError(
        "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is "
        f"more than one MetaGraph. Got 'tags=None', but there are {len(sets)} MetaGraphs in the "
        f"SavedModel with tag sets {sets}. Pass a 'tags=' argument to load this SavedModel."
    )


def load_graph(meta_graph: Any, export_dir: str) -> Any:
    """A graph of a SavedModel as an object, see `tf.saved_model.load_v2`."""
    return _Loading(meta_graph, export_dir).root()


class _Loading:
    """One graph while it becomes an object."""

    def __init__(self, meta_graph: Any, export_dir: str) -> None:
        self._export_dir = export_dir
        self._message = protos.MetaGraphDef()
        self._message.CopyFrom(meta_graph)
        self._rename()
        self._saver: Any = None
        self.wrapped = wrap_function(self._imported, [])

    def _rename(self) -> None:
        """Gives functions, and what nodes share by a name, names of this load."""
        graph_def, suffix = self._message.graph_def, f"_load_{next(_loads)}"
        library = renamed_library(graph_def.library, suffix, unique_name)
        names = {old: new for old, (new, _) in library.items()}
        gradients = [(x.function_name, x.gradient_func) for x in graph_def.library.gradient]
        graph_def.library.Clear()
        for _, function in library.values():
            graph_def.library.function.add().CopyFrom(function.definition)
        for name, gradient in gradients:
            graph_def.library.gradient.add(function_name=names[name], gradient_func=names[gradient])
        for node in graph_def.node:
            fix_node(node, names, suffix)

    def _imported(self) -> None:
        with trust.importing_from(self._export_dir):
            self._saver, _ = import_meta_graph_with_return_elements(self._message)

    def root(self) -> Any:
        """The object: signatures, variables, the graph and what prunes functions from it."""
        wrapped = self.wrapped
        if self._saver is not None:
            self._restore_variables()
        root = AutoTrackable()
        root.initializer = initializer = self._initializer()
        root.asset_paths = initializer._asset_paths
        self._initialize(initializer)
        root.signatures = create_signature_map(self._signatures())
        root.variables = list(wrapped.graph.variables)
        root.graph, root.prune = wrapped.graph, wrapped.prune
        return root

    def _restore_variables(self) -> None:
        graph, saver_def = self.wrapped.graph, self._saver.saver_def
        name = graph.as_graph_element(saver_def.filename_tensor_name)
        restore = graph.as_graph_element(saver_def.restore_op_name)
        # (The name is a result, too: so there is one to run.)
        restoring = self.wrapped.prune([name], [name, restore])
        path = SavedModelLoader(self._export_dir).variables_path
        restored = restoring(tf.constant(path))[0].op
        # Reference variables stay in the graph: nothing else would restore them.
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, restored)
        for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if variable.graph is not graph:
                variable._initializer_op = restored

    def _initializer(self) -> Initializer:
        graph = self.wrapped.graph
        with graph.as_default():
            init_op = get_init_op(self._message) or Scaffold.default_local_init_op()
            # A result to run the operation by.
            anchor = tf.constant(0.0, name="dummy_fetch")
        assets = get_asset_tensors(self._export_dir, self._message)
        fed = [graph.as_graph_element(name) for name in assets]
        paths = [TrackableAsset(value) for value in assets.values()]
        operation = graph.as_graph_element(init_op)
        return Initializer(self.wrapped.prune(fed, [anchor, operation]), paths)

    def _initialize(self, initializer: Initializer) -> None:
        """Has local variables and tables initialized by what the model names for this."""
        initialized = initializer._initialize()[0].op
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, initialized)
        graph = self.wrapped.graph
        for variable in graph.get_collection(GraphKeys.LOCAL_VARIABLES):
            if variable.graph is not graph:
                variable._initializer_op = initialized

    def _signatures(self) -> dict[str, WrappedFunction]:
        found = {}
        for key, signature in self._message.signature_def.items():
            feeds = [self.wrapped.graph.as_graph_element(x.name) for x in signature.inputs.values()]
            try:
                made = self.wrapped.prune(feeds, dict(signature.outputs.items()))
            except UnliftableError as error:
                raise UnliftableError(
                    "A SavedModel signature needs an input for each placeholder the signature's "
                    f"outputs use. An output for signature '{key}' depends on a placeholder which "
                    f"is not an input (i.e. the placeholder is not fed a value).\n\n{error}"
                ) from None
            made._arg_keywords = list(signature.inputs)
            # One argument needs no name; several have no order.
            made._num_positional_args = 1 if len(feeds) == 1 else 0
            found[key] = made
        return found
