# SPDX-License-Identifier: Apache-2.0
"""Assets: files that a graph reads (vocabularies, ...), kept in the SavedModel's folder.

A graph names an asset by a string constant; when the model is loaded, that constant is fed with
the path of the copy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.compat import as_text
from ...engine.graph.collections import add_to_collection
from ...engine.graph.tensor import Tensor
from ...engine.interface.log import get_logger
from ...engine.types import dtypes
from ...io import files, protos
from . import names
from .folder import get_assets_dir, get_or_create_assets_dir

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def save_assets(
    export_dir: str, tensors: Iterable[Any] | None, note: Callable[[str, Any], None]
) -> None:
    """Copies the files that the tensors name to the model's folder.

    `note` is told the name within the folder of each tensor's file.
    """
    sources: dict[str, str] = {}
    if tensors is None:
        get_logger().info("No assets to save.")
    for tensor in tensors or ():
        source = _path_in(tensor)
        if not source:
            raise ValueError(f"Invalid asset filepath tensor {tensor}")
        name = get_asset_filename_to_add(source, sources)
        note(name, tensor)
        sources[name] = source
    if not sources:
        get_logger().info("No assets to write.")
        return
    copy_assets_to_destination_dir(sources, export_dir)


def _path_in(tensor: TensorLike) -> str:
    """The text of a scalar string constant."""
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    # The path is read now, and fed anew by whoever loads the model: so it must be a constant.
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return as_text(values[0])


def get_asset_filename_to_add(asset_filepath: str, asset_filename_map: dict[Any, Any]) -> Any:
    """A name for a file in the assets' folder: its own, numbered if another file has it already."""
    name = os.path.basename(asset_filepath)
    other = asset_filename_map.get(name)
    # Two files of the same name and content are one asset.
    if other is None or other == asset_filepath or files.filecmp(asset_filepath, other):
        return name
    unique, count = name, 0
    while unique in asset_filename_map:
        count += 1
        unique = name + (f"_{count}" if isinstance(name, str) else b"_%d" % count)
    return unique


def copy_assets_to_destination_dir(
    asset_filename_map: dict[Any, Any], destination_dir: str
) -> None:
    """Copies files to the folder of assets, unless they are there already."""
    folder = get_or_create_assets_dir(destination_dir)
    for name, source in asset_filename_map.items():
        path = os.path.join(folder, as_text(name))
        if not files.file_exists(path):
            files.copy(source, path)
    get_logger().info("Assets written to: %s", folder)


def _asset_file(name: str, tensor: Tensor) -> Any:
    asset = protos.AssetFileDef(filename=name)
    asset.tensor_info.name = tensor.name
    return asset


def note_in_collection(name: Any, tensor: Any) -> None:
    """Notes an asset in the collection of the default graph."""
    from google.protobuf.any_pb2 import Any as AnyMessage

    packed = AnyMessage()
    packed.Pack(_asset_file(name, tensor))
    add_to_collection(names.ASSETS_KEY, packed)


def note_in_meta_graph(meta_graph_def: Any) -> Callable[[Any, Any], None]:
    """A function that notes an asset in a MetaGraphDef."""
    return lambda name, tensor: meta_graph_def.asset_file_def.append(_asset_file(name, tensor))


def _asset_in(packed: Any) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return protos.AssetFileDef.FromString(packed.value)
    except DecodeError as error:
        raise errors.data_loss(
            f"Collection '{names.ASSETS_KEY}' of the SavedModel holds what is no AssetFileDef: "
            f"{error}. Write the model anew."
        ) from None


def get_asset_tensors(
    export_dir: str, meta_graph_def_to_load: Any, import_scope: str | None = None
) -> dict[str, bytes]:
    """The names of the tensors that stand for assets, with the paths of these.

    Args:
      export_dir: The model's folder.
      meta_graph_def_to_load: One of its graphs.
      import_scope: The scope that the graph was imported under.
    """
    assets = list(meta_graph_def_to_load.asset_file_def)
    # SavedModelBuilder notes assets in the collection; newer writers use the field of the message.
    if not assets and names.ASSETS_KEY in meta_graph_def_to_load.collection_def:
        for packed in meta_graph_def_to_load.collection_def[names.ASSETS_KEY].any_list.value:
            assets.append(_asset_in(packed))
    folder = get_assets_dir(export_dir)
    prefix = f"{import_scope}/" if import_scope else ""
    return {
        prefix + asset.tensor_info.name: os.path.join(folder, asset.filename).encode()
        for asset in assets
    }
