# SPDX-License-Identifier: Apache-2.0
"""Layers of `tf.layers` whose variables are model variables, with names of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....ops.public import tf
from ....ops.state.variable_partitions import PartitionedVariable
from ..framework import variables
from . import utils

if TYPE_CHECKING:
    from .annotations import Collections, Function, VariableCollections

# Names of variables of layers of `tf.layers` -> those of this folder's.
WEIGHTS = {"bias": "biases", "kernel": "weights"}


def model_variable_getter(
    getter: Callable[..., Any], name: str, rename: Mapping[str, str] | None = None, **options: Any
) -> Any:
    """A getter of variable scopes: makes model variables, of which some have other names.

    Args:
        getter: what makes the variable.
        name: the variable's name.
        rename: the last parts of names and what stands in their places.
        **options: as `model_variable`; what it does not know is left out.
    """
    above, slash, last = name.rpartition("/")
    known = {key: value for key, value in options.items() if key in _OPTIONS}
    renamed = (rename or {}).get(last, last)
    return variables.model_variable(above + slash + renamed, custom_getter=getter, **known)


_OPTIONS = frozenset(
    (
        "shape dtype initializer regularizer trainable collections caching_device partitioner "
        "use_resource synchronization aggregation"
    ).split()
)


def variable_getter(rename: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """`model_variable_getter` that renames so."""

    def get(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return model_variable_getter(getter, *args, **{**kwargs, "rename": rename})

    return get


def add_to_collections(variable: Any, collections: VariableCollections | None, name: str) -> None:
    """Puts a variable, or its parts, into the collections of a name, once."""
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in utils.get_variable_collections(collections, name) or ():
        for part in parts:
            if not any(part is known for known in tf.get_collection(collection)):
                tf.add_to_collection(collection, part)


def parameter(
    name: str, shape: Any, collections: VariableCollections | None, **options: Any
) -> Any:
    """A model variable in the collections of its name.

    Args: `name` and `shape` are the variable's, `options` as `model_variable`.
    """
    wanted = utils.get_variable_collections(collections, name)
    return variables.model_variable(name, shape=shape, collections=wanted, **options)


def finished(
    outputs: Any, activation_fn: Function | None, collections: Collections | None, alias: str
) -> Any:
    """What an activation makes of outputs, in collections with an alias."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return utils.collect_named_outputs(collections, alias, outputs)


def normalized(
    outputs: Any, normalizer_fn: Function | None, normalizer_params: Mapping[str, Any] | None
) -> Any:
    """What a normalization makes of outputs, if there is one."""
    return outputs if normalizer_fn is None else normalizer_fn(outputs, **(normalizer_params or {}))
