# SPDX-License-Identifier: Apache-2.0
"""Writes a graph, its variables and its assets into a folder named by the step: `Exporter`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ....engine.compat import as_bytes, as_text
from ....engine.graph.collections import add_to_collection
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....engine.types import dtypes
from ....io import files, protos
from ...checkpoints.saver import Saver
from ...variables.global_step import global_step
from ..learn.utils import gc
from . import constants


def gfile_copy_callback(files_to_copy: Mapping[Any, Any], export_dir_path: str | bytes) -> None:
    """Copies files into a folder, over those that are there.

    Args:
        files_to_copy: path -> the name in the folder.
        export_dir_path: the folder, which is made.
    """
    folder = as_text(export_dir_path)
    log.info("Write assets into: %s using gfile_copy.", folder)
    files.recursive_create_dir(folder)
    for source, name in files_to_copy.items():
        files.copy(as_text(source), os.path.join(folder, as_text(name)), overwrite=True)


def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Any:
    """The Signature message of a graph that takes examples and gives numbers."""
    signature = protos.Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(
    input_tensor: Tensor,
    classes_tensor: Tensor | None = None,
    scores_tensor: Tensor | None = None,
) -> Any:
    """The Signature message of a graph that takes examples and gives classes, scores or both."""
    signature = protos.Signature()
    classification = signature.classification_signature
    classification.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        classification.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        classification.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map: Mapping[str, Any]) -> Any:
    """The Signature message that gives tensors names."""
    signature = protos.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """Writes exports; `init` says what goes into them, `export` writes one.

    Args:
        saver: a Saver; exports delete old ones themselves, so that its own limit does not count.

    Example:
        >>> x = tf.placeholder(tf.float32, [], name="x")
        >>> y = tf.multiply(tf.Variable(2.0), x, name="y")
        >>> from numbaflow.train.contrib.session_bundle import exporter, session_bundle
        >>> export = exporter.Exporter(tf.train.Saver())
        >>> export.init(default_graph_signature=exporter.regression_signature(x, y))
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     folder = export.export(tempfile.mkdtemp(), tf.constant(7), sess)
        >>> os.path.basename(folder)
        b'00000007'
        >>> sess, _ = session_bundle.load_session_bundle_from_path(folder.decode())
        >>> float(sess.run("y:0", {"x:0": 3.0}))
        6.0
    """

    def __init__(self, saver: Saver) -> None:
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy: dict[Any, Any] = {}
        self._assets_callback: Callable[[Any, Any], None] | None = None

    def init(
        self,
        graph_def: Any = None,
        init_op: Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        assets_callback: Callable[[Any, Any], None] | None = gfile_copy_callback,
    ) -> None:
        """Notes in the default graph's collections what exports say.

        Args:
            graph_def: the graph that serves; the default graph if None.
            init_op: the operation to run when an export is loaded.
            clear_devices: whether the graph is written without devices.
            default_graph_signature: a Signature message.
            named_graph_signatures: name -> Signature message.
            assets_collection: constants with paths of files that are copied.
            assets_callback: what copies them: called with path -> name, and the folder.

        Raises:
            RuntimeError: it was called before.
            TypeError: `init_op` is no operation, or an asset no constant with one path.
            ValueError: the path of an asset is empty.
        """
        assets = []
        for tensor in assets_collection or ():
            path = _file_path_value(tensor)
            if not path:
                raise ValueError(f"invalid asset filepath tensor {tensor}")
            assets.append((os.path.basename(path), tensor))
            self._assets_to_copy[path] = os.path.basename(path)
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            _note_graph(graph_def, clear_devices)
        if init_op:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = protos.Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _note(constants.SIGNATURES_KEY, signatures)
        for file, tensor in assets:
            asset = protos.AssetFile(filename=file)
            asset.tensor_binding.tensor_name = tensor.name
            _note(constants.ASSETS_KEY, asset)
        self._assets_callback = assets_callback

    def export(
        self,
        export_dir_base: str,
        global_step_tensor: Any,
        sess: Any = None,
        exports_to_keep: Callable[[list[gc.Path]], list[gc.Path]] | None = None,
    ) -> bytes:
        """Writes an export beside its folder, which gets its name when all is there.

        Args:
            export_dir_base: the folder in which the export's is made.
            global_step_tensor: the tensor, or its name, whose value names the folder.
            sess: the session with the variables.
            exports_to_keep: which exports stay, a function such as `gc.largest_export_versions(5)`
                gives; all do if None.

        Returns:
            The path of the export's folder, as bytes.

        Raises:
            RuntimeError: `init` was not called, or the folder is there.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = as_text(export_dir_base).removesuffix("/")
        step = global_step(sess, global_step_tensor)
        folder = os.path.join(base, constants.VERSION_FORMAT_SPECIFIER % step)
        if files.file_exists(folder):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export "
                f"dir: {as_bytes(folder)!r}"
            )
        temporary = f"{folder}-tmp"
        files.recursive_create_dir(temporary)
        self._saver.save(
            sess,
            os.path.join(temporary, constants.EXPORT_BASE_NAME),
            meta_graph_suffix=constants.EXPORT_SUFFIX_NAME,
        )
        if self._assets_callback and self._assets_to_copy:
            assets = os.path.join(temporary, constants.ASSETS_DIRECTORY)
            files.recursive_create_dir(assets)
            self._assets_callback(self._assets_to_copy, as_bytes(assets))
        files.rename(temporary, folder)
        if exports_to_keep:
            _delete_others(base, exports_to_keep)
        return as_bytes(folder)


def _note_graph(graph_def: Any, clear_devices: bool) -> None:
    copy = protos.GraphDef()
    copy.CopyFrom(graph_def or get_default_graph().as_graph_def())
    if clear_devices:
        for node in copy.node:
            node.device = ""
    _note(constants.GRAPH_KEY, copy)


def _note(key: str, message: Any) -> None:
    """Adds a message to a collection, as one that says of what kind it is."""
    from google.protobuf.any_pb2 import Any as AnyMessage

    packed = AnyMessage()
    packed.Pack(message)
    add_to_collection(key, packed)


def _delete_others(base: str, exports_to_keep: Callable[[Any], Any]) -> None:
    numbered = re.compile(re.escape(base) + r"/(\d{8})$")

    def parser(path: gc.Path) -> gc.Path | None:
        found = numbered.match(path.path)
        return path._replace(export_version=int(found[1])) if found else None

    for path in gc.negation(exports_to_keep)(gc.get_paths(base, parser)):
        files.delete_recursively(path.path)


def _file_path_value(tensor: Any) -> bytes:
    """The path in a constant."""
    if not isinstance(tensor, Tensor):
        raise TypeError("tensor is not a Tensor")
    if tensor.op.type != "Const":
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != dtypes.string:
        raise TypeError("File paths should be string")
    value = tensor.op.get_attr("value").string_val
    if len(value) != 1:
        raise TypeError("Only scalar tensors are supported")
    return bytes(value[0])
