# SPDX-License-Identifier: Apache-2.0
"""Matches the objects in a checkpoint with those of a program, now and when more are tracked.

Matched objects get ops that restore them; the status objects of load_status.py run these.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.graph.graph import init_scope
from ...engine.interface import log
from ...io.checkpoint_reader import new_checkpoint_reader
from ...ops.public import tf
from ..checkpoints.saveable import SaveableObject, op_list_to_dict, saveable_objects_for_op
from .object_graph import Cache, saveables_of
from .object_saver import MultiDeviceSaver
from .python_state import PythonStateSaveable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_uids = itertools.count()


def next_uid() -> int:
    """A number for a restore; later restores have larger ones."""
    return next(_uids)


def node_names(message: Any) -> dict[int, str]:
    """A name for each object of a checkpoint: its path, or what it is a slot of."""
    paths = {0: "(root)"}
    pending = deque([0])
    while pending:
        number = pending.popleft()
        for child in message.nodes[number].children:
            if child.node_id not in paths:
                paths[child.node_id] = f"{paths[number]}.{child.local_name}"
                pending.append(child.node_id)
    for number, node in enumerate(message.nodes):
        for slot in node.slot_variables:
            original = paths[slot.original_variable_node_id]
            paths[slot.slot_variable_node_id] = (
                f"{paths[number]}'s state '{slot.slot_name}' for {original}"
            )
    return paths


class _Slot(NamedTuple):
    """A slot in a checkpoint; `variable` is known once its variable is matched."""

    optimizer: int
    number: int
    name: str
    variable: Any = None


class _Warner:
    """Tells, when a restore is forgotten, what of its checkpoint was not used."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self.is_read_only = False
        self.matched: set[int] = set()
        # Number of an object -> its attributes that nothing here has.
        self.unused: dict[int, list[str]] = {}

    def __del__(self) -> None:
        # At the interpreter's end modules may be gone before this object.
        if self.is_read_only or log is None or not hasattr(self, "unused"):
            return
        names = node_names(self.message)
        lines = [
            f"Unresolved object in checkpoint: {names[number]}"
            for number in range(len(self.message.nodes))
            if number not in self.matched
        ]
        lines += [
            f"Unused attribute in object {names[number]}: {attributes}"
            for number, attributes in self.unused.items()
        ]
        if lines:
            lines.append(
                "A checkpoint was restored (e.g. tf.train.Checkpoint.restore or "
                "tf.keras.Model.load_weights) but not all checkpointed values were used. See above "
                "for specific issues. Use expect_partial() on the load status object, e.g. "
                "tf.train.Checkpoint.restore(...).expect_partial(), to silence these warnings, or "
                "use assert_consumed() to make the check explicit."
            )
        for line in lines:
            log.warning(line)


class Restore:
    """One restore of a checkpoint of objects."""

    def __init__(
        self,
        message: Any,
        path: str,
        path_tensor: TensorLike,
        known_ops: dict[str, Any],
        cache: Cache,
    ) -> None:
        """known_ops: key -> op, of earlier restores of the same program; see `_attributes`."""
        self.message = message
        self.restore_uid = next_uid()
        self._path, self._path_tensor = path, path_tensor
        self._known_ops, self._cache = known_ops, cache
        self._warner = _Warner(message)
        # Weak, as a restore must not keep the program's objects alive.
        self.objects: Any = weakref.WeakValueDictionary()
        # All objects that were met, matched or not, by identity.
        self.seen: dict[int, Any] = {}
        self.ops: list[Any] = []
        self.callback: Callable[[list[Any]], Any] | None = None
        # Slots whose variable is not matched yet, by that; then by optimizers not matched yet.
        self.slots: dict[int, list[_Slot]] = {}
        self._slots_of_optimizer: dict[int, list[_Slot]] = {}
        for number, node in enumerate(message.nodes):
            for slot in node.slot_variables:
                found = _Slot(number, slot.slot_variable_node_id, slot.slot_name)
                self.slots.setdefault(slot.original_variable_node_id, []).append(found)

    @property
    def unused_attributes(self) -> dict[int, list[str]]:
        """What matched objects have in the checkpoint only."""
        return self._warner.unused

    def expect_partial(self) -> None:
        """There will be no warning."""
        self._warner.is_read_only = True

    def see(self, thing: object) -> None:
        """Notes an object of the program."""
        self.seen.setdefault(id(thing), weakref.ref(thing))

    def unmatched(self) -> list[Any]:
        """The objects that were seen and are in no place of the checkpoint."""
        matched = {id(thing) for thing in self.objects.values()}
        alive = (reference() for number, reference in self.seen.items() if number not in matched)
        return [thing for thing in alive if thing is not None]

    def position(self, number: int) -> Position:
        """An object of the checkpoint."""
        return Position(self, number)

    def bind(self, number: int, thing: object) -> bool:
        """Matches an object of the checkpoint; False if it is matched already."""
        self.see(thing)
        self._warner.matched.add(number)
        present = self.objects.get(number)
        if present is not None:
            if present is not thing:
                log.warning(
                    "Inconsistent references when loading the checkpoint into this object graph. "
                    "Either the Trackable object references in the Python program have changed in "
                    "an incompatible way, or the checkpoint was generated in an incompatible "
                    "program.\n\nTwo checkpoint references resolved to different objects (%s and "
                    "%s).",
                    present,
                    thing,
                )
            return False
        self.objects[number] = thing
        for slot in self._slots_of_optimizer.pop(number, ()):
            self._restore_slot(thing, slot)
        for slot in self.slots.pop(number, ()):
            slot = slot._replace(variable=thing)
            optimizer = self.objects.get(slot.optimizer)
            if optimizer is None:
                self._slots_of_optimizer.setdefault(slot.optimizer, []).append(slot)
            else:
                self._restore_slot(optimizer, slot)
        return True

    def _restore_slot(self, optimizer: Any, slot: _Slot) -> None:
        optimizer._create_or_restore_slot_variable(
            slot_variable_position=self.position(slot.number),
            variable=slot.variable,
            slot_name=slot.name,
        )

    def restore(self, number: int, thing: Any) -> None:
        """Makes ops that restore an object and all below it that are there."""
        if not self.bind(number, thing):
            return
        made: list[Any] = []
        saveables: dict[str, SaveableObject] = {}
        python: list[PythonStateSaveable] = []
        pending = deque([number])
        while pending:
            current = pending.popleft()
            thing = self.objects[current]
            # An object that a later restore has reached keeps what that one gave it.
            if self.restore_uid > thing._update_uid:
                self._attributes(current, thing, made, saveables, python)
                thing._update_uid = self.restore_uid
            pending.extend(self._children(current, thing))
        made += self._ops_for(saveables)
        self._restore_python(python)
        self.ops += made
        if made and self.callback is not None:
            self.callback(made)

    def _children(self, number: int, thing: Any) -> Iterator[int]:
        """The dependencies that are matched now; others wait for their names."""
        for child in self.message.nodes[number].children:
            local = thing._lookup_dependency(child.local_name)
            if local is None:
                # Restored when the object gets a dependency of that name
                # (engine/graph/trackable.py).
                waiting = thing._deferred_dependencies.setdefault(child.local_name, [])
                waiting.append(self.position(child.node_id))
            elif self.bind(child.node_id, local):
                yield child.node_id

    def _attributes(
        self,
        number: int,
        thing: Any,
        made: list[Any],
        saveables: dict[str, SaveableObject],
        python: list[PythonStateSaveable],
    ) -> None:
        """Sorts what an object saves: ops that exist, saveables to make ops of, Python's."""
        factories = thing._gather_saveables_for_checkpoint()
        for attribute in self.message.nodes[number].attributes:
            key = attribute.checkpoint_key
            if key in self._known_ops:
                made.append(self._known_ops[key])
            elif attribute.name not in factories:
                if not attribute.optional_restore:
                    self.unused_attributes.setdefault(number, []).append(attribute.name)
            else:
                saveable = self._saveable(thing, attribute.name, factories[attribute.name], key)
                if isinstance(saveable, PythonStateSaveable):
                    python.append(saveable)
                else:
                    saveables[key] = saveable

    def _saveable(self, thing: object, name: str, factory: object, key: str) -> Any:
        known = self._cache.setdefault(thing, {})
        made = known.get(name, ())
        if len(made) != 1 or key not in made[0].name:
            made = known[name] = saveables_of(thing, name, factory, key)
        return made[0]

    def _ops_for(self, saveables: dict[str, SaveableObject]) -> list[Any]:
        """New ops, which later restores of the program use again."""
        if not saveables:
            return []
        ops = MultiDeviceSaver(saveables[key] for key in sorted(saveables)).restore(
            self._path_tensor
        )
        self._known_ops.update(ops)
        return [op for _, op in sorted(ops.items())]

    def _restore_python(self, saveables: list[PythonStateSaveable]) -> None:
        if not saveables:
            return
        reader = new_checkpoint_reader(self._path)
        for saveable in saveables:
            saveable.python_restore([reader.get_tensor(spec.name) for spec in saveable.specs])


class Position(NamedTuple):
    """An object of a checkpoint that is being restored."""

    checkpoint: Restore
    number: int

    @property
    def restore_uid(self) -> int:
        """The number of the restore."""
        return self.checkpoint.restore_uid

    def restore(self, thing: object) -> None:
        """Restores the object to one of the program."""
        with init_scope():
            self.checkpoint.restore(self.number, thing)


class NameBasedRestore:
    """A restore of a checkpoint that a saver of names wrote."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.restore_uid = next_uid()
        # (object, attributes that have no name).
        self.unused: list[tuple[Any, list[str]]] = []

    def saveables(self, thing: Any) -> Iterator[SaveableObject]:
        """What an object saves, under the names that a saver of names uses."""
        nameless = []
        for name, factory in thing._gather_saveables_for_checkpoint().items():
            if callable(factory) and not isinstance(factory, tf.Variable):
                try:
                    factory = factory()
                except TypeError:
                    # It has no name of its own; that matters if it must be restored.
                    if not factory("").optional_restore:
                        nameless.append(name)
                    continue
            named = op_list_to_dict([factory], convert_variable_to_tensor=False)
            for full_name, op in named.items():
                yield from saveable_objects_for_op(op, full_name)
        if nameless:
            self.unused.append((thing, nameless))
