# SPDX-License-Identifier: Apache-2.0
"""Graph collections: the standard keys and the functions on the default graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..api import export
from .defaults import get_default_graph

if TYPE_CHECKING:
    from .annotations import TensorLike


class _ClassProperty:
    """A read-only property of the class itself."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __get__(self, owner: object, kind: Callable[..., Any]) -> Any:
        return self._function(kind)


@export("GraphKeys")
class GraphKeys:
    """The names of the standard collections of a graph.

    Example:
        >>> w = tf.Variable(1.0, name="w")
        >>> [v.name for v in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)]
        ['w:0']
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = [
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
        TRAINABLE_RESOURCE_VARIABLES,
    ]
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    VARIABLES = _ClassProperty(lambda cls: cls.GLOBAL_VARIABLES)


class Collections:
    """The collections of one graph."""

    __slots__ = ("lists",)

    def __init__(self) -> None:
        self.lists: dict[Any, list[Any]] = {}

    def add(self, name: str | Sequence[str], value: object) -> None:
        """Appends a value."""
        self.lists.setdefault(name, []).append(value)

    def get(self, name: str | Sequence[str], scope: str | None = None) -> list[Any]:
        """A copy of a collection; with a scope, the items whose name it matches."""
        found = self.lists.get(name, [])
        if scope is None:
            return list(found)
        pattern = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]


def names_of(names: str | Sequence[str]) -> Iterable[Any]:
    """One collection name or several, each once."""
    return (names,) if isinstance(names, str) else list(dict.fromkeys(names))


@export("add_to_collection")
def add_to_collection(name: str | Sequence[str], value: object) -> None:
    """Adds a value to a collection of the default graph.

    Args:
        name: the key of the collection, such as one of tf.GraphKeys.
        value: anything.

    Raises:
        RuntimeError: the graph is finalized.

    Example:
        >>> tf.add_to_collection("outputs", tf.constant(1, name="a"))
        >>> [x.name for x in tf.get_collection("outputs")]
        ['a:0']
    """
    get_default_graph().add_to_collection(name, value)


@export("add_to_collections")
def add_to_collections(names: str | Sequence[str], value: TensorLike) -> None:
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


@export("get_collection_ref")
def get_collection_ref(key: Any) -> list[Any]:
    """The collection itself, created if missing."""
    return get_default_graph().get_collection_ref(key)


@export("get_collection")
def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """What a collection of the default graph has, in the order in which it was added.

    Args:
        key: the key of the collection, such as one of tf.GraphKeys.
        scope: a regular expression that the beginning of an item's name must match; None for all
            items, also those without a name.

    Returns:
        A list, a copy; empty where there is no such collection.

    Example:
        >>> w = tf.Variable(1.0, name="net/w")
        >>> tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="other")
        []
    """
    return get_default_graph().get_collection(key, scope)


def get_all_collection_keys() -> list[Any]:
    """The names of the collections of the default graph."""
    return get_default_graph().get_all_collection_keys()


# How the members of a collection are written to and read from a MetaGraphDef.
_PROTO_FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Callable[..., Any] | None = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """States how a collection's members become protos and back."""
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _PROTO_FUNCTIONS:
        raise KeyError(f"Registering two proto functions with name '{collection_name}'!")
    _PROTO_FUNCTIONS[collection_name] = (proto_type, to_proto, from_proto)


def get_collection_proto_type(collection_name: str) -> Any:
    """The proto class of a collection, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[0]


def get_to_proto_function(collection_name: str) -> Any:
    """The function that writes a member, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[1]


def get_from_proto_function(collection_name: str) -> Any:
    """The function that reads a member, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[2]
