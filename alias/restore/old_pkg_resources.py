# SPDX-License-Identifier: Apache-2.0
"""What programs ask `pkg_resources`: versions, requirements and files of packages."""

from __future__ import annotations

import importlib
import os
from importlib import metadata
from io import BytesIO
from typing import IO, Any

__all__ = [
    *("DistributionNotFound", "VersionConflict", "get_distribution", "iter_entry_points"),
    *("parse_requirements", "parse_version", "require", "resource_exists", "resource_filename"),
    *("resource_isdir", "resource_listdir", "resource_stream", "resource_string"),
]


class ResolutionError(Exception):
    """A requirement is not met."""


class DistributionNotFound(ResolutionError):
    """A package is not installed."""


class VersionConflict(ResolutionError):
    """A package is of another version."""


def parse_version(v: str) -> Any:
    """A version that compares with others.

    Raises:
        ImportError: `packaging` is not installed.
    """
    from packaging.version import Version

    return Version(v)


def parse_requirements(strs: Any) -> list[Any]:
    """Requirements of lines of text."""
    from packaging.requirements import Requirement

    lines = strs.splitlines() if isinstance(strs, str) else strs
    return [Requirement(line) for line in lines if line.strip() and line.strip()[0] != "#"]


class Distribution:
    """An installed package."""

    def __init__(self, found: metadata.Distribution) -> None:
        self.project_name = self.key = found.metadata["Name"]
        self.version = found.version
        self.parsed_version = found.version
        self.location = str(found.locate_file(""))


def get_distribution(dist: str) -> Distribution:
    """An installed package.

    Raises:
        DistributionNotFound: there is none.
        VersionConflict: it is of another version than the requirement says.
    """
    requirement = parse_requirements(str(dist))[0]
    try:
        found = Distribution(metadata.distribution(requirement.name))
    except metadata.PackageNotFoundError as error:
        raise DistributionNotFound(
            f"The {dist!r} distribution was not found and is required by the application"
        ) from error
    if not requirement.specifier.contains(found.version, prereleases=True):
        raise VersionConflict(f"{found.project_name} {found.version} is installed, not {dist}")
    return found


def require(*requirements: Any) -> list[Distribution]:
    """The installed packages of requirements."""
    lines = [r for one in requirements for r in ([one] if isinstance(one, str) else one)]
    return [get_distribution(line) for line in lines]


def iter_entry_points(group: str, name: str | None = None) -> Any:
    """Entry points of a group."""
    return iter(e for e in metadata.entry_points(group=group) if name in (None, e.name))


def resource_filename(package_or_requirement: str, resource_name: str) -> str:
    """The path of a file beside a module."""
    file = importlib.import_module(package_or_requirement).__file__
    if file is None:
        raise NotImplementedError(f"{package_or_requirement} lies in no folder")
    return os.path.join(os.path.dirname(file), *resource_name.split("/"))


def resource_string(package_or_requirement: str, resource_name: str) -> bytes:
    """The bytes of such a file."""
    with open(resource_filename(package_or_requirement, resource_name), "rb") as file:
        return file.read()


def resource_stream(package_or_requirement: str, resource_name: str) -> IO[bytes]:
    """The bytes of such a file as a stream."""
    return BytesIO(resource_string(package_or_requirement, resource_name))


def resource_exists(package_or_requirement: str, resource_name: str) -> bool:
    """Whether there is such a file."""
    return os.path.exists(resource_filename(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement: str, resource_name: str) -> bool:
    """Whether it is a folder."""
    return os.path.isdir(resource_filename(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement: str, resource_name: str) -> list[str]:
    """What lies in such a folder."""
    return os.listdir(resource_filename(package_or_requirement, resource_name))
