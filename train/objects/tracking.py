# SPDX-License-Identifier: Apache-2.0
"""Objects whose attributes are their dependencies: what `tf.train.Checkpoint` and modules are."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from ...engine.graph.trackable import Trackable
from ...ops.state.trackable_resource import CapturableResource as CapturableResource
from ...ops.state.trackable_resource import ResourceTracker as ResourceTracker
from ...ops.state.trackable_resource import TrackableAsset as TrackableAsset
from ...ops.state.trackable_resource import TrackableResource as TrackableResource
from ...ops.state.trackable_resource import resource_tracker_scope as resource_tracker_scope
from .data_structures import NoDependency, sticky_attribute_assignment


class NotTrackable:
    """Base class of objects that look as if they could be saved but cannot."""


class AutoTrackable(Trackable):
    """An object that depends on the trackable objects, lists and dicts among its attributes.

    Lists and dicts are replaced by wrappers that track what they hold.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, name, AutoTrackable) is value:
            return  # `self.x = self.x`: the wrapper is there already.
        if getattr(self, "_self_setattr_tracking", True):
            value = sticky_attribute_assignment(trackable=self, value=value, name=name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._untrack(name)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> NoDependency:
        return NoDependency(value)

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        """The tf.functions and concrete functions among the attributes, those of the class too."""
        from ...ops.flow.concrete_functions import ConcreteFunction
        from ...ops.flow.graph_functions import Function

        found = {}
        for name in dir(self):
            try:
                value = getattr(self, name, None)
            except Exception:  # A property that fails holds no function.
                continue
            if isinstance(value, (Function, ConcreteFunction)):
                found[name] = value
        return found


def cached_per_instance(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Decorates a method so that it computes once for each object, which may go all the same.

    Args:
        f: a method that takes nothing but the object, which can be a key of a dictionary.

    Returns:
        A function; what it knows is in its attribute `cache`.

    Example:
        >>> class Table:
        ...     @property
        ...     @cached_per_instance
        ...     def size(self):
        ...         return len(list(range(1000)))
        >>> Table().size
        1000
    """
    cache: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def wrapped(item: Any) -> Any:
        output = cache.get(item)
        if output is None:
            cache[item] = output = f(item)
        return output

    wrapped.cache = cache  # type: ignore[attr-defined]
    return wrapped
