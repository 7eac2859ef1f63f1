# SPDX-License-Identifier: Apache-2.0
"""`Trackable`: objects that checkpoints find by the names under which other objects hold them.

An object's dependencies are a graph with named edges.  A restore that meets a name which is not
there yet waits here until something is tracked under it; train/objects/object_restore.py does the
rest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..types import dtypes

if TYPE_CHECKING:
    from ..types.dtypes import DType
    from .annotations import TensorLike

# The attribute under which a variable saves its value, and the key of a checkpoint's graph.
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


class TrackableReference(NamedTuple):
    """A dependency and its name."""

    name: str
    ref: Any


class _Tracking:
    """What one object knows of its dependencies."""

    __slots__ = ("deferred", "name_based", "names", "references", "uid")

    def __init__(self) -> None:
        self.references: list[TrackableReference] = []
        self.names: dict[str, Any] = {}
        # Name -> positions in checkpoints that wait for something of that name.
        self.deferred: dict[str, list[Any]] = {}
        self.name_based: set[Any] = set()
        # The number of the last restore that gave the object values.
        self.uid = -1


class Trackable:
    """Base class of what checkpoints of objects hold; makes no difference until it is tracked."""

    def _maybe_initialize_trackable(self) -> None:
        """Makes the object ready; subclasses need not call a constructor."""
        if "_self_tracking" not in vars(self):
            vars(self)["_self_tracking"] = _Tracking()

    @property
    def _tracking(self) -> _Tracking:
        self._maybe_initialize_trackable()
        return vars(self)["_self_tracking"]

    @property
    def _update_uid(self) -> int:
        return self._tracking.uid

    @_update_uid.setter
    def _update_uid(self, value: int) -> None:
        self._tracking.uid = value

    @property
    def _object_identifier(self) -> str:
        """The kind of the object in a SavedModel."""
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        """What a SavedModel keeps of the object besides its kind."""
        return ""

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return self._tracking.references

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        return self._tracking.names

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """The dependencies in order; may be overridden to add some."""
        return self._tracking.references

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        return self._tracking.deferred

    @property
    def _name_based_restores(self) -> set[Any]:
        return self._tracking.name_based

    def _lookup_dependency(self, name: str) -> Any:
        """The dependency of that name, or None; goes with `_checkpoint_dependencies`."""
        return self._tracking.names.get(name)

    def _no_dependency(self, value: object) -> Any:
        """A value as it is assigned where it shall be no dependency."""
        return value

    def _track_trackable(self, trackable: Trackable, name: str, overwrite: bool = False) -> Any:
        """Makes an object a dependency; returns it.

        Raises:
            TypeError: it is no Trackable.
            ValueError: the name is another one's, and `overwrite` is not set.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable."
            )
        tracking, present = self._tracking, self._lookup_dependency(name)
        reference = TrackableReference(name, trackable)
        if present is None:
            tracking.references.append(reference)
            self._handle_deferred_dependencies(name, trackable)
        elif present is not trackable:
            if not overwrite:
                raise ValueError(
                    f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                    "this name is already declared as a dependency. Names must be unique (or "
                    "overwrite=True)."
                )
            old = tracking.references
            tracking.references[:] = [reference if r.name == name else r for r in old]
        tracking.names[name] = trackable
        return trackable

    def _untrack(self, name: str) -> None:
        """Forgets a dependency."""
        tracking = self._tracking
        if tracking.names.pop(name, None) is not None:
            tracking.references[:] = [r for r in tracking.references if r.name != name]

    def _handle_deferred_dependencies(self, name: str, trackable: Trackable) -> None:
        """Restores what waited for an object of that name, the newest restore first."""
        waiting = self._deferred_dependencies.pop(name, ())
        for position in sorted(waiting, key=lambda position: -position.restore_uid):
            position.restore(trackable)

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Sequence[int] | None = None,
        dtype: DType | None = dtypes.float32,
        initializer: Callable[..., Any] | TensorLike | None = None,
        getter: Callable[..., Any] | None = None,
        overwrite: bool = False,
        **kwargs_for_getter: Any,
    ) -> Any:
        """Makes a variable by `getter` and tracks it under its name.

        dtype: None stands for the type of the initial value, as in `tf.Variable`.
        """
        assert getter is not None
        variable = getter(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            **kwargs_for_getter,
        )
        if overwrite and not isinstance(variable, Trackable):
            return variable
        return self._track_trackable(variable, name=name, overwrite=overwrite)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """What the object itself saves: attribute -> a variable, or what makes a saveable."""
        return {}

    def _list_extra_dependencies_for_serialization(self, cache: object) -> dict[str, Any]:
        del cache
        return {}

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        del cache
        return {}


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method in which assigned attributes are not tracked."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextmanager
def no_automatic_dependency_tracking_scope(obj: object) -> Iterator[None]:
    """A context in which attributes that are assigned to an object are not tracked."""
    before = getattr(obj, "_self_setattr_tracking", True)
    vars(obj)["_self_setattr_tracking"] = False
    try:
        yield
    finally:
        vars(obj)["_self_setattr_tracking"] = before
