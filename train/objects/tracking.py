# SPDX-License-Identifier: Apache-2.0
"""Objects whose attributes are their dependencies: what `tf.train.Checkpoint` and modules are."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...engine.graph.trackable import Trackable
from .data_structures import NoDependency, sticky_attribute_assignment

_trackers: list[Any] = []


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

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)


class ResourceTracker:
    """A list of the resources that are made within its scope."""

    def __init__(self) -> None:
        self._resources: list[Any] = []

    @property
    def resources(self) -> list[Any]:
        """The resources so far."""
        return self._resources

    def add_resource(self, resource: object) -> None:
        """Notes a resource."""
        self._resources.append(resource)


@contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """A context whose TrackableResources a tracker lists."""
    _trackers.append(resource_tracker)
    try:
        yield
    finally:
        _trackers.pop()


class CapturableResource(Trackable):
    """An object with a resource that is made once, by a subclass's `_create_resource`."""

    def __init__(self, device: str = "", deleter: object = None) -> None:
        del deleter
        self._resource_handle: Any = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Initializes the resource; there may be nothing to do."""

    @property
    def resource_handle(self) -> Any:
        """The handle, made when it is first asked for."""
        from ...engine.graph.graph import device

        if self._resource_handle is None:
            with device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle


class TrackableResource(CapturableResource):
    """A resource that scopes of trackers list."""

    def __init__(self, device: str = "", deleter: object = None) -> None:
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device=device, deleter=deleter)


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
