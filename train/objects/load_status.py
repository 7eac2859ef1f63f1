# SPDX-License-Identifier: Apache-2.0
"""What `tf.train.Checkpoint.restore` returns: checks of what matches, and what restores it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ...engine.graph.defaults import get_default_session
from ...engine.graph.graph import device
from ...engine.interface import log
from .data_structures import TrackableDataStructure
from .object_graph import list_objects
from .object_restore import NameBasedRestore, Restore, node_names

if TYPE_CHECKING:
    from ...engine.graph.trackable import Trackable
    from ...engine.session.session import BaseSession


_KERAS = f"{__package__.rpartition('.')[0]}.keras.backend.sessions"


def get_session(session: BaseSession | None = None) -> Any:
    """A session, or the default one, or Keras's; RuntimeError if there is none."""
    session = session or get_default_session()
    if session is None and _KERAS in sys.modules:
        # A program that uses Keras has its session, too.
        session = sys.modules[_KERAS].get_session()
    if session is None:
        raise RuntimeError(
            "When graph building, objects are saved and restored in a session: pass one or make "
            "one the default (`with session.as_default()`)."
        )
    return session


class _LoadStatus:
    """Base class: a restore of a root object."""

    def __init__(self, root: object) -> None:
        self._root = root

    def assert_consumed(self) -> Any:
        """AssertionError unless checkpoint and program match in all."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> Any:
        """AssertionError unless each object of the program is in the checkpoint."""
        raise NotImplementedError

    def assert_nontrivial_match(self) -> Any:
        """AssertionError if nothing but the root matches."""
        raise NotImplementedError

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restores what matches."""
        raise NotImplementedError

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Restores what matches, and initializes the other variables."""
        raise NotImplementedError

    def expect_partial(self) -> _LoadStatus:
        """No warnings about parts that are not used."""
        return self


class CheckpointLoadStatus(_LoadStatus):
    """A restore of a checkpoint of objects."""

    def __init__(self, checkpoint: Restore, root: Trackable, feed_dict: dict[Any, Any]) -> None:
        super().__init__(root)
        self._checkpoint = checkpoint
        self._feed_dict = feed_dict

    def assert_consumed(self) -> CheckpointLoadStatus:
        """AssertionError unless all of the checkpoint is restored to all objects of the program."""
        checkpoint = self._checkpoint
        self.assert_existing_objects_matched()
        names = node_names(checkpoint.message)
        for number, node in enumerate(checkpoint.message.nodes):
            if checkpoint.objects.get(number) is None:
                raise AssertionError(f"Unresolved object in checkpoint {names[number]}: {node}")
        if checkpoint.slots:
            raise AssertionError(f"Unresolved slot restorations: {checkpoint.slots}")
        if checkpoint.unused_attributes:
            lines = [
                f"{names[number]} ({checkpoint.objects[number]}): {attributes}"
                for number, attributes in checkpoint.unused_attributes.items()
            ]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                "were not restored):\n" + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """AssertionError unless each object of the program is in the checkpoint."""
        checkpoint = self._checkpoint
        for number, node in enumerate(checkpoint.message.nodes):
            thing = checkpoint.objects.get(number)
            if thing is not None and thing._update_uid < checkpoint.restore_uid:
                raise AssertionError(f"Object not assigned a value from checkpoint: {node}")
        for thing in list_objects(self._root):
            # Containers without variables are in no checkpoint.
            if not isinstance(thing, TrackableDataStructure) or thing._checkpoint_dependencies:
                checkpoint.see(thing)
        unmatched = checkpoint.unmatched()
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes "
                f"in the Python program: {unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """AssertionError if nothing but the root matches."""
        checkpoint = self._checkpoint
        for thing in list_objects(self._root):
            checkpoint.see(thing)
        if len(checkpoint.objects) > 1:
            return self
        unmatched = checkpoint.unmatched()
        if not unmatched:
            raise AssertionError(
                f"Nothing to load. No dependencies have been added to {self._root} yet."
            )
        raise AssertionError(
            "Nothing except the root object matched a checkpointed value. Typically this means "
            "that the checkpoint does not match the Python program. The following objects have no "
            f"matching checkpointed value: {unmatched}"
        )

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restores what matches by now."""
        get_session(session).run(self._checkpoint.ops, feed_dict=self._feed_dict)

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Restores what matches; initializes what no later restore gives a value either."""
        session = get_session(session)
        uid = self._checkpoint.restore_uid
        restored = {id(thing) for thing in self._checkpoint.objects.values()}
        initializers = [
            thing.initializer
            for thing in list_objects(self._root)
            if hasattr(thing, "initializer") and id(thing) not in restored
            # What a later restore has given a value, or will, is not overwritten by an initializer.
            if thing._update_uid < uid
        ]
        self.run_restore_ops(session)
        session.run(initializers)

    def stream(self, session: BaseSession) -> None:
        """Restores what matches, and from now on what will, at once."""
        self.run_restore_ops(session)
        self._checkpoint.callback = lambda ops: session.run(ops, feed_dict=self._feed_dict)

    def expect_partial(self) -> CheckpointLoadStatus:
        """No warnings about parts that are not used."""
        self._checkpoint.expect_partial()
        return self


class InitializationOnlyStatus(_LoadStatus):
    """There is no checkpoint: variables can be initialized."""

    def __init__(self, root: object, restore_uid: int) -> None:
        super().__init__(root)
        self._restore_uid = restore_uid

    def assert_consumed(self) -> Any:
        """Fails."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Fails."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Initializes the variables that no later restore gives a value."""
        initializers = [
            thing.initializer
            for thing in list_objects(self._root)
            if getattr(thing, "initializer", None) is not None
            if thing._update_uid < self._restore_uid
        ]
        get_session(session).run(initializers)


class NameBasedSaverStatus(_LoadStatus):
    """A restore of a checkpoint that a saver of names wrote: variables are found by name."""

    def __init__(self, checkpoint: NameBasedRestore, root: Trackable) -> None:
        super().__init__(root)
        self._checkpoint = checkpoint
        log.warning(
            "Restoring a name-based tf.train.Saver checkpoint using the object-based restore API. "
            "This mode uses global names to match variables, and so is somewhat fragile. It also "
            "adds new restore ops to the graph each time it is called when graph building. Prefer "
            "re-encoding training checkpoints in the object-based format: run save() on the "
            "object-based saver (the same one this message is coming from) and use that "
            "checkpoint in the future."
        )

    def assert_consumed(self) -> NameBasedSaverStatus:
        """AssertionError unless all objects were restored."""
        unused = self._checkpoint.unused
        if unused:
            lines = "".join(f"\n    {thing}: {attributes}" for thing, attributes in unused)
            raise AssertionError(f"Some objects had attributes which were not restored:{lines}")
        for thing in list_objects(self._root):
            if thing._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {thing}")
        return self

    # Names say nothing of objects: the three checks are one.
    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restores the variables by a new saver."""
        from ..checkpoints.saver import Saver

        session = get_session(session)
        uid = self._checkpoint.restore_uid
        with device("/cpu:0"):
            saveables: list[Any] = []
            for thing in list_objects(self._root):
                if thing._update_uid < uid:
                    thing._update_uid = uid
                    saveables += self._checkpoint.saveables(thing)
            Saver(saveables).restore(sess=session, save_path=self._checkpoint.path)

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Restores the variables."""
        self.run_restore_ops(session)


def streaming_restore(status: Any, session: BaseSession | None = None) -> None:
    """Runs the ops that restore as soon as they are made."""
    session = get_session(session)
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. As a "
            "workaround, consider either using tf.train.Checkpoint to load name-based checkpoints "
            "or enabling eager execution."
        )
    status.stream(session)
