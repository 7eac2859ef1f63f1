# SPDX-License-Identifier: Apache-2.0
"""Layers and variables among a layer's attributes: they count as its own, for checkpoints, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...engine.types import nest
from ...ops.public import tf
from ...ops.state.resource_variable import is_assignment
from ..objects.data_structures import TrackableDataStructure
from ..objects.tracking import AutoTrackable
from .weights import track


class Nested(AutoTrackable):
    """A layer that has the layers among its attributes, if its class says so."""

    # Whether attributes are looked at. Layers of tf.layers list their variables themselves.
    _looks_at_attributes = True
    trainable: bool

    def __setattr__(self, name: str, value: object) -> None:
        own = vars(self)
        if (
            not self._looks_at_attributes
            or not own.get("_self_setattr_tracking", True)
            or hasattr(type(self), name)
        ):
            object.__setattr__(self, name, value)
            return
        if own.get(name) is not value:
            self._release(name)
        AutoTrackable.__setattr__(self, name, value)
        own.setdefault("_attributes_in_order", {})[name] = None
        self._take_variables(own[name])
        self._take_layers(own[name])

    def __delattr__(self, name: str) -> None:
        self._release(name)
        vars(self).get("_attributes_in_order", {}).pop(name, None)
        self._untrack(name)
        object.__delattr__(self, name)

    def _release(self, name: str) -> None:
        """A variable is no weight any more once no attribute holds it that ever held it."""
        own = vars(self)
        names = own.get("_attributes_in_order", {})
        value = own.get(name)
        if name not in names or not isinstance(value, tf.Variable):
            return
        if any(own.get(other) is value for other in names if other != name):
            return
        for kept in ("_trainable_weights", "_non_trainable_weights"):
            own[kept] = [weight for weight in own.get(kept, []) if weight is not value]

    def _take_layers(self, value: object) -> None:
        """Layers of `tf.layers` that are assigned make resource variables, as Keras' own do."""
        for layer in _layers_in(value):
            if getattr(layer, "_is_legacy_layer", False):
                layer._use_resource_variables = True

    def _take_variables(self, value: Any) -> None:
        """Variables that are assigned are weights of the layer."""
        for x in nest.flatten(value):
            if not isinstance(x, tf.Variable) or is_assignment(x):
                continue
            lists = vars(self)
            known = lists.setdefault("_trainable_weights", [])
            others = lists.setdefault("_non_trainable_weights", [])
            if not any(x is v for v in (*known, *others)):
                (known if x.trainable else others).append(x)
                track(x)

    def _nested_layers(self) -> list[Any]:
        """The layers among the attributes, in lists and dicts, too, each once."""
        found: dict[int, Any] = {}
        own = vars(self)
        for name in own.get("_attributes_in_order", ()):
            for layer in _layers_in(own.get(name)):
                if layer is not self:
                    found.setdefault(id(layer), layer)
        return list(found.values())

    def _of_nested(self, attribute: str) -> list[Any]:
        """What the layers among the attributes have under a name, one list."""
        return [x for layer in self._nested_layers() for x in getattr(layer, attribute)]


def _layers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Nested):
        yield value
    elif isinstance(value, TrackableDataStructure):
        yield from value.layers
    elif isinstance(value, (list, tuple, dict)):
        yield from (x for x in nest.flatten(value) if isinstance(x, Nested))
