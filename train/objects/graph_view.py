# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.training.tracking.graph_view`: objects that Savers of programs save."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from ...engine.graph.graph import Graph
from ..checkpoints.saveable import SaveableObject
from .object_graph import Cache, ObjectGraph


class ObjectGraphView:
    """The objects below a root as a checkpoint names them.

    Args:
        root: A trackable object, or a weak reference to one.
        saveables_cache: Objects with the saveables of their attributes, which make ops: those
            that it holds are not made again. Default: none is kept.
    """

    def __init__(self, root: Any, saveables_cache: Cache | None = None) -> None:
        self._root = root
        self.saveables_cache = saveables_cache

    @property
    def root(self) -> Any:
        """The object; of a weak reference what it refers to.

        Raises:
            ReferenceError: It is there no longer.
        """
        if not isinstance(self._root, weakref.ref):
            return self._root
        root = self._root()
        if root is None:
            raise ReferenceError("the root of this ObjectGraphView is there no longer")
        return root

    def list_dependencies(self, obj: Any) -> Any:
        """Names and objects that belong to an object."""
        return obj._checkpoint_dependencies

    def list_objects(self) -> list[Any]:
        """All objects, with the slots of optimizers."""
        return ObjectGraph(self.root).objects

    def objects_ids_and_slot_variables(self) -> tuple[list[Any], dict[int, int], list[Any]]:
        """All objects, their numbers by `id(object)`, and which of them are slots."""
        graph = ObjectGraph(self.root)
        slots = [slot for node in graph.message.nodes for slot in node.slot_variables]
        numbers = {id(thing): number for number, thing in enumerate(graph.objects)}
        return graph.objects, numbers, slots

    def serialize_object_graph(self) -> tuple[list[SaveableObject], Any, dict[Any, Any]]:
        """What is saved, the message TrackableObjectGraph about it, and what to feed for it."""
        graph = ObjectGraph(self.root)
        saveables, feeds = graph.gather(self.saveables_cache)
        return saveables, graph.message, feeds

    def frozen_saveable_objects(
        self, object_map: Any = None, to_graph: Graph | None = None
    ) -> list[SaveableObject]:
        """What a Saver saves: the objects as they are now, and the message about them.

        Args:
            object_map: Must be None: objects are saved as they are, not their copies.
            to_graph: The graph that gets the ops. Default: the default graph.

        Raises:
            NotImplementedError: `object_map` is given.
        """
        if object_map is not None:
            raise NotImplementedError(
                "ObjectGraphView.frozen_saveable_objects with object_map: objects cannot be "
                "saved in the place of others"
            )
        with contextlib.nullcontext() if to_graph is None else to_graph.as_default():
            return ObjectGraph(self.root).frozen()
