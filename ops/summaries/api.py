# SPDX-License-Identifier: Apache-2.0
"""`tf.summary`: serialized Summary messages for TensorBoard, their tags and their collection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

from ...engine.api import export
from ...engine.compat import as_str_any
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.interface.log import get_logger
from ...engine.types import dtypes
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_ILLEGAL = re.compile(r"[^-/\w\.]")


@overload
def clean_tag(name: str) -> str: ...


@overload
def clean_tag(name: None) -> None: ...


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
    name: str,
    family: str | None = None,
    default_name: str | None = None,
    values: Sequence[Any] | None = None,
) -> Iterator[tuple[str, str]]:
    """The name scope of a summary: gives its tag and the scope."""
    name = clean_tag(name)
    family = family if family is None else clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(
    value: TensorLike, collections: Sequence[str] | None, default_collections: list[str]
) -> None:
    """Adds a summary to its collections."""
    for key in default_collections if collections is None else collections:
        add_to_collection(key, value)


@export("summary.scalar")
def scalar(
    name: str,
    tensor: TensorLike,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of one number, for TensorBoard.

    Args:
        name: what it is called, within the name scopes.
        tensor: a scalar of real numbers.
        collections: the keys that it is added to; [tf.GraphKeys.SUMMARIES] by default.
        family: a prefix of the name.

    Returns:
        A string scalar: a serialized Summary.

    Raises:
        TypeError: the tensor is of something else.
        InvalidArgumentError: it is no scalar in a run.

    Example:
        >>> text = tf.Session().run(tf.summary.scalar("loss", 0.5))
        >>> summary = tf.Summary.FromString(text)
        >>> summary.value[0].tag, summary.value[0].simple_value
        ('loss', 0.5)
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        result = raw.ScalarSummary(tags=tag, values=tensor, name=scope)
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.histogram")
def histogram(
    name: str,
    values: TensorLike,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of how values are distributed, for TensorBoard.

    Args:
        name: what it is called, within the name scopes.
        values: a tensor of real numbers, of any shape.
        collections: the keys that it is added to; [tf.GraphKeys.SUMMARIES] by default.
        family: a prefix of the name.

    Returns:
        A string scalar: a serialized Summary.

    Raises:
        TypeError: the values are something else.
        InvalidArgumentError: a value of a run is not finite.

    Example:
        >>> text = tf.Session().run(tf.summary.histogram("weights", [1.0, 2.0, 2.0]))
        >>> histogram = tf.Summary.FromString(text).value[0].histo
        >>> histogram.num, histogram.min, histogram.max
        (3.0, 1.0, 2.0)
    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        result = raw.HistogramSummary(tag=tag, values=values, name=scope)
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.image")
def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of the first pictures of a batch, for TensorBoard.

    Floats are scaled picture by picture: the largest becomes 255 or, where some are negative, zero
    becomes 128 and the largest magnitude 127 from it.  Pixels that are not finite become red.

    Args:
        name: what it is called, within the name scopes.
        tensor: uint8, as it is, float16, float32 or float64 [count, height, width, channels], with
            1, 3 or 4 channels.
        max_outputs: how many pictures.
        collections: the keys that it is added to; [tf.GraphKeys.SUMMARIES] by default.
        family: a prefix of the name.

    Returns:
        A string scalar: a serialized Summary.

    Raises:
        TypeError: the dtype is none of these.
        InvalidArgumentError: in a run it has other dimensions or channels.

    Example:
        >>> text = tf.Session().run(tf.summary.image("digits", tf.zeros([2, 28, 28, 1])))
        >>> [value.tag for value in tf.Summary.FromString(text).value]
        ['digits/image/0', 'digits/image/1']
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        result = raw.ImageSummary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope)
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of the first sounds of a float32 batch [count, frames] or [.., channels].

    Samples are in -1..1; sample_rate in hertz, a number or a scalar tensor.
    """
    with summary_scope(name, family=family, values=[tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        result = raw.AudioSummaryV2(
            tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=rate, name=scope
        )
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of a whole tensor of any type.

    summary_description and display_name take the place of those in summary_metadata, a
    SummaryMetadata message.
    """
    from ...io.protos import SummaryMetadata

    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        result = raw.TensorSummaryV2(
            tensor=tensor,
            tag=tag,
            name=scope,
            serialized_summary_metadata=metadata.SerializeToString(),
        )
        collect(result, collections, [GraphKeys.SUMMARIES])
    return result


@export("summary.text")
def text(name: str, tensor: Any, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of texts, a string tensor of any shape; ValueError for another type."""
    from ...io.protos import SummaryMetadata

    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


@export("summary.get_summary_description")
def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription of a NodeDef; ValueError unless it is a TensorSummary's."""
    from google.protobuf import json_format

    from ...io.protos import SummaryDescription

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = SummaryDescription()
    json_format.Parse(as_str_any(node_def.attr["description"].s), description)
    return description


@export("summary.merge")
def merge(
    inputs: Sequence[Tensor], collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """Several summaries as one.

    Args:
        inputs: a list of what other summaries returned.
        collections: the keys that it is added to; none by default.
        name: of the operation.

    Returns:
        A string scalar: a serialized Summary with the values of all.

    Raises:
        InvalidArgumentError: two of a run have one tag.

    Example:
        >>> merged = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
        >>> [value.tag for value in tf.Summary.FromString(tf.Session().run(merged)).value]
        ['a', 'b']
    """
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        result = raw.MergeSummary(inputs=inputs, name=name)
        collect(result, collections, [])
    return result


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Any:
    """All summaries of the graph as one.

    Args:
        key: the collection that they are in.
        scope: a regular expression that the beginning of a name must match; None for all.
        name: of the operation.

    Returns:
        A string scalar, as of tf.summary.merge; None when there are no summaries.

    Raises:
        InvalidArgumentError: two of a run have one tag.

    Example:
        >>> print(tf.summary.merge_all())
        None
        >>> a, b = tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
        >>> tf.Summary.FromString(tf.Session().run(tf.summary.merge_all())).value[1].tag
        'b'
    """
    found = get_collection(key, scope=scope)
    return merge(found, name=name) if found else None
