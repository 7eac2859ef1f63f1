# SPDX-License-Identifier: Apache-2.0
"""Loads what an `Exporter` wrote into a session."""

from __future__ import annotations

import os
from typing import Any

from ....engine.compat import as_text
from ....engine.graph.collections import get_collection
from ....engine.graph.defaults import reset_default_graph
from ....engine.session.session import Session
from ....io import files, protos
from ...checkpoints.meta_graph import import_meta_graph
from . import constants


def maybe_session_bundle_dir(export_dir: str) -> bool:
    """Whether a folder has the graph of an export."""
    return files.file_exists(os.path.join(as_text(export_dir), constants.META_GRAPH_DEF_FILENAME))


def load_session_bundle_from_path(
    export_dir: str, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Session, Any]:
    """A session with the graph of an export, which becomes the default graph, and its variables.

    Args:
        export_dir: the folder of the export, "model/00000123" say.
        target: of the session.
        config: of the session.
        meta_graph_def: the MetaGraphDef; the folder's if None.

    Returns:
        The session, and the MetaGraphDef.

    Raises:
        RuntimeError: there is no graph, or its collections are not as exports have them.
    """
    folder = as_text(export_dir)
    if not meta_graph_def:
        path = os.path.join(folder, constants.META_GRAPH_DEF_FILENAME)
        if not files.file_exists(path):
            raise RuntimeError(f"Expected meta graph file missing {path}")
        meta_graph_def = protos.MetaGraphDef.FromString(files.read_file_to_string(path, True))
    collections = meta_graph_def.collection_def
    if constants.GRAPH_KEY in collections:
        graphs = collections[constants.GRAPH_KEY].any_list.value
        if len(graphs) != 1:
            raise RuntimeError(f"Expected exactly one serving GraphDef in : {meta_graph_def}")
        meta_graph_def.graph_def.CopyFrom(protos.GraphDef.FromString(graphs[0].value))
    reset_default_graph()
    session = Session(target, graph=None, config=config)
    saver = import_meta_graph(meta_graph_def)
    checkpoint = _checkpoint(folder)
    if checkpoint:
        saver.restore(session, os.path.join(folder, checkpoint))
    if constants.INIT_OP_KEY in collections:
        if len(collections[constants.INIT_OP_KEY].node_list.value) != 1:
            raise RuntimeError(f"Expected exactly one serving init op in : {meta_graph_def}")
        session.run([get_collection(constants.INIT_OP_KEY)[0]], _assets(folder, collections))
    return session, meta_graph_def


def _checkpoint(folder: str) -> str:
    """What variables are restored from: a name or a pattern; "" if there is nothing."""

    def matches(pattern: str) -> bool:
        return bool(files.get_matching_files(os.path.join(folder, pattern)))

    if files.file_exists(os.path.join(folder, constants.VARIABLES_INDEX_FILENAME_V2)):
        found = matches(constants.VARIABLES_FILENAME_PATTERN_V2)
        return constants.VARIABLES_FILENAME if found else ""
    if files.file_exists(os.path.join(folder, constants.VARIABLES_FILENAME)):
        return constants.VARIABLES_FILENAME
    pattern = constants.VARIABLES_FILENAME_PATTERN
    return pattern if matches(pattern) else ""


def _assets(folder: str, collections: Any) -> dict[str, str]:
    """The tensors that stand for assets, with the paths of these."""
    if constants.ASSETS_KEY not in collections:
        return {}
    packed = collections[constants.ASSETS_KEY].any_list.value
    assets = [protos.AssetFile.FromString(asset.value) for asset in packed]
    inside = os.path.join(folder, constants.ASSETS_DIRECTORY)
    return {a.tensor_binding.tensor_name: os.path.join(inside, a.filename) for a in assets}
