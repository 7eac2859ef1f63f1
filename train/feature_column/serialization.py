# SPDX-License-Identifier: Apache-2.0
"""Columns as dicts of their class and arguments, and back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ...engine import api
from ..layers.names import snake_case

# Class of columns -> the module beside this one that has it.
_CLASSES = {
    name: module
    for module, names in {
        "numeric": "BucketizedColumn NumericColumn",
        "categorical": (
            "HashedCategoricalColumn IdentityCategoricalColumn VocabularyFileCategoricalColumn "
            "VocabularyListCategoricalColumn WeightedCategoricalColumn"
        ),
        "crossed": "CrossedColumn",
        "embedding": "EmbeddingColumn SharedEmbeddingColumn",
        "indicator": "IndicatorColumn",
        "protocol": "SequenceDenseColumn",
        "sequence_feature_column": "SequenceCategoricalColumn SequenceNumericColumn",
    }.items()
    for name in names.split()
}


def serialize_feature_column(fc: Any) -> Any:
    """A dict of a column's class and arguments; keys of features stay as they are.

    Raises:
        ValueError: it is no column.
    """
    from .protocol import FeatureColumn

    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: Any = None
) -> Any:
    """The column of a dict; of equal ones with the same `columns_by_name`, the first."""
    from .protocol import FeatureColumn

    if isinstance(config, str):
        return config
    columns_by_name = {} if columns_by_name is None else columns_by_name
    if not isinstance(config, dict) or not {"class_name", "config"} <= set(config):
        raise ValueError(f"Improper config format: {config}")
    cls = _class_of(config["class_name"], custom_objects or {})
    if not issubclass(cls, FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    made = cls._from_config(
        config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name
    )
    return columns_by_name.setdefault(column_name_with_class_name(made), made)


def column_name_with_class_name(fc: Any) -> str:
    """What tells a column from others: its class and name."""
    return f"{type(fc).__name__}:{fc.name}"


def _class_of(name: str, custom_objects: dict[str, Any]) -> Any:
    if name in custom_objects:
        return custom_objects[name]
    if name not in _CLASSES:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    return getattr(importlib.import_module(f".{_CLASSES[name]}", __package__), name)


def serialize_feature_columns(feature_columns: Sequence[Any]) -> list[Any]:
    """The dicts of several columns."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(
    configs: Sequence[Any], custom_objects: dict[str, Any] | None = None
) -> list[Any]:
    """The columns of several dicts; columns that they share are the same object."""
    columns_by_name: dict[str, Any] = {}
    return [deserialize_feature_column(c, custom_objects, columns_by_name) for c in configs]


def name_of_function(function: Callable[..., Any] | None) -> str | None:
    """The name by which a config knows a function."""
    return None if function is None else function.__name__


def function_from(name: Any, custom_objects: dict[str, Any] | None) -> Any:
    """The function that a config names; ValueError for one that is not among custom_objects."""
    if name is None:
        return None
    if name not in (custom_objects or {}):
        raise ValueError(f"Unknown object: {name}")
    return (custom_objects or {})[name]


def initializer_config(initializer: Any) -> Any:
    """A dict of an initializer's class and arguments; a function's name."""
    if hasattr(initializer, "get_config"):
        return {"class_name": type(initializer).__name__, "config": initializer.get_config()}
    return name_of_function(initializer)


def initializer_from(config: Any, custom_objects: dict[str, Any] | None) -> Any:
    """The initializer of a dict."""
    if not isinstance(config, dict):
        return function_from(config, custom_objects)
    name = config["class_name"]
    if name in (custom_objects or {}):
        return (custom_objects or {})[name].from_config(config["config"])
    try:
        found = api.NAMES[f"initializers.{snake_case(name)}"]
    except KeyError:
        raise ValueError(f"Unknown initializer: {name}") from None
    return found.from_config(config["config"])
