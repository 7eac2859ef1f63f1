# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Saver`: writes checkpoints of a session's variables, keeps the last ones, restores."""

from __future__ import annotations

import numbers
import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.compat import as_text, path_to_str
from ...engine.graph import trust
from ...engine.graph.collections import (
    GraphKeys,
    add_to_collection,
    get_collection,
    register_proto_function,
)
from ...engine.graph.graph import get_default_graph
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.hints import hinted
from ...engine.interface import log
from ...engine.tracebacks import shorten
from ...io import protos
from ..variables import global_step as step_of
from . import checkpoint_management
from .checkpoint_management import (  # noqa: F401  names that programs expect here
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from .meta_graph import all_saveable_objects, export_meta_graph, import_meta_graph  # noqa: F401
from .meta_graph import (
    import_meta_graph_with_return_elements as _import_meta_graph_with_return_elements,  # noqa: F401
)
from .saver_builder import V2, BaseSaverBuilder, BulkSaverBuilder  # noqa: F401

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.session.session import BaseSession

_DEFERRED = (
    "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
    "var_list=None."
)
_OLD_FORMAT = (
    "*******************************************************",
    "TensorFlow's V1 checkpoint format has been deprecated.",
    "Consider switching to the more efficient V2 format:",
    "   `tf.train.Saver(write_version=tf.train.SaverDef.V2)`",
    "now on by default.",
    "*******************************************************",
)


def _get_saver_or_default() -> Saver:
    """The saver in the SAVERS collection; a new one for all variables if there is none."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to "
            "use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver


@export("train.Saver")
class Saver:
    """Saves variables in checkpoints and restores them; deletes old checkpoints.

    Args:
        var_list: a list of Variables, or a dict of them by the names in checkpoints; all that
            can be saved by default.
        reshape: whether variables are restored from other shapes with as many elements.
        sharded: whether every device has a file of its own.
        max_to_keep: how many checkpoints are kept; None or 0 for all.
        keep_checkpoint_every_n_hours: one per so many hours is kept besides.
        name: the scope of the operations.
        restore_sequentially: whether devices restore variables one after the other.
        saver_def: a SaverDef, for operations that are in the graph already.
        builder: what makes the operations.
        defer_build: whether that waits for `build`.
        allow_empty: whether there may be nothing to save.
        write_version: tf.train.SaverDef.V2 or V1.
        pad_step_number: whether steps in file names have eight digits.
        save_relative_paths: whether paths in the file `checkpoint` are relative.
        filename: the prefix that operations use if they are not told one.

    Raises:
        ValueError: there is nothing to save, two variables have one name, or `defer_build` comes
            with variables.
        TypeError: `var_list` holds something else.

    Example:
        >>> v = tf.Variable(1.0)
        >>> saver, sess = tf.train.Saver(), tf.Session()
        >>> sess.run(v.initializer)
        >>> path = saver.save(sess, "./model.ckpt", global_step=7)
        >>> saver.restore(tf.Session(), path)
        >>> path
        './model.ckpt-7'
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(_DEFERRED)
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty: bool | None = None
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._filename = filename
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = 0.0
        if not defer_build:
            self.build()
        if self.saver_def:
            self._check_saver_def()
            self._write_version = self.saver_def.version
        self._save_relative_paths = save_relative_paths
        # Reads checkpoints that object-based savers wrote.
        self._object_restore_saver: Any = None

    def build(self) -> None:
        """Adds the ops to the default graph, unless they are there."""
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def:
            if not self._build_ops():
                return
        elif self._name:
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                name = prepend_name_scope(getattr(self.saver_def, field), self._name)
                setattr(self.saver_def, field, name)
        self._check_saver_def()
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_checkpoint_time = time.time() + hours * 3600

    def _build_ops(self) -> bool:
        """Whether there was something to save."""
        if self._builder is None:
            self._builder = BulkSaverBuilder(self._write_version)
        if self._var_list is None:
            self._var_list = all_saveable_objects()
        if not self._var_list:
            if not self._allow_empty:
                raise hinted(ValueError, "No variables to save")
            self._is_empty = True
            return False
        self._is_empty = False
        self.saver_def = self._builder._build_internal(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            name=self._name,
            restore_sequentially=self._restore_sequentially,
            filename=self._filename,
            build_save=True,
            build_restore=True,
        )
        return True

    def _check_saver_def(self) -> None:
        if not isinstance(self.saver_def, protos.SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")

    def _CheckpointFilename(self, p: tuple[str, float]) -> str:  # noqa: N802 - TensorFlow's name
        return p[0]

    def _RecordLastCheckpoint(self, latest_save_path: str) -> None:  # noqa: N802
        """Notes a new checkpoint, and the oldest one beyond the limit for deletion."""
        if not self.saver_def.max_to_keep:
            return
        # A checkpoint that is written again becomes the newest.
        kept = [p for p in self._last_checkpoints if p[0] != latest_save_path]
        self._last_checkpoints = [*kept, (latest_save_path, time.time())]
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _MaybeDeleteOldCheckpoints(self, meta_graph_suffix: str = "meta") -> None:  # noqa: N802
        """Deletes the oldest noted checkpoint, unless it is one to keep for its hours."""
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        # The first checkpoint after each period is kept for good.
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            checkpoint_management.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except Exception as error:
            log.warning("Ignoring: %s", error)

    def as_saver_def(self) -> Any:
        """The SaverDef, which names the ops."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef without a scope; None when the ops lie outside of it."""
        if export_scope is None:
            return self.saver_def
        fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
        if not all(getattr(self.saver_def, field).startswith(export_scope) for field in fields):
            return None
        message = protos.SaverDef()
        message.CopyFrom(self.saver_def)
        for field in fields:
            setattr(message, field, strip_name_scope(getattr(message, field), export_scope))
        return message

    @staticmethod
    def from_proto(saver_def: object, import_scope: str | None = None) -> Saver:
        """The saver that a SaverDef describes."""
        return Saver(saver_def=saver_def, name=import_scope)

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are not deleted, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Sets the list of checkpoints, none of which will be deleted for its age."""
        assert isinstance(last_checkpoints, list)
        # At infinity they are after the end of every period: one to keep.
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Sets the list of checkpoints and when they were written."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Sets the list of checkpoints to those of the given ones that exist."""
        found = []
        for path in checkpoint_paths:
            times = checkpoint_management.get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self.set_last_checkpoints_with_time(found)

    def save(
        self,
        sess: BaseSession,
        save_path: Any,
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint, and the graph beside it.

        Args:
            sess: a Session in which the variables have values.
            save_path: the beginning of the files' names; their folder is made if it is missing.
            global_step: is put behind that: a number, or a Tensor or Variable with one.
            latest_filename: the file that says which checkpoint is the last; "checkpoint" if None.
            meta_graph_suffix: the ending of the graph's file.
            write_meta_graph: whether there is one.
            write_state: whether `latest_filename` is written, and old checkpoints are deleted.
            strip_default_attrs: whether attributes of the graph that are defaults are left out.
            save_debug_info: whether the lines of the program that made operations are kept, too.

        Returns:
            The prefix of the checkpoint, for `restore`; None if there was nothing to save.

        Raises:
            RuntimeError: `build` was deferred and not called.
            TypeError: `sess` is no Session.
            ValueError: `latest_filename` is in a folder of its own, or is `save_path`.
            FailedPreconditionError: a variable has no value.

        Example:
            >>> v, sess = tf.Variable(1.0), tf.Session()
            >>> sess.run(v.initializer)
            >>> tf.train.Saver().save(sess, "./model.ckpt", global_step=7)
            './model.ckpt-7'
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        save_path = path_to_str(save_path)
        latest_filename = "checkpoint" if latest_filename is None else latest_filename
        if self._write_version != V2:
            for line in _OLD_FORMAT:
                log.warning(line)
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        checkpoint_file = self._numbered(sess, save_path, global_step, latest_filename)
        if not hasattr(sess, "run") or not hasattr(sess, "graph"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        written = None
        if not self._is_empty:
            written = self._write(sess, save_path, checkpoint_file)
        if write_meta_graph:
            name = checkpoint_management.meta_graph_filename(checkpoint_file, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(
                    name,
                    strip_default_attrs=strip_default_attrs,
                    save_debug_info=save_debug_info,
                )
        # Only now that everything is there is the checkpoint the newest.
        if written is not None and write_state:
            self._record(written, os.path.dirname(save_path), latest_filename)
            self._MaybeDeleteOldCheckpoints(meta_graph_suffix=meta_graph_suffix)
        return written

    def _numbered(
        self,
        sess: BaseSession,
        save_path: str,
        global_step: TensorLike | None,
        latest_filename: str,
    ) -> str:
        """The prefix of the checkpoint, with the step in it."""
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                    f"'{save_path}'"
                )
            return save_path
        if not isinstance(global_step, (numbers.Integral, np.integer)):
            global_step = step_of.global_step(sess, global_step)
        width = 8 if self._pad_step_number else 1
        return f"{save_path}-{int(global_step):0{width}d}"

    def _write(self, sess: BaseSession, save_path: str, checkpoint_file: str) -> str:
        """Runs the op that saves; the prefix that it wrote."""
        feed = {self.saver_def.filename_tensor_name: checkpoint_file}
        try:
            with trust.permitting_checkpoint(checkpoint_file, is_written=True):
                written = as_text(sess.run(self.saver_def.save_tensor_name, feed))
            self._require_own(sess, written, checkpoint_file)
            return written
        # A folder that is missing shows only when the op runs; other causes keep their error.
        except (errors.FailedPreconditionError, errors.NotFoundError):
            from ...io import files

            if files.is_directory(os.path.dirname(save_path) or "."):
                raise
            raise ValueError(
                f"Parent directory of {save_path} doesn't exist, can't save."
            ) from None

    def _require_own(self, sess: BaseSession, written: str, checkpoint_file: str) -> None:
        """A graph from outside may not name other files: they are deleted as old checkpoints."""
        tensor = sess.graph.as_graph_element(self.saver_def.save_tensor_name)
        op = getattr(tensor, "op", tensor)
        if trust.permitted_to(op) is not None and not written.startswith(checkpoint_file):
            raise errors.PermissionDeniedError(
                None,
                op,
                f"The graph, which is from outside, was asked to write {checkpoint_file} and says "
                f"that it wrote {written}. Save with a tf.train.Saver() of your own.",
            )

    def _record(self, written: str, folder: str, latest_filename: str) -> None:
        """Names a checkpoint in the state file."""
        self._RecordLastCheckpoint(written)
        checkpoint_management.update_checkpoint_state_internal(
            save_dir=folder,
            model_checkpoint_path=written,
            all_model_checkpoint_paths=self.last_checkpoints,
            latest_filename=latest_filename,
            save_relative_paths=self._save_relative_paths,
        )

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: object = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The MetaGraphDef of the default graph with this saver."""
        return export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    def restore(self, sess: BaseSession, save_path: str | None) -> None:
        """Gives the variables the values that they have in a checkpoint; they need no initializer.

        Args:
            sess: a Session.
            save_path: what `save` returned, or tf.train.latest_checkpoint.

        Raises:
            ValueError: there is no such checkpoint.
            NotFoundError: it lacks a variable.
            InvalidArgumentError: a variable has another shape or dtype there.

        Example:
            >>> v, saver, sess = tf.Variable(1.0), tf.train.Saver(), tf.Session()
            >>> sess.run(v.initializer)
            >>> path = saver.save(sess, "./model.ckpt")
            >>> sess.run(v.assign(5.0))
            np.float32(5.0)
            >>> saver.restore(sess, path)
            >>> sess.run(v)
            np.float32(1.0)
        """
        try:
            self._restore(sess, save_path)
        except Exception as error:
            shorten(error)
            raise

    def _restore(self, sess: BaseSession, save_path: Any) -> None:
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = as_text(path_to_str(save_path))
        if not checkpoint_management.checkpoint_exists_internal(prefix):
            from ...io.checkpoint_reader import nearest_checkpoints

            raise ValueError(
                f"The passed save_path is not a valid checkpoint: {prefix}"
                f"{nearest_checkpoints(prefix)}"
            )
        log.info("Restoring parameters from %s", prefix)
        feed = {self.saver_def.filename_tensor_name: prefix}
        try:
            with trust.permitting_checkpoint(save_path):
                sess.run(self.saver_def.restore_op_name, feed)
        except errors.NotFoundError as error:
            self._restore_objects(sess, prefix, error)
        except errors.InvalidArgumentError as error:
            raise _explained(error, "a mismatch between the current graph and the graph") from None

    def _restore_objects(self, sess: BaseSession, prefix: str, error: errors.OpError) -> None:
        """Second try: the checkpoint may be one that names objects rather than variables."""
        from ..objects.object_checkpoint import (
            object_graph_key_mapping,
            saver_from_object_based_checkpoint,
        )

        try:
            names_to_keys = object_graph_key_mapping(prefix)
        except errors.NotFoundError:
            raise _explained(error, "a Variable name or other graph key that is missing") from None
        log.warning(
            "Restoring an object-based checkpoint using a name-based saver. This may be somewhat "
            "fragile, and will re-build the Saver. Instead, consider loading object-based "
            "checkpoints using tf.train.Checkpoint()."
        )
        self._object_restore_saver = saver_from_object_based_checkpoint(
            checkpoint_path=prefix,
            var_list=self._var_list,
            builder=self._builder,
            names_to_keys=names_to_keys,
            cached_saver=self._object_restore_saver,
        )
        self._object_restore_saver.restore(sess=sess, save_path=prefix)

    @staticmethod
    def _add_collection_def(
        meta_graph_def: object, key: str, export_scope: str | None = None
    ) -> None:
        """Adds a collection of the default graph to a MetaGraphDef."""
        from ...io.meta_graph import add_collection_def

        add_collection_def(meta_graph_def, key, export_scope=export_scope)


def _explained(error: Any, reason: str) -> errors.OpError:
    """An error of restoring that says what is likely behind it."""
    text = (
        f"Restoring from checkpoint failed. This is most likely due to {reason} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error.message}"
    )
    return type(error)(error.node_def, error.op, text)


def _saver_def() -> Any:
    return protos.SaverDef()


register_proto_function(GraphKeys.SAVERS, _saver_def, Saver.to_proto, Saver.from_proto)
