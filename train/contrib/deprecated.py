# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.deprecated`: summaries of TensorFlow 0.12, whose tags stand as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_DATE = "2016-11-30"


def _collected(
    summary: Tensor,
    collections: Iterable[str] | None,
    default: tuple[str, ...] = (GraphKeys.SUMMARIES,),
) -> Tensor:
    for key in default if collections is None else collections:
        add_to_collection(key, summary)
    return summary


@export("contrib.deprecated.scalar_summary")
@deprecated(_DATE, "Please switch to tf.summary.scalar.")
def scalar_summary(
    tags: TensorLike,
    values: TensorLike,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of numbers.

    Args:
        tags: strings.
        values: numbers of the same shape.
        collections: names of the collections that it is added to; SUMMARIES if None.
        name: of the operation.

    Example:
        >>> summary = tf.contrib.deprecated.scalar_summary(["a b", "c"], [1.0, 2.0])
        >>> [v.tag for v in tf.Summary.FromString(tf.Session().run(summary)).value]
        ['a b', 'c']
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(raw.ScalarSummary(tags=tags, values=values, name=scope), collections)


@export("contrib.deprecated.histogram_summary")
@deprecated(_DATE, "Please switch to tf.summary.histogram.")
def histogram_summary(
    tag: TensorLike,
    values: TensorLike,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of how numbers are distributed, under a tag."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(raw.HistogramSummary(tag=tag, values=values, name=scope), collections)


@export("contrib.deprecated.image_summary")
@deprecated(_DATE, "Please switch to tf.summary.image.")
def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of at most `max_images` images of [count, height, width, channels]."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        made = raw.ImageSummary(tag=tag, tensor=tensor, max_images=max_images, name=scope)
        return _collected(made, collections)


@export("contrib.deprecated.audio_summary")
@deprecated(_DATE, "Please switch to tf.summary.audio.")
def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of at most `max_outputs` sounds of [count, frames, channels] or [count, frames]."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        made = raw.AudioSummaryV2(
            tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs, name=scope
        )
        return _collected(made, collections)


@export("contrib.deprecated.merge_summary")
@deprecated(_DATE, "Please switch to tf.summary.merge.")
def merge_summary(
    inputs: Sequence[TensorLike],
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """One summary of several."""
    with name_scope(name, "MergeSummary", inputs):
        return _collected(raw.MergeSummary(inputs=inputs, name=name), collections, ())


@export("contrib.deprecated.merge_all_summaries")
@deprecated(_DATE, "Please switch to tf.summary.merge_all.")
def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """One summary of all in a collection; None if there are none."""
    summaries = get_collection(key)
    return merge_summary(summaries) if summaries else None
