# SPDX-License-Identifier: Apache-2.0
"""The objects below a `tf.train.Checkpoint`: found by their attributes, named by their paths."""

from __future__ import annotations

from typing import Any

from ..io import protos
from ..ops.public import tf
from .kinds import is_variable
from .optimizer import Optimizer
from .saveable import saveable_objects_for_op

_VALUE = "VARIABLE_VALUE"


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint can hold an object."""
    return (
        is_variable(value)
        or isinstance(value, (Optimizer, list, tuple, dict))
        or hasattr(value, "_checkpoint_children")
        or hasattr(value, "_gather_saveables_for_checkpoint")
    )


def children_of(thing: Any) -> dict[str, Any]:
    """What an object consists of, by local name."""
    if hasattr(thing, "_checkpoint_children"):
        return thing._checkpoint_children()
    if isinstance(thing, Optimizer):
        graph = tf.get_default_graph()
        own = ((name, v) for (name, of), v in thing._non_slot_dict.items() if of in (None, graph))
        return dict(sorted(own))
    if isinstance(thing, (list, tuple)):
        return {str(i): item for i, item in enumerate(thing) if is_trackable(item)}
    if isinstance(thing, dict):
        return {str(key): item for key, item in thing.items() if is_trackable(item)}
    return {}


class ObjectGraph:
    """The objects below a root in order of their distance, with what is saved of each."""

    def __init__(self, root: Any) -> None:
        self.objects: list[Any] = [root]
        self.paths = [""]
        self.numbers = {id(root): 0}
        self.message = protos.TrackableObjectGraph()
        for number, thing in enumerate(self.objects):  # The list grows meanwhile.
            node = self.message.nodes.add()
            for name, child in children_of(thing).items():
                path = f"{self.paths[number]}/{_escaped(name)}".lstrip("/")
                node.children.add(node_id=self._number(child, path), local_name=name)
        self._add_slots()
        # Key in the checkpoint -> saveable.
        self.saveables: dict[str, Any] = {}
        for number in range(len(self.objects)):
            self._add_attributes(number)

    def _number(self, thing: Any, path: str) -> int:
        number = self.numbers.setdefault(id(thing), len(self.objects))
        if number == len(self.objects):
            self.objects.append(thing)
            self.paths.append(path)
        return number

    def _add_slots(self) -> None:
        """Slots of optimizers whose variables are saved; they are nobody's children."""
        for number, optimizer in list(enumerate(self.objects)):
            if not isinstance(optimizer, Optimizer):
                continue
            for name in optimizer.get_slot_names():
                for original, variable in list(enumerate(self.objects)):
                    slot = optimizer.get_slot(variable, name) if is_variable(variable) else None
                    if slot is None:
                        continue
                    place = f"{self.paths[original]}/.OPTIMIZER_SLOT/{self.paths[number]}/"
                    reference = self.message.nodes[number].slot_variables.add(slot_name=name)
                    reference.original_variable_node_id = original
                    reference.slot_variable_node_id = self._number(slot, place + _escaped(name))
        while len(self.message.nodes) < len(self.objects):
            self.message.nodes.add()

    def _add_attributes(self, number: int) -> None:
        thing, path = self.objects[number], self.paths[number]
        parts: dict[str, Any] = {}
        if is_variable(thing):
            parts[_VALUE] = thing
        elif hasattr(thing, "_gather_saveables_for_checkpoint"):
            parts = thing._gather_saveables_for_checkpoint()
        for name, part in parts.items():
            key = f"{path}/.ATTRIBUTES/{_escaped(name)}"
            part = part(key) if callable(part) and not is_variable(part) else part
            (saveable,) = saveable_objects_for_op(part, key)
            self.saveables[key] = saveable
            self.message.nodes[number].attributes.add(
                name=name,
                checkpoint_key=key,
                full_name=thing.op.name if is_variable(thing) else "",
                optional_restore=bool(saveable.optional_restore),
            )


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


class Match:
    """Which objects here are those of a checkpoint."""

    def __init__(self, saved: Any, graph: ObjectGraph) -> None:
        self.keys: dict[str, str] = {}  # key here -> key in the checkpoint
        self.missing: list[str] = []  # what the checkpoint has and nothing here stands for
        here = {0: 0}  # node there -> node here
        pending = [0]
        while pending:
            there = pending.pop(0)
            mine = graph.message.nodes[here[there]]
            names = {child.local_name: child.node_id for child in mine.children}
            for child in saved.nodes[there].children:
                if child.node_id not in here and child.local_name in names:
                    here[child.node_id] = names[child.local_name]
                    pending.append(child.node_id)
        self._match_slots(saved, graph, here)
        for there, node in enumerate(saved.nodes):
            own = graph.message.nodes[here[there]].attributes if there in here else ()
            keys = {attribute.name: attribute.checkpoint_key for attribute in own}
            for attribute in node.attributes:
                if attribute.name in keys:
                    self.keys[keys[attribute.name]] = attribute.checkpoint_key
                else:
                    self.missing.append(attribute.checkpoint_key)
        self.unmatched = [key for key in graph.saveables if key not in self.keys]

    @staticmethod
    def _match_slots(saved: Any, graph: ObjectGraph, here: dict[int, int]) -> None:
        for there in list(here):
            slots = {
                (slot.original_variable_node_id, slot.slot_name): slot.slot_variable_node_id
                for slot in graph.message.nodes[here[there]].slot_variables
            }
            for slot in saved.nodes[there].slot_variables:
                original = here.get(slot.original_variable_node_id)
                found = slots.get((original, slot.slot_name))  # type: ignore[arg-type]
                if found is not None:
                    here[slot.slot_variable_node_id] = found
