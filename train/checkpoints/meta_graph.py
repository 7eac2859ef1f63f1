# SPDX-License-Identifier: Apache-2.0
"""Meta graphs with their savers: `tf.train.export_meta_graph` and `import_meta_graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, get_collection
from ...engine.interface.log import get_logger

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a saver saves unless told otherwise."""
    return [
        *get_collection(GraphKeys.GLOBAL_VARIABLES, scope),
        *get_collection(GraphKeys.SAVEABLE_OBJECTS, scope),
    ]


@export("train.export_meta_graph")
def export_meta_graph(
    filename: str | None = None,
    meta_info_def: object = None,
    graph_def: object = None,
    saver_def: object = None,
    collection_list: object = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """The MetaGraphDef of a graph; also written to a file if there is a name for it."""
    from ...io.meta_graph import export_scoped_meta_graph

    return export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )[0]


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: object,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Any:
    """Adds a graph that a Saver wrote (`.meta`) to the default graph.

    Args:
        meta_graph_or_file: a MetaGraphDef, or the path of a file with one.
        clear_devices: whether operations are put where there is place.
        import_scope: a name scope for all of it.
        kwargs: `input_map` and what else tf.import_graph_def takes.

    Returns:
        A Saver of its variables; None if it has none.

    Raises:
        OSError: there is no such file, or it cannot be read.

    Example:
        >>> v, sess = tf.Variable(1.0, name="v"), tf.Session()
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model.ckpt")
        >>> with tf.Graph().as_default(), tf.Session() as other:
        ...     tf.train.import_meta_graph(path + ".meta").restore(other, path)
        ...     print(other.run("v:0"))
        1.0
    """
    return import_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """Like `import_meta_graph`; also the elements of the given names."""
    from ...io import protos
    from ...io.meta_graph_import import (
        import_scoped_meta_graph_with_return_elements,
        read_meta_graph_file,
    )

    message = meta_graph_or_file
    if not isinstance(message, protos.MetaGraphDef):
        message = read_meta_graph_file(message)
    variables, elements = import_scoped_meta_graph_with_return_elements(
        message,
        clear_devices=clear_devices,
        import_scope=import_scope,
        return_elements=return_elements,
        **kwargs,
    )
    return _saver_of(message, import_scope, variables), elements


def _saver_of(message: Any, import_scope: str | None, variables: dict[str, Any]) -> Any:
    """The saver of an imported meta graph."""
    from .saver import Saver

    if message.HasField("saver_def"):
        scope = import_scope
        if variables:
            # The scope that the import really used.
            name, variable = next(iter(variables.items()))
            scope = variable.name[: -len(name)]
        return Saver(saver_def=message.saver_def, name=scope)
    if all_saveable_objects(scope=import_scope):
        return Saver()
    get_logger().info("Saver not created because there are no variables in the graph to restore")
    return None
