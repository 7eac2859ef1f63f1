# SPDX-License-Identifier: Apache-2.0
"""Writes SavedModels: `tf.saved_model.Builder` and `simple_save`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...engine import compat
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.interface.log import get_logger
from ...io import files, protos
from ...io.graph_def import write_atomically
from ...io.text_form import text_of
from ..checkpoints.meta_graph import all_saveable_objects
from ..checkpoints.saver import Saver
from . import names
from .assets import note_in_collection, note_in_meta_graph, save_assets
from .folder import get_or_create_variables_dir, get_variables_path
from .signatures import op_signature_def, predict_signature_def

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession


class _SavedModelBuilder:
    """What both builders share; itself, it notes assets and operations in the MetaGraphDef."""

    def __init__(self, export_dir: str) -> None:
        self._export_dir = compat.as_text(export_dir)
        self._saved_model = protos.SavedModel(
            saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION
        )
        self._has_saved_variables = False
        if not files.file_exists(self._export_dir):
            files.recursive_create_dir(self._export_dir)
        # What is left of another model would be taken for this one's.
        elif files.list_directory(self._export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                "export directory, or delete all the contents of the specified directory: "
                f"{self._export_dir}"
            )

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_list: Iterable[Any] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        saver: object = None,
    ) -> None:
        """Adds the default graph; its variables are those of the graph added first."""
        self._require_variables()
        signatures = self._with_ops(signature_def_map, init_op, train_op)
        message = self._saver(saver).export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=True
        )
        save_assets(self._export_dir, assets_list, note_in_meta_graph(message))
        self._add(message, tags, signatures)

    def add_meta_graph_and_variables(
        self,
        sess: BaseSession,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_list: Iterable[Any] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        strip_default_attrs: bool = False,
        saver: object = None,
    ) -> None:
        """Adds the default graph and saves the values that its variables have in the session."""
        self._refuse_variables()
        signatures = self._with_ops(signature_def_map, init_op, train_op)
        message = self._save_variables(sess, saver, clear_devices, strip_default_attrs)
        save_assets(self._export_dir, assets_list, note_in_meta_graph(message))
        self._add(message, tags, signatures)
        self._has_saved_variables = True

    def save(self, as_text: bool = False) -> bytes:
        """Writes `saved_model.pb`, or `saved_model.pbtxt`; returns its path."""
        if as_text:
            name = names.SAVED_MODEL_FILENAME_PBTXT
            content = text_of(self._saved_model)
        else:
            name = names.SAVED_MODEL_FILENAME_PB
            content = self._saved_model.SerializeToString()
        path = os.path.join(self._export_dir, name)
        write_atomically(path, content)
        get_logger().info("SavedModel written to: %s", path)
        return path.encode()

    # What the public methods are made of

    def _require_variables(self) -> None:
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )

    def _refuse_variables(self) -> None:
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )

    def _with_ops(
        self, signatures: Mapping[str, Any] | None, init_op: Operation, train_op: Tensor
    ) -> dict[str, Any]:
        """The signatures, and those that name the operations."""
        result = _checked_signatures(signatures)
        for op, key in (
            (init_op, names.INIT_OP_SIGNATURE_KEY),
            (train_op, names.TRAIN_OP_SIGNATURE_KEY),
        ):
            if op is not None:
                result[key] = op_signature_def(op, key)
        return result

    def _saver(self, saver: object) -> Any:
        """The given saver, or one of its own for all variables."""
        if saver:
            return saver
        # Not one of the graph's savers, which may leave variables out.
        return Saver(all_saveable_objects(), sharded=True, allow_empty=True)

    def _save_variables(
        self, sess: BaseSession, saver: Any, clear_devices: bool, strip_default_attrs: bool
    ) -> Any:
        """Writes the variables; the MetaGraphDef with the saver that restores them."""
        get_or_create_variables_dir(self._export_dir)
        saver = self._saver(saver)
        path = get_variables_path(self._export_dir)
        # The graph is in the SavedModel itself, and the folder is no series of checkpoints.
        saver.save(sess, path, write_meta_graph=False, write_state=False)
        return saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )

    def _add(self, message: Any, tags: Iterable[str], signatures: Mapping[str, Any]) -> None:
        message.meta_info_def.tags.extend(tags)
        for key, signature in signatures.items():
            message.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.append(message)


def _checked_signatures(signatures: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of the map of signatures.

    Raises:
      AssertionError: A TensorInfo lacks its name or dtype.
      KeyError: A key is one that the loader keeps for itself.
    """
    result = dict(signatures or {})
    for signature in result.values():
        for infos in (signature.inputs, signature.outputs):
            for info in infos.values():
                _check_tensor_info(info)
    for key, purpose in (
        (names.INIT_OP_SIGNATURE_KEY, "initialization"),
        (names.TRAIN_OP_SIGNATURE_KEY, "the train op"),
    ):
        if key in result:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {purpose}. Please use a different '
                "key."
            )
    return result


def _check_tensor_info(info: Any) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' "
            f"fields (e.g., name or coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_tensor_info(component)
    elif info.dtype == protos.DT_INVALID:
        raise AssertionError(
            f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}"
        )


class SavedModelBuilder(_SavedModelBuilder):
    """Writes a SavedModel to a new or empty folder (`tf.saved_model.Builder`).

        builder = tf.saved_model.Builder(folder)
        with tf.Session() as session:
            ...
            builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()

    The first graph is added with the variables; further graphs share them and the assets.

    Args:
      export_dir: The folder.

    Raises:
      AssertionError: The folder is there and holds something.
    """

    def add_meta_graph(  # type: ignore[override]
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: object = None,
        clear_devices: bool = False,
        main_op: object = None,
        strip_default_attrs: bool = False,
        saver: int | None = None,
    ) -> None:
        """Adds the default graph, whose variables are those of the graph added first.

        Args:
          tags: What to find the graph by.
          signature_def_map: SignatureDefs by name.
          assets_collection: String constants that name files to copy to the model's folder.
          legacy_init_op: The old name of `main_op`.
          clear_devices: Whether to forget the devices of the nodes.
          main_op: An operation to run once the variables are restored.
          strip_default_attrs: Whether to leave out attributes that have their default.
          saver: What saves and restores the variables; a sharded saver of all unless given.

        Raises:
          AssertionError: No graph was added with the variables yet.
          TypeError: An operation or asset is of another type.
          ValueError: The graph has a main operation already.
        """
        self._require_variables()
        signatures = _checked_signatures(signature_def_map)
        self._note(assets_collection, main_op or legacy_init_op)
        message = self._saver(saver).export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        self._add(message, tags, signatures)

    def add_meta_graph_and_variables(  # type: ignore[override]
        self,
        sess: BaseSession,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: object = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: int | None = None,
    ) -> None:
        """Adds the default graph and saves the values that its variables have in `sess`.

        The other arguments are those of `add_meta_graph`.

        Raises:
          AssertionError: Variables were saved before.
          TypeError: An operation or asset is of another type.
          ValueError: The graph has a main operation already.
        """
        self._refuse_variables()
        signatures = _checked_signatures(signature_def_map)
        self._note(assets_collection, main_op or legacy_init_op)
        message = self._save_variables(sess, saver, clear_devices, strip_default_attrs)
        self._add(message, tags, signatures)
        self._has_saved_variables = True

    def _note(self, assets: Iterable[Any] | None, main_op: object) -> None:
        """Notes assets and the main operation in collections of the graph."""
        save_assets(self._export_dir, assets, note_in_collection)
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
        # A loader takes the one member of the first collection that there is.
        for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
            if get_collection(key):
                raise ValueError(
                    f"Graph already contains one or more main ops under the collection {key}."
                )
        add_to_collection(names.MAIN_OP_KEY, main_op)

    def _add_train_op(self, train_op: Tensor | None) -> None:
        """Notes an operation that trains; it is not run when the model is loaded."""
        if train_op is None:
            return
        if not isinstance(train_op, (Tensor, Operation)):
            raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
        add_to_collection(names.TRAIN_OP_KEY, train_op)


def simple_save(
    session: BaseSession,
    export_dir: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Writes the session's graph and variables for serving (`tf.saved_model.simple_save`).

    Args:
      session: The session with the variables.
      export_dir: A new or empty folder.
      inputs: Tensors by name.
      outputs: Tensors by name.
      legacy_init_op: An operation to run once the variables are restored.

    Raises:
      AssertionError: The folder holds something already.
      ValueError: There are no inputs or no outputs.
    """
    key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    signatures = {key: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[names.SERVING],
        signature_def_map=signatures,
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
