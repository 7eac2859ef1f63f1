# SPDX-License-Identifier: Apache-2.0
"""What a SavedModel's folder holds, without loading it into a session."""

from __future__ import annotations

from typing import Any

from ...saved_model.reading import maybe_saved_model_directory, parse_saved_model


def read_saved_model(saved_model_dir: str) -> Any:
    """The message of a SavedModel.

    Args:
        saved_model_dir: its folder, with `saved_model.pb` or `saved_model.pbtxt`.

    Returns:
        A SavedModel.

    Raises:
        IOError: there is none, or it cannot be parsed.
    """
    if not maybe_saved_model_directory(saved_model_dir):
        raise OSError(f"SavedModel file does not exist at: {saved_model_dir}")
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """The tags of a SavedModel's graphs.

    Args:
        saved_model_dir: its folder.

    Returns:
        A list of tags for each graph.

    Raises:
        IOError: there is no SavedModel, or it cannot be parsed.
    """
    graphs = read_saved_model(saved_model_dir).meta_graphs
    return [list(graph.meta_info_def.tags) for graph in graphs]
