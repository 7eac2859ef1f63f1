# SPDX-License-Identifier: Apache-2.0
"""Files that a plugin of TensorBoard finds beside the events, until then kept by a graph.

TensorFlow's internal module `tensorflow.python.summary.plugin_asset`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, TypeVar

from ...engine.graph.graph import Graph, get_default_graph
from ...io.files import recursive_create_dir, write_string_to_file

_PREFIX = "__tensorboard_plugin_asset__"
# The folder in which TensorBoard looks for them.
FOLDER = "plugins"


class PluginAsset(ABC):
    """What a plugin is to find: a class per plugin, of which a graph has one object."""

    plugin_name: str | None = None

    @abstractmethod
    def assets(self) -> dict[str, str]:
        """The contents of files by their names."""


Asset = TypeVar("Asset", bound=PluginAsset)


def get_plugin_asset(plugin_asset_cls: type[Asset], graph: Graph | None = None) -> Asset:
    """The object of a class that a graph has, made at the first call.

    Args:
        plugin_asset_cls: a class derived from PluginAsset.
        graph: the default graph if it is None.

    Returns:
        An object of the class.

    Raises:
        ValueError: the class names no plugin, or another class has the plugin's name.
    """
    graph = get_default_graph() if graph is None else graph
    plugin = plugin_asset_cls.plugin_name
    if not plugin:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    if not graph.get_collection(_PREFIX + plugin):
        made = plugin_asset_cls()
        graph.add_to_collection(_PREFIX + plugin, made)
        graph.add_to_collection(_PREFIX, plugin)
        return made
    found = _only(graph, plugin)
    if not isinstance(found, plugin_asset_cls):
        raise ValueError(
            f"Plugin name collision between classes {plugin_asset_cls.__name__} and "
            f"{type(found).__name__}"
        )
    return found


def get_all_plugin_assets(graph: Graph | None = None) -> list[Any]:
    """All such objects of a graph, the default one if it is None."""
    graph = get_default_graph() if graph is None else graph
    return [_only(graph, plugin) for plugin in graph.get_collection(_PREFIX)]


def _only(graph: Graph, plugin: str) -> Any:
    found = graph.get_collection(_PREFIX + plugin)
    if len(found) != 1:
        raise ValueError(f"Collection for {_PREFIX + plugin} had {len(found)} items, expected 1")
    return found[0]


def write_plugin_assets(graph: Graph, logdir: str) -> None:
    """Writes the files of a graph's plugins to where TensorBoard looks for them."""
    for asset in get_all_plugin_assets(graph):
        folder = os.path.join(logdir, FOLDER, asset.plugin_name)
        recursive_create_dir(folder)
        for name, content in asset.assets().items():
            write_string_to_file(os.path.join(folder, name), content)
