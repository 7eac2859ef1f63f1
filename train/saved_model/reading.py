# SPDX-License-Identifier: Apache-2.0
"""Loads SavedModels into sessions: `tf.saved_model.load`."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.compat import as_text
from ...engine.graph import trust
from ...engine.graph.collections import get_collection
from ...engine.graph.graph import Graph
from ...engine.interface.log import get_logger
from ...engine.types import dtypes
from ...io import files, protos
from ..checkpoints.meta_graph import all_saveable_objects, import_meta_graph_with_return_elements
from ..checkpoints.saver import Saver
from . import names
from .assets import get_asset_tensors
from .folder import get_variables_path
from .signatures import load_op_from_signature_def

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession


def parse_saved_model(export_dir: str) -> Any:
    """The SavedModel message of a folder, binary or text.

    Raises:
      IOError: There is none, or it cannot be read.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    folder = as_text(export_dir)
    binary = os.path.join(folder, names.SAVED_MODEL_FILENAME_PB)
    text = os.path.join(folder, names.SAVED_MODEL_FILENAME_PBTXT)
    if files.file_exists(binary):
        try:
            return protos.SavedModel.FromString(files.read_file_to_string(binary, True))
        except DecodeError as error:
            raise OSError(f"Cannot parse file {binary}: {error}.") from None
    if files.file_exists(text):
        content = files.read_file_to_string(text, True).decode("utf-8")
        try:
            return text_format.Merge(content, protos.SavedModel())
        except text_format.ParseError as error:
            raise OSError(f"Cannot parse file {text}: {error}.") from None
    raise OSError(
        f"SavedModel file does not exist at: {folder}/{{{names.SAVED_MODEL_FILENAME_PBTXT}|"
        f"{names.SAVED_MODEL_FILENAME_PB}}}"
    )


def maybe_saved_model_directory(export_dir: str) -> bool:
    """Whether a folder has the file of a SavedModel, binary or text (`tf.saved_model`)."""
    return any(
        files.file_exists(os.path.join(as_text(export_dir), name))
        for name in (names.SAVED_MODEL_FILENAME_PBTXT, names.SAVED_MODEL_FILENAME_PB)
    )


def load(
    sess: BaseSession,
    tags: Collection[str],
    export_dir: str,
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:
    """Loads a SavedModel into a session (`tf.saved_model.load`, of TensorFlow 1.15).

    The graph is added to the session's, variables are restored, and the operation that the model
    names for this is run with the paths of the assets.

    Args:
      sess: The session.
      tags: All tags of the wanted graph.
      export_dir: The model's folder.
      import_scope: A scope for the names of the graph.
      **saver_kwargs: For `tf.train.import_meta_graph`.

    Returns:
      The MetaGraphDef, whose `signature_def` names inputs and outputs (without the scope).

    Raises:
      IOError: The folder holds no SavedModel.
      RuntimeError: The model has no graph with these tags.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """A SavedModel that was read, and the steps of loading it.

    Args:
      export_dir: The model's folder.

    Raises:
      IOError: The folder holds no SavedModel.
    """

    def __init__(self, export_dir: str) -> None:
        self._export_dir = export_dir
        self._variables_path = get_variables_path(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> Any:
        """The model's folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint with the variables."""
        return self._variables_path

    @property
    def saved_model(self) -> Any:
        """The SavedModel message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Collection[str]) -> Any:
        """The MetaGraphDef with exactly these tags; RuntimeError when there is none."""
        for message in self._saved_model.meta_graphs:
            # All tags, and no others: a model may hold one graph for "serve" and another for
            # "serve, gpu".
            if set(message.meta_info_def.tags) == set(tags):
                return message
        available = [set(message.meta_info_def.tags) for message in self._saved_model.meta_graphs]
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in "
            "SavedModel. To inspect available tag-sets in the SavedModel, please use the "
            f"SavedModel CLI: `saved_model_cli`\navailable_tags: {available}"
        )

    def load_graph(
        self,
        graph: Graph,
        tags: Collection[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Any, Any]:
        """Adds a graph of the model to `graph`; its saver, and elements that were asked for."""
        message = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default(), trust.importing_from(self._export_dir):
            return import_meta_graph_with_return_elements(
                message, import_scope=import_scope, **saver_kwargs
            )

    def restore_variables(
        self, sess: BaseSession, saver: Saver, import_scope: str | None = None
    ) -> None:
        """Restores the variables; ValueError without a saver when there are some."""
        with sess.graph.as_default():
            if saver is None and not all_saveable_objects(scope=import_scope):
                get_logger().info(
                    "The specified SavedModel has no variables; no checkpoints were restored."
                )
            elif isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are variables in the graph, "
                    "a saver is required."
                )

    def run_init_ops(
        self, sess: BaseSession, tags: Collection[str], import_scope: str | None = None
    ) -> None:
        """Runs the operation that the graph names for its initialization, if it names one."""
        message = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = get_asset_tensors(self._export_dir, message, import_scope)
            _require_texts(sess.graph, assets)
            init_op = get_init_op(message, import_scope)
            if init_op is not None:
                sess.run([init_op], feed_dict=assets)

    def load(
        self,
        sess: BaseSession,
        tags: Collection[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> Any:
        """All steps; see `tf.saved_model.load`."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            # In this order: the graph's own operation may need the variables' values, such as for
            # tables.
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def _require_texts(graph: Graph, assets: Collection[str]) -> None:
    """InvalidArgumentError for assets of a model that are no texts of its graph."""
    for name in assets:
        try:
            tensor = graph.as_graph_element(name, allow_operation=False)
        except (KeyError, ValueError) as error:
            reason = error.args[0]
        else:
            if tensor.dtype.base_dtype == dtypes.string:
                continue
            reason = f"it is of type {tensor.dtype.name}, where paths are strings"
        raise errors.invalid(f"The SavedModel names '{name}' as the path of an asset: {reason}")


def get_init_op(meta_graph_def: object, import_scope: str | None = None) -> Any:
    """The operation of the default graph to run once the variables are restored, or None."""
    return (
        _from_signature(meta_graph_def, names.INIT_OP_SIGNATURE_KEY, import_scope)
        or _from_collection(meta_graph_def, names.MAIN_OP_KEY)
        or _from_collection(meta_graph_def, names.LEGACY_INIT_OP_KEY)
    )


def get_train_op(meta_graph_def: object, import_scope: str | None = None) -> Any:
    """The operation or tensor of the default graph that trains the model, or None."""
    train_op = _from_signature(meta_graph_def, names.TRAIN_OP_SIGNATURE_KEY, import_scope)
    if train_op is None:
        train_op = _from_collection(meta_graph_def, names.TRAIN_OP_KEY)
    return train_op


def _from_signature(message: Any, key: str, import_scope: str | None) -> Any:
    if key not in message.signature_def:
        return None
    return load_op_from_signature_def(message.signature_def[key], key, import_scope)


def _from_collection(message: Any, key: str) -> Any:
    """The one member of a collection, which the import restored; RuntimeError for several."""
    if key not in message.collection_def:
        return None
    found = message.collection_def[key].node_list.value
    if len(found) != 1:
        raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {found}")
    return get_collection(key)[0]
