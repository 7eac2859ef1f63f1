# SPDX-License-Identifier: Apache-2.0
"""Resources and files that objects hold, and that a SavedModel takes along with these."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import device, init_scope
from ...engine.graph.trackable import Trackable
from ...engine.types import dtypes

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

_trackers: list[Any] = []


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

    _resource_handle: Any = None
    _resource_device = ""

    def __init__(self, device: str = "", deleter: object = None) -> None:
        del deleter
        self._resource_handle = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Initializes the resource; there may be nothing to do."""

    @property
    def resource_handle(self) -> Any:
        """The handle, made when it is first asked for."""
        if self._resource_handle is None:
            with init_scope(), device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        from ..flow.graph_functions import function

        def initialized() -> int:
            self._initialize()
            return 1  # A function of a SavedModel has results.

        def nothing() -> int:
            return 1

        functions: dict[str, Callable[..., Any]] = {
            "_create_resource": self._create_resource,
            "_initialize": initialized,
            # A resource here goes with its session.
            "_destroy_resource": nothing,
        }
        return {
            name: function(functools.partial(made), input_signature=[], autograph=False)
            for name, made in functions.items()
        }


class TrackableResource(CapturableResource):
    """A resource that scopes of trackers list."""

    def __init__(self, device: str = "", deleter: object = None) -> None:
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device=device, deleter=deleter)


class TrackableAsset(Trackable):
    """A file that a SavedModel takes along: its path is where the file lies, then and later."""

    def __init__(self, path: Any) -> None:
        """path: a string, or a tensor of one."""
        with init_scope(), device("CPU"):
            self._path = convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        """The path, a tensor."""
        return self._path
