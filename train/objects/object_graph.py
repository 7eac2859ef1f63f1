# SPDX-License-Identifier: Apache-2.0
"""The objects below a `tf.train.Checkpoint`: found by their names, and what is saved of each.

An object's key is its shortest path from the root: ".ATTRIBUTES" and the attribute's name follow
it; a slot of an optimizer follows its variable as ".OPTIMIZER_SLOT/path of the optimizer/name".
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import device
from ...engine.graph.trackable import OBJECT_GRAPH_PROTO_KEY, Trackable
from ...engine.types import dtypes
from ...io import protos
from ...ops.public import tf
from ..checkpoints.saveable import SaveableObject, op_list_to_dict, saveable_objects_for_op
from .python_state import NoRestoreSaveable, PythonStateSaveable
from .tracking import NotTrackable

if TYPE_CHECKING:
    from ...ops.state.variables import Variable
    from ..optimizers.optimizer import Optimizer

# Object -> attribute -> its saveables, which make ops: they are made once.
Cache = weakref.WeakKeyDictionary


class ObjectGraph:
    """The objects below a root in order of their distance; slots of optimizers come last."""

    def __init__(self, root: object, dependencies: Callable[[Any], Any] | None = None) -> None:
        """dependencies: lists those of an object, its own `_checkpoint_dependencies` by default."""
        self.objects: list[Any] = [root]
        self.paths = [""]
        self._numbers = {id(root): 0}
        self.message = protos.TrackableObjectGraph()
        for number, thing in enumerate(self.objects):  # The list grows meanwhile.
            if isinstance(thing, NotTrackable):
                raise NotImplementedError(
                    f"The object {thing} does not support object-based saving. Remove the "
                    "dependency on it to save everything else."
                )
            node = self.message.nodes.add()
            listed = thing._checkpoint_dependencies if dependencies is None else dependencies(thing)
            for name, child in listed:
                path = f"{self.paths[number]}/{_escaped(name)}".lstrip("/")
                node.children.add(node_id=self._number(child, path), local_name=name)
        self._add_slots()

    def _number(self, thing: object, path: str) -> int:
        number = self._numbers.setdefault(id(thing), len(self.objects))
        if number == len(self.objects):
            self.objects.append(thing)
            self.paths.append(path)
        return number

    def _add_slots(self) -> None:
        """Slots are nobody's dependencies: they are saved if optimizer and variable are."""
        plain = list(enumerate(self.objects))
        for number, optimizer in plain:
            if not hasattr(optimizer, "_create_or_restore_slot_variable"):
                continue
            for name in optimizer.get_slot_names():
                for original, variable in plain:
                    slot = _slot(optimizer, variable, name)
                    if slot is not None:
                        self._add_slot(number, original, name, slot)
        while len(self.message.nodes) < len(self.objects):
            self.message.nodes.add()

    def _add_slot(self, optimizer: int, original: int, name: str, slot: Variable) -> None:
        if id(slot) in self._numbers:
            raise NotImplementedError(
                "A slot variable was re-used as a dependency of a Trackable object. This is not "
                "currently allowed."
            )
        place = f"{self.paths[original]}/.OPTIMIZER_SLOT/{self.paths[optimizer]}/"
        reference = self.message.nodes[optimizer].slot_variables.add(slot_name=name)
        reference.original_variable_node_id = original
        reference.slot_variable_node_id = self._number(slot, place + _escaped(name))

    def number_of(self, thing: object) -> int:
        """The number of an object; KeyError for one that is none of them."""
        return self._numbers[id(thing)]

    def gather(
        self, cache: Cache | None = None, replaced: Mapping[int, Any] | None = None
    ) -> tuple[list[SaveableObject], dict[Any, Any]]:
        """The saveables of all objects, entered into the message; what to feed for them.

        Without a cache the present state of Python objects becomes a constant.  `replaced` are what
        stands for objects, by their numbers, such as variables of another graph.
        """
        saveables: list[SaveableObject] = []
        feeds: dict[Any, Any] = {}
        for number, thing in enumerate(self.objects):
            thing = thing if replaced is None else replaced.get(number, thing)
            for name, factory in thing._gather_saveables_for_checkpoint().items():
                key = f"{self.paths[number]}/.ATTRIBUTES/{_escaped(name)}"
                known = {} if cache is None else cache.setdefault(thing, {})
                made = known.get(name)
                # An object may have another path now, if one was added that is shorter.
                if made is None or any(key not in saveable.name for saveable in made):
                    made = known[name] = saveables_of(thing, name, factory, key)
                self.message.nodes[number].attributes.add(
                    name=name,
                    checkpoint_key=key,
                    full_name=getattr(made[-1], "full_name", ""),
                    optional_restore=all(saveable.optional_restore for saveable in made),
                )
                for saveable in made:
                    if isinstance(saveable, PythonStateSaveable):
                        if cache is None:
                            saveable = saveable.freeze()
                        else:
                            feeds.update(saveable.feed_dict_additions())
                    saveables.append(saveable)
        return saveables, feeds

    def frozen(self, replaced: Mapping[int, Any] | None = None) -> list[SaveableObject]:
        """The saveables of all objects as they are now, with the graph of the objects."""
        saveables, _ = self.gather(replaced=replaced)
        with device("/cpu:0"):
            text = tf.constant(self.message.SerializeToString(), dtype=dtypes.string)
        return [*saveables, NoRestoreSaveable(text, OBJECT_GRAPH_PROTO_KEY)]


def _slot(optimizer: Optimizer, variable: Any, name: str) -> Any:
    try:
        return optimizer.get_slot(variable, name)
    except (AttributeError, KeyError):
        return None  # Not a variable.


def _escaped(name: str) -> str:
    # "/" parts the names of a path, and "." begins what is no name: ".ATTRIBUTES".
    return name.replace(".", "..").replace("/", ".S")


def saveables_of(thing: object, name: str, factory: Any, key: str) -> list[Any]:
    """What an attribute of an object is saved as, under a key."""
    part = factory(name=key) if _makes(factory) else factory
    if isinstance(part, SaveableObject):
        made: list[Any] = [part]
    else:
        # The name that a saver of names gives it; savers of names find it by that.
        (full_name,) = op_list_to_dict([part], convert_variable_to_tensor=False)
        made = list(saveable_objects_for_op(part, key))
        for saveable in made:
            saveable.full_name = full_name
    for saveable in made:
        if key not in saveable.name:
            raise AssertionError(
                f"The object {thing} produced a SaveableObject with name '{name}' for attribute "
                f"'{saveable.name}'. Expected a name containing '{key}'."
            )
    return made


def _makes(factory: object) -> bool:
    return callable(factory) and not isinstance(factory, Trackable)


def list_objects(root_trackable: object) -> list[Any]:
    """All objects below a root that a checkpoint holds."""
    return ObjectGraph(root_trackable).objects


def gather_initializers(root_trackable: Trackable) -> list[Any]:
    """The initializers of the variables below a root."""
    found = (getattr(thing, "initializer", None) for thing in list_objects(root_trackable))
    return [initializer for initializer in found if initializer is not None]
