# SPDX-License-Identifier: Apache-2.0
"""The kinds of objects that a SavedModel brings back as what they were, by their identifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...io import protos


class VersionedTypeRegistration:
    """How objects of a kind are made again from what one version of their class has written."""

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Sequence[int] | None = None,
        setter: Callable[..., Any] = setattr,
    ) -> None:
        """object_factory: makes an object of its SavedUserObject; setter: gives it its children."""
        self._object_factory = object_factory
        self.version = version
        self._min_consumer_version = min_consumer_version
        self._bad_consumers = list(bad_consumers or ())
        self._min_producer_version = min_producer_version
        self.setter = setter
        self.identifier = ""

    def to_proto(self) -> Any:
        """The SavedUserObject of an object of the kind."""
        versions = protos.VersionDef(
            producer=self.version,
            min_consumer=self._min_consumer_version,
            bad_consumers=self._bad_consumers,
        )
        return protos.SavedUserObject(identifier=self.identifier, version=versions)

    def from_proto(self, proto: Any) -> Any:
        """The object of a SavedUserObject."""
        return self._object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this version can read what a writer's version has written."""
        if proto.identifier != self.identifier:
            return False
        if self.version < proto.version.min_consumer:
            return False
        if proto.version.producer < self._min_producer_version:
            return False
        return all(self.version != bad for bad in proto.version.bad_consumers)


class _Kind(NamedTuple):
    predicate: Callable[[Any], bool]
    versions: list[VersionedTypeRegistration]


_kinds: dict[str, _Kind] = {}


def register_revived_type(
    identifier: str,
    predicate: Callable[[Any], bool],
    versions: Sequence[VersionedTypeRegistration],
) -> None:
    """Registers a kind of objects.

    Args:
        identifier: its name in SavedModels.
        predicate: whether an object is of the kind.
        versions: how objects are made again, for each version of the class.

    Raises:
        AssertionError: there are no versions, two have one number, or the name is taken.
    """
    ordered = sorted(versions, key=lambda version: version.version, reverse=True)
    if not ordered:
        raise AssertionError("Need at least one version of a registered type.")
    if len({version.version for version in ordered}) < len(ordered):
        raise AssertionError(f"Got multiple registrations with version {ordered[0].version}")
    if identifier in _kinds:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    for version in ordered:
        version.identifier = identifier
    _kinds[identifier] = _Kind(predicate, ordered)


def serialize(obj: object) -> Any:
    """The SavedUserObject of an object of a registered kind, None for another one."""
    for kind in _kinds.values():
        if kind.predicate(obj):
            return kind.versions[0].to_proto()
    return None


def deserialize(proto: Any) -> tuple[Any, Callable[..., Any]] | None:
    """The object of a SavedUserObject, and what gives it its children; None if it is unknown."""
    for version in _kinds[proto.identifier].versions if proto.identifier in _kinds else ():
        if version.should_load(proto):
            return version.from_proto(proto), version.setter
    return None


def registered_identifiers() -> list[str]:
    """The names of the kinds."""
    return list(_kinds)
