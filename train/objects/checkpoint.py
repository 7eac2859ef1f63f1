# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Checkpoint`: saves variables by the objects that hold them, not by their names."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.compat import as_text, path_to_str
from ...engine.errors import NotFoundError
from ...engine.graph.graph import colocate_with, control_dependencies, device
from ...engine.graph.trackable import OBJECT_GRAPH_PROTO_KEY, Trackable
from ...engine.types import dtypes
from ...io import protos
from ...ops.public import tf
from ...ops.state.dependencies import capture_dependencies as capture_dependencies
from ...ops.state.variable_store import default_initializer
from ..checkpoints.checkpoint_management import update_checkpoint_state_internal
from .data_structures import NoDependency
from .load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    get_session,
)
from .load_status import streaming_restore as streaming_restore
from .object_graph import Cache, ObjectGraph
from .object_graph import gather_initializers as gather_initializers
from .object_graph import list_objects as list_objects
from .object_restore import NameBasedRestore, Restore, next_uid
from .object_saver import MultiDeviceSaver
from .python_state import NoRestoreSaveable
from .tracking import AutoTrackable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.session.session import BaseSession
    from ...engine.types.dtypes import DType
    from ...ops.state.variables import Variable


class TrackableSaver:
    """Saves and restores an object and all below it; ops are made once and used again."""

    def __init__(self, root: object, dependencies: Callable[[Any], Any] | None = None) -> None:
        """root: an object, or a weak reference to one that has this saver.

        dependencies: what lists those of an object, if not the object itself.
        """
        self._root = root
        self._dependencies = dependencies
        self._cache: Cache = Cache()
        self._prefix: Any = None
        self._text: Any = None
        self._saved: Any = None
        self._save_op: Any = None
        self._restore_prefix: Any = None
        self._restore_ops: dict[str, Any] = {}

    @property
    def root(self) -> Any:
        """The object."""
        return self._root() if isinstance(self._root, weakref.ref) else self._root

    def save(
        self,
        file_prefix: str,
        checkpoint_number: int | None = None,
        session: BaseSession | None = None,
    ) -> str:
        """Writes a checkpoint; returns its prefix."""
        from ...io import files

        prefix = path_to_str(file_prefix)
        if checkpoint_number:
            prefix = f"{prefix}-{checkpoint_number:d}"
        if self._text is None:
            with device("/cpu:0"):
                # Constants that are fed: the prefix and the objects' description differ from save
                # to save.
                self._text = tf.constant("", dtype=dtypes.string)
                self._prefix = tf.constant("", dtype=dtypes.string)
        folder = os.path.dirname(prefix)
        if folder:
            files.recursive_create_dir(folder)
        graph = ObjectGraph(self.root, self._dependencies)
        saveables, feeds = graph.gather(self._cache)
        feeds[self._text] = graph.message.SerializeToString()
        # The op is made anew only when the objects have changed: a training loop that saves must
        # not grow the graph.
        if self._saved != graph.message:
            saver = MultiDeviceSaver(
                [*saveables, NoRestoreSaveable(self._text, OBJECT_GRAPH_PROTO_KEY)]
            )
            with control_dependencies([saver.save(self._prefix)]), device("/cpu:0"):
                self._save_op = tf.identity(self._prefix)
            self._saved = graph.message
        return as_text(get_session(session).run(self._save_op, {**feeds, self._prefix: prefix}))

    def restore(self, save_path: Any) -> Any:
        """Matches objects with a checkpoint; what is returned restores them."""
        from ...io.checkpoint_reader import new_checkpoint_reader

        if save_path is None:
            return InitializationOnlyStatus(self.root, next_uid())
        path = path_to_str(save_path)
        try:
            text = new_checkpoint_reader(path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
        except NotFoundError:
            reader = new_checkpoint_reader(path)  # Fails again if there is no checkpoint.
            del reader
            return NameBasedSaverStatus(NameBasedRestore(path), self.root)
        if self._restore_prefix is None:
            with device("/cpu:0"):
                self._restore_prefix = tf.constant("model")
        message = protos.TrackableObjectGraph.FromString(text)
        checkpoint = Restore(message, path, self._restore_prefix, self._restore_ops, self._cache)
        checkpoint.position(0).restore(self.root)
        return CheckpointLoadStatus(checkpoint, self.root, {self._restore_prefix: path})


def saver_with_op_caching(obj: object) -> TrackableSaver:
    """A saver of an object that the object may have itself."""
    return TrackableSaver(weakref.ref(obj))


def frozen_saver(root_trackable: Trackable) -> MultiDeviceSaver:
    """A saver of the objects that are below a root now."""
    return MultiDeviceSaver(ObjectGraph(root_trackable).frozen())


def _is_function(value: object) -> bool:
    """Whether a value is what tf.function makes: SavedModels hold it, checkpoints leave it out."""
    from ...ops.flow.graph_functions import Function

    return isinstance(value, Function)


class Checkpoint(AutoTrackable):
    """A group of objects that are saved together; they are its attributes.

    Variables, optimizers, other checkpoints, templates, and lists and dicts of such can be saved.
    An argument that cannot be raises a ValueError.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        for name, value in sorted(kwargs.items()):
            if not isinstance(value, (Trackable, list, dict)) and not _is_function(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`TrackableBase`), got {value}. If you believe this object should be "
                    "trackable (i.e. it is part of the TensorFlow Python API and manages state), "
                    "please open an issue."
                )
            setattr(self, name, value)
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        self._saver = saver_with_op_caching(self)

    @property
    def save_counter(self) -> Any:
        """The variable that counts calls of `save`."""
        if self._save_counter is None:
            with device("/cpu:0"):
                counter = add_variable(
                    self, "save_counter", initializer=0, dtype=dtypes.int64, trainable=False
                )
            self._save_counter = NoDependency(counter)
        return self._save_counter

    def write(self, file_prefix: str, session: BaseSession | None = None) -> str:
        """Writes a checkpoint under a prefix; does not count it."""
        return self._saver.save(file_prefix, session=session)

    def save(self, file_prefix: str, session: BaseSession | None = None) -> str:
        """Writes a numbered checkpoint and names it in the folder's `checkpoint` file."""
        session = get_session(session)
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            with colocate_with(self.save_counter):
                self._save_assign_op = NoDependency(self.save_counter.assign_add(1))
        prefix = path_to_str(file_prefix)
        path = self.write(f"{prefix}-{int(session.run(self._save_assign_op))}", session)
        update_checkpoint_state_internal(
            save_dir=os.path.dirname(prefix),
            model_checkpoint_path=path,
            all_model_checkpoint_paths=[path],
            save_relative_paths=True,
        )
        return path

    def restore(self, save_path: TensorLike | None) -> Any:
        """Matches the objects with a checkpoint, also of a `tf.train.Saver`; None for none.

        Ops are made, not run: that do `run_restore_ops` and `initialize_or_restore` of what is
        returned.  Objects that become attributes later are matched then.
        """
        status = self._saver.restore(save_path)
        # Made now, to be restored or initialized with the other variables.
        _ = self.save_counter
        return status


CheckpointV1 = Checkpoint


def add_variable(
    trackable: Trackable,
    name: str,
    shape: Any = None,
    dtype: DType = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """Makes a variable that an object depends on."""
    return trackable._add_variable_with_custom_getter(
        name=name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        getter=_default_getter,
        trainable=trainable,
    )


def _default_getter(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    **kwargs: Any,
) -> Variable:
    """A new variable, whatever others have its name."""
    if initializer is None:
        initializer = default_initializer(name, dtypes.as_dtype(dtype))
    is_value = not callable(initializer)
    if is_value and shape is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    value = initializer if is_value else _initial_value(initializer, shape, dtype)
    return tf.Variable(initial_value=value, name=name, dtype=dtype, use_resource=True, **kwargs)


def _initial_value(initializer: Any, shape: Any, dtype: Any) -> Callable[[], Any]:
    maker = initializer(dtype=dtype) if isinstance(initializer, type) else initializer
    return lambda: maker(tf.TensorShape(shape).as_list(), dtype=dtype, partition_info=None)


def object_metadata(save_path: str) -> Any:
    """The TrackableObjectGraph of a checkpoint; ValueError if it has none."""
    from ...io.checkpoint_reader import new_checkpoint_reader

    try:
        text = new_checkpoint_reader(save_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
    except NotFoundError:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is '
            f'missing the key "{OBJECT_GRAPH_PROTO_KEY}"). Likely it was created with a name-based '
            "saver and does not contain an object dependency graph."
        ) from None
    return protos.TrackableObjectGraph.FromString(text)
