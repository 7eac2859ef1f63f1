# SPDX-License-Identifier: Apache-2.0
"""All metrics by their names."""

from __future__ import annotations

from typing import Any

from ..serialization import Family, serialize_keras_object
from . import base, confusion, means
from .base import Metric
from .functions import FUNCTIONS


def _classes() -> dict[str, Any]:
    found: dict[str, Any] = dict(FUNCTIONS)
    for module in (base, means, confusion):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Metric) and name[0] != "_":
                found[name] = value
    return found


_FAMILY = Family("metric function", _classes)
serialize = serialize_keras_object
deserialize = _FAMILY.deserialize


def get(identifier: Any) -> Any:
    """The metric that an argument means: its name, its description or itself.

    Raises:
        ValueError: it is something else.
    """
    found = _FAMILY.get(identifier)
    if found is None:
        raise ValueError(f"Could not interpret metric function identifier: {identifier}")
    return found


def clone_metric(metric: Any) -> Any:
    """A new metric of the same configuration; other things as they are."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric
