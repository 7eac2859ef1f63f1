# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Checkpoint`: saves variables by the objects that hold them, not by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.api import export
from ..engine.compat import path_to_str
from ..engine.defaults import get_default_session
from ..engine.graph import device
from ..io import protos
from ..ops.public import tf
from ..ops.save_restore import restore_v2, save_v2
from .checkpoint_management import update_checkpoint_state_internal
from .object_checkpoint import OBJECT_GRAPH_PROTO_KEY
from .object_graph import Match, ObjectGraph, is_trackable


def _session(session: Any = None) -> Any:
    session = session or get_default_session()
    if session is None:
        raise RuntimeError(
            "When graph building, objects are saved and restored in a session: pass one or make "
            "one the default (`with session.as_default()`)."
        )
    return session


@export("train.Checkpoint")
class Checkpoint:
    """A group of objects that are saved together; they are its attributes.

    Variables, optimizers, other checkpoints, and lists and dicts of such can be saved.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        self._save_op: tuple[Any, ...] = ()
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`TrackableBase`), got {value}."
                )
            setattr(self, name, value)

    def _checkpoint_children(self) -> dict[str, Any]:
        """What is saved, by name."""
        found = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_save_") and is_trackable(value)
        }
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    @property
    def save_counter(self) -> Any:
        """The variable that counts calls of `save`."""
        if self._save_counter is None:
            with device("/cpu:0"):
                self._save_counter = tf.Variable(
                    0, name="save_counter", dtype=dtypes.int64, trainable=False, use_resource=True
                )
        return self._save_counter

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Writes a checkpoint under a prefix; does not count it."""
        path = path_to_str(file_prefix)
        graph = ObjectGraph(self)
        key = (tf.get_default_graph(), tuple(graph.saveables))
        if self._save_op[:1] != (key,):
            self._save_op = (key, *_save_ops(graph))
        _, prefix, text, op = self._save_op
        message = graph.message.SerializeToString()
        _session(session).run(op, {prefix: path, text: message})
        return path

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Writes a numbered checkpoint and names it in the folder's `checkpoint` file."""
        session = _session(session)
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            self._save_assign_op = self.save_counter.assign_add(1, read_value=True)
        number = int(np.asarray(session.run(self._save_assign_op)))
        path = self.write(f"{path_to_str(file_prefix)}-{number}", session)
        update_checkpoint_state_internal(
            save_dir=os.path.dirname(path),
            model_checkpoint_path=path,
            all_model_checkpoint_paths=[path],
            save_relative_paths=True,
        )
        return path

    def restore(self, save_path: Any) -> CheckpointLoadStatus:
        """What restores: nothing happens before its `run_restore_ops` or `initialize_or_restore`.

        Objects made until then are restored too.
        """
        _ = self.save_counter  # Made now, to be initialized with the other variables.
        return CheckpointLoadStatus(self, save_path)


def _save_ops(graph: ObjectGraph) -> tuple[Any, Any, Any]:
    """Placeholders for the prefix and the graph of the objects, and the op that writes."""
    with tf.name_scope("save_checkpoint"), device("/cpu:0"):
        prefix = tf.placeholder(dtypes.string, [], name="prefix")
        text = tf.placeholder(dtypes.string, [], name="object_graph")
        specs = [spec for saveable in graph.saveables.values() for spec in saveable.specs]
        names = [*(spec.name for spec in specs), OBJECT_GRAPH_PROTO_KEY]
        tensors = [*(spec.tensor for spec in specs), text]
        slices = [*(spec.slice_spec for spec in specs), ""]
        return prefix, text, save_v2(prefix, names, slices, tensors)


def _assignments(saveables: list[Any], values: list[Any]) -> Iterator[Any]:
    """The ops that give the saveables their values."""
    rest = iter(values)
    for saveable in saveables:
        yield saveable.restore([next(rest) for _ in saveable.specs], None)


class CheckpointLoadStatus:
    """A checkpoint about to be restored, and checks of how much of it there is a place for."""

    def __init__(self, root: Checkpoint, save_path: Any) -> None:
        self._root = root
        self._path = None if save_path is None else path_to_str(save_path)
        self._saved: Any = None
        if self._path is not None:
            from ..io.checkpoint_reader import new_checkpoint_reader

            text = new_checkpoint_reader(self._path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
            self._saved = protos.TrackableObjectGraph.FromString(text)

    def _match(self) -> tuple[ObjectGraph, Match]:
        graph = ObjectGraph(self._root)
        saved = protos.TrackableObjectGraph(nodes=[{}]) if self._saved is None else self._saved
        return graph, Match(saved, graph)

    def assert_consumed(self) -> CheckpointLoadStatus:
        """AssertionError unless all of the checkpoint is restored to all objects here."""
        self.assert_existing_objects_matched()
        _, match = self._match()
        if match.missing:
            raise AssertionError(f"Unresolved object in checkpoint: {', '.join(match.missing)}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """AssertionError unless each object here is in the checkpoint."""
        _, match = self._match()
        if match.unmatched:
            raise AssertionError(f"Object not assigned a value: {', '.join(match.unmatched)}")
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """AssertionError unless something besides the counter is restored."""
        _, match = self._match()
        if not [key for key in match.keys if not key.startswith("save_counter/")]:
            raise AssertionError(f"Nothing except the root object matched a value: {self._path}")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that parts may stay unused."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Gives the objects here their values."""
        graph, match = self._match()
        # A saveable's tensors are named after its key, which may differ in the checkpoint.
        specs = [
            (spec, there + spec.name.removeprefix(here))
            for here, there in match.keys.items()
            for spec in graph.saveables[here].specs
        ]
        if not specs:
            return
        with tf.name_scope("restore_checkpoint"), device("/cpu:0"):
            values = restore_v2(
                self._path,
                [there for _, there in specs],
                [spec.slice_spec for spec, _ in specs],
                [spec.dtype for spec, _ in specs],
            )
            op = tf.group(*_assignments([graph.saveables[key] for key in match.keys], values))
        _session(session).run(op)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Gives the objects here their values, those that are not saved their initial ones."""
        session = _session(session)
        graph, match = self._match()
        for number, thing in enumerate(graph.objects):
            keys = [a.checkpoint_key for a in graph.message.nodes[number].attributes]
            if isinstance(thing, tf.Variable) and not any(key in match.keys for key in keys):
                session.run(thing.initializer)
        self.run_restore_ops(session)
