# SPDX-License-Identifier: Apache-2.0
"""Summaries of scalars: serialized Summary messages for TensorBoard, and their collection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.api import export
from ..engine.build import define
from ..engine.collections import GraphKeys, add_to_collection, get_collection
from ..engine.graph import name_scope
from ..engine.log import get_logger
from ..engine.registry import NoGradient
from ..engine.shape import TensorShape
from .elementwise import shape_text
from .public import raw

_FOR_PEOPLE = NoGradient("a summary is for people")
_ILLEGAL = re.compile(r"[^-/\w\.]")


def _text(message: Any) -> np.ndarray:
    result = np.empty((), object)
    result[()] = message.SerializeToString()
    return result


def _scalar_summary(c: Any, tags: np.ndarray, values: np.ndarray) -> np.ndarray:
    from ..io.protos import Summary

    if tags.shape != values.shape and (tags.size != 1 or values.size != 1):
        only = f" (tag '{tags.flat[0].decode()}')" if tags.size == 1 else ""
        raise errors.InvalidArgumentError(
            None,
            None,
            f"tags and values not the same shape: {shape_text(tags.shape)} != "
            f"{shape_text(values.shape)}{only}",
        )
    message = Summary()
    for tag, value in zip(tags.flat, values.flat):
        message.value.add(tag=tag.decode(), simple_value=float(np.float32(value)))
    return _text(message)


def _merge_summaries(c: Any, inputs: list[np.ndarray]) -> np.ndarray:
    from ..io.protos import Summary

    message, seen = Summary(), set()
    for value in (value for text in inputs for item in text.flat for value in _values(item)):
        if value.tag and value.tag in seen:
            raise errors.InvalidArgumentError(
                None, None, f"Duplicate tag {value.tag} found in summary inputs"
            )
        seen.add(value.tag)
        message.value.add().CopyFrom(value)
    return _text(message)


def _values(text: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from ..io.protos import Summary

    try:
        return Summary.FromString(text).value
    except DecodeError:
        raise errors.InvalidArgumentError(
            None, None, "Could not parse one of the summary inputs"
        ) from None


define(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    "T: realnumbertype",
    shape=lambda c: TensorShape([]),
    kernel=_scalar_summary,
    gradient=_FOR_PEOPLE,
    doc="A Summary message with one number per tag.",
    test={"values": [[np.array([b"a", b"b"], object), np.float32([1.5, -2])]]},
)
define(
    "MergeSummary",
    "inputs: N * string -> summary: string",
    "N: int >= 1",
    shape=lambda c: TensorShape([]),
    kernel=_merge_summaries,
    gradient=_FOR_PEOPLE,
    doc="Several Summary messages as one.",
    test={"values": [[[np.array(b"\n\x03\n\x01a", object), np.array(b"\n\x03\n\x01b", object)]]]},
)


def clean_tag(name: str | None) -> str | None:
    """A tag with what no name may hold replaced."""
    if name is None:
        return None
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        get_logger().info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def summary_scope(
    name: str, family: str | None = None, default_name: str | None = None, values: Any = None
) -> Iterator[tuple[str, str]]:
    """The name scope of a summary: gives its tag and the scope."""
    name, family = clean_tag(name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(value: Any, collections: Any, default_collections: list[str]) -> None:
    """Adds a summary to its collections."""
    for key in default_collections if collections is None else collections:
        add_to_collection(key, value)


@export("summary.scalar")
def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """A summary of one number, called `name` within the scopes; returns a string tensor."""
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        result = raw.ScalarSummary(tags=tag, values=tensor, name=scope)
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.merge")
def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """Several summaries as one; InvalidArgumentError when run where they share a tag."""
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        result = raw.MergeSummary(inputs=inputs, name=name)
        collect(result, collections, [])
    return result


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Any:
    """All summaries of a collection as one; None when there are none."""
    found = get_collection(key, scope=scope)
    return merge(found, name=name) if found else None
