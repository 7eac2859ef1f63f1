# SPDX-License-Identifier: Apache-2.0
"""The ops that write summaries themselves: each makes an Event and gives it to a writer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.types.shape import shape_text
from .media import add_pictures, add_sounds
from .summary_ops import content_proto, fill_histogram
from .writers import OPENED, WAYS, Writer

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext


def _event(step: np.ndarray) -> Any:
    from ...io.protos import Event

    return Event(step=_only(step, "step"), wall_time=time.time())


def _only(value: np.ndarray, name: str) -> Any:
    """The value of a scalar; refuses others."""
    if value.ndim:
        raise errors.invalid(f"{name} must be scalar, got shape {shape_text(value.shape)}")
    return value.item()


def _tag(tag: np.ndarray) -> str:
    return _only(tag, "tag").decode("utf-8", "replace")


def _write_summary(
    c: KernelContext,
    writer: Writer,
    step: np.ndarray,
    tensor: np.ndarray,
    tag: np.ndarray,
    metadata: np.ndarray,
) -> None:
    from google.protobuf.message import DecodeError

    events, event = writer.opened(), _event(step)
    value = event.summary.value.add(tag=_tag(tag), tensor=content_proto(c, tensor))
    text = _only(metadata, "summary_metadata")
    if text:
        try:
            value.metadata.ParseFromString(text)
        except DecodeError:
            raise errors.data_loss(
                f"Bad tf.SummaryMetadata binary proto tensor string for tag {value.tag}"
            ) from None
    events.add_event(event)


def _write_raw_proto(
    c: KernelContext, writer: Writer, step: np.ndarray, tensor: np.ndarray
) -> None:
    from google.protobuf.message import DecodeError

    events, event = writer.opened(), _event(step)
    for i, text in enumerate(tensor.flat):
        try:
            event.summary.MergeFromString(text)
        except DecodeError:
            raise errors.data_loss(
                f"Bad tf.compat.v1.Summary binary proto tensor string at index {i}"
            ) from None
    events.add_event(event)


def _write_scalar(
    c: KernelContext, writer: Writer, step: np.ndarray, tag: np.ndarray, value: np.ndarray
) -> None:
    events, event = writer.opened(), _event(step)
    if not value.size:
        raise errors.invalid(f"value must be scalar, got shape {shape_text(value.shape)}")
    number = float(np.float32(value.flat[0]))
    event.summary.value.add(tag=_tag(tag), simple_value=number)
    events.add_event(event)


def _write_histogram(
    c: KernelContext, writer: Writer, step: np.ndarray, tag: np.ndarray, values: np.ndarray
) -> None:
    events, event, text = writer.opened(), _event(step), _tag(tag)
    fill_histogram(event.summary.value.add(tag=text).histo, values, text)
    events.add_event(event)


def _write_image(
    c: KernelContext,
    writer: Writer,
    step: np.ndarray,
    tag: np.ndarray,
    tensor: np.ndarray,
    bad_color: np.ndarray,
) -> None:
    events, event = writer.opened(), _event(step)
    if bad_color.ndim != 1:
        raise errors.invalid(f"bad_color must be a vector, got shape {shape_text(bad_color.shape)}")
    add_pictures(event.summary, _tag(tag), tensor, c.attr("max_images"), bad_color)
    events.add_event(event)


def _write_audio(
    c: KernelContext,
    writer: Writer,
    step: np.ndarray,
    tag: np.ndarray,
    tensor: np.ndarray,
    sample_rate: np.ndarray,
) -> None:
    events, event = writer.opened(), _event(step)
    rate = np.float32(_only(sample_rate, "sample_rate"))
    add_sounds(event.summary, _tag(tag), tensor, c.attr("max_outputs"), rate)
    events.add_event(event)


def _write_graph(c: KernelContext, writer: Writer, step: np.ndarray, tensor: np.ndarray) -> None:
    from google.protobuf.message import DecodeError

    from ...io.protos import GraphDef

    events, event = writer.opened(), _event(step)
    try:
        graph = GraphDef.FromString(_only(tensor, "tensor"))
    except DecodeError:
        raise errors.data_loss("Bad tf.GraphDef binary proto tensor string") from None
    event.graph_def = graph.SerializeToString()
    events.add_event(event)


define(
    "WriteSummary",
    "writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string ->",
    "T: type",
    kernel=_write_summary,
    touches=OPENED,
    doc="Writes a tensor with a serialized SummaryMetadata.",
    **WAYS,
)
define(
    "WriteRawProtoSummary",
    "writer: resource, step: int64, tensor: string ->",
    kernel=_write_raw_proto,
    touches=OPENED,
    doc="Writes serialized Summary messages as one.",
    **WAYS,
)
define(
    "WriteScalarSummary",
    "writer: resource, step: int64, tag: string, value: T ->",
    "T: realnumbertype",
    kernel=_write_scalar,
    touches=OPENED,
    doc="Writes a number.",
    **WAYS,
)
define(
    "WriteHistogramSummary",
    "writer: resource, step: int64, tag: string, values: T ->",
    "T: realnumbertype = float32",
    kernel=_write_histogram,
    touches=OPENED,
    doc="Writes how many values lie in each of TensorFlow's buckets.",
    **WAYS,
)
define(
    "WriteImageSummary",
    "writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8 ->",
    "max_images: int >= 1 = 3; T: {uint8, float32, half} = float32",
    kernel=_write_image,
    touches=OPENED,
    doc="Writes the first pictures of a batch [count, height, width, depth].",
    **WAYS,
)
define(
    "WriteAudioSummary",
    "writer: resource, step: int64, tag: string, tensor: float32, sample_rate: float32 ->",
    "max_outputs: int >= 1 = 3",
    kernel=_write_audio,
    touches=OPENED,
    doc="Writes the first sounds of a batch [count, frames] or [.., channels].",
    **WAYS,
)
define(
    "WriteGraphSummary",
    "writer: resource, step: int64, tensor: string ->",
    kernel=_write_graph,
    touches=OPENED,
    doc="Writes a serialized GraphDef.",
    **WAYS,
)
