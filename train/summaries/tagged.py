# SPDX-License-Identifier: Apache-2.0
"""`tf.compat.v2.summary`: tensors that are written with what TensorBoard has to know to show them.

Each function writes to the default writer, whose `tf.summary.all_v2_summary_ops` are to be run, and
returns a bool tensor: whether there was something to write to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...ops.audio.audio_ops import encode_wav
from ...ops.image.codec_ops import encode_png
from ...ops.image.convert import convert_image_dtype
from ...ops.public import tf
from .recording import summary_scope, write

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_BUCKETS = 30
# AudioPluginData: the encoding is WAV.
_WAV = b"\x10\x0b"


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    from ...io.protos import SummaryMetadata

    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(summary_description=description, plugin_data=data)


def scalar(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Any:
    """Writes a number.

    Args:
        name: what it is called, within the name scopes.
        data: a scalar of real numbers.
        step: an integer; that of `tf.compat.v2.summary.experimental.set_step` by default.
        description: a longer text, in Markdown.

    Raises:
        ValueError: there is a writer and no step, or it is no scalar.

    Example:
        >>> v2 = tf.compat.v2.summary
        >>> step = tf.train.get_or_create_global_step()
        >>> with v2.create_file_writer("./logs").as_default():
        ...     _ = v2.scalar("loss", 0.5, step=step)
        >>> len(tf.summary.all_v2_summary_ops())
        1
    """
    metadata = _metadata("scalars", description)
    with summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        tf.assert_scalar(data)
        return write(tag, tf.cast(data, dtypes.float32), step, metadata=metadata)


def text(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Any:
    """Writes texts; see `scalar`.

    Raises:
        TypeError: they are no strings.
        ValueError: there is a writer and no step.
    """
    metadata = _metadata("text", description)
    with summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        tf.assert_type(data, dtypes.string)
        return write(tag, data, step, metadata=metadata)


def image(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    max_outputs: Any = 3,
    description: str | None = None,
) -> Any:
    """Writes pictures as PNG, behind their width and height; see `scalar`.

    Args:
        data: [pictures, height, width, 1, 2, 3 or 4 channels]; floats are in [0, 1).
        max_outputs: that many of them at most.
    """
    metadata = _metadata("images", description)
    with summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):
        tf.assert_rank(data, 4)
        tf.assert_non_negative(max_outputs)
        pictures = convert_image_dtype(data, dtypes.uint8, saturate=True)
        encoded = _each(encode_png, pictures[:max_outputs], "encode_each_image")
        sizes = tf.shape(pictures)
        width = tf.as_string(sizes[2], name="width")
        height = tf.as_string(sizes[1], name="height")
        dimensions = tf.stack([width, height], name="dimensions")
        return write(tag, tf.concat([dimensions, encoded], axis=0), step, metadata=metadata)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: Any,
    step: TensorLike | None = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Writes sounds; see `scalar`.

    Args:
        data: [sounds, frames, channels], in [-1, 1].
        sample_rate: frames of a second.
        max_outputs: that many of them at most.
        encoding: "wav", or None, which means that.

    Raises:
        ValueError: it is another encoding; there is a writer and no step.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f'Unknown encoding: {encoding!r}; "wav" is known')
    metadata = _metadata("audio", description, _WAV)
    values = [data, sample_rate, max_outputs, step]
    with summary_scope(name, "audio_summary", values=values) as (tag, _):
        tf.assert_rank(data, 3)
        tf.assert_non_negative(max_outputs)
        sounds = tf.convert_to_tensor(data)[:max_outputs]
        encode = functools.partial(encode_wav, sample_rate=sample_rate)
        encoded = _each(encode, sounds, "encode_each_audio")
        labels = tf.tile([""], tf.shape(sounds)[:1])
        rows = tf.transpose(tf.stack([encoded, labels]))
        return write(tag, rows, step, metadata=metadata)


def _each(encode: Callable[[Any], Any], items: Any, name: str) -> Any:
    encoded = tf.map_fn(encode, items, dtype=dtypes.string, name=name)
    is_any = tf.shape(encoded)[0] > 0
    return tf.cond(is_any, lambda: encoded, lambda: tf.constant([], dtypes.string))


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: Any = None,
    description: str | None = None,
) -> Any:
    """Writes how numbers are distributed; see `scalar`.

    Args:
        data: numbers, of any shape.
        buckets: into how many parts of equal width they are sorted; 30 by default.
    """
    metadata = _metadata("histograms", description)
    with summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        table = _bucket_table(data, _BUCKETS if buckets is None else buckets)
        return write(tag, table, step, metadata=metadata)


def _bucket_table(data: Any, count: Any) -> Any:
    """[buckets, 3] of float64: left edge, right edge and how many numbers there are between them.

    Equal numbers have one bucket of width 1, and no numbers have none.
    """
    with name_scope("buckets"):
        tf.assert_scalar(count)
        tf.assert_type(count, dtypes.int32)
        numbers = tf.cast(tf.reshape(data, shape=[-1]), dtypes.float64)
        is_empty = tf.equal(tf.size(numbers), 0)
        return tf.cond(
            is_empty,
            lambda: tf.constant([], shape=(0, 3), dtype=dtypes.float64),
            lambda: _filled_buckets(numbers, count),
        )


def _filled_buckets(numbers: Any, count: Any) -> Any:
    low, high = tf.reduce_min(numbers), tf.reduce_max(numbers)
    extent = high - low
    is_single = tf.equal(extent, 0)

    def one_bucket() -> Tensor:
        left, right = tf.stack([low - 0.5]), tf.stack([low + 0.5])
        inside = tf.stack([tf.cast(tf.size(numbers), dtypes.float64)])
        return tf.transpose(tf.stack([left, right, inside]))

    def many_buckets() -> Tensor:
        width = extent / tf.cast(count, dtypes.float64)
        offsets = numbers - low
        places = tf.cast(tf.floor(offsets / width), dtype=dtypes.int32)
        places = tf.minimum(places, count - 1)
        inside = tf.reduce_sum(tf.one_hot(places, depth=count), axis=0)
        inside = tf.cast(inside, dtypes.float64)
        edges = tf.linspace(low, high, count + 1)
        # (The last number that `linspace` gives is not quite the highest.)
        edges = tf.concat([edges[:-1], [high]], 0)
        return tf.transpose(tf.stack([edges[:-1], edges[1:], inside]))

    return tf.cond(is_single, one_bucket, many_buckets)
