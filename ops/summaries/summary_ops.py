# SPDX-License-Identifier: Apache-2.0
"""The ops that make Summary messages: numbers, histograms, tensors, and several as one.

Their kernels write the bytes that TensorFlow 1.15 writes.  Pictures and sounds: media.py.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors, settings
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, shape_text

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

# Fewer values are counted by NumPy as quickly.
_MANY = 4096
FOR_PEOPLE = NoGradient("a summary is for people", silent=True)


def only_tag(tag: np.ndarray, refusal: str) -> str:
    """The one tag; refuses several."""
    if tag.ndim:
        raise errors.invalid(refusal)
    return tag.item().decode()


def serialized(message: Any) -> np.ndarray:
    """A message as the value of a string tensor."""
    return boxed(message.SerializeToString())


def _scalar_summary(c: KernelContext, tags: np.ndarray, values: np.ndarray) -> np.ndarray:
    from ...io.protos import Summary

    if tags.shape != values.shape:
        only = f" (tag '{tags.flat[0].decode()}')" if tags.size == 1 else ""
        raise errors.invalid(
            f"tags and values not the same shape: {shape_text(tags.shape)} != "
            f"{shape_text(values.shape)}{only}"
        )
    message = Summary()
    for tag, value in zip(tags.flat, values.flat):
        message.value.add(tag=tag.decode(), simple_value=float(np.float32(value)))
    return serialized(message)


@functools.cache
def _bucket_limits() -> np.ndarray:
    """Upper ends of the buckets: a tenth more from one to the next, both ways from zero."""
    # The limits of TensorFlow's core/lib/histogram/histogram.cc.
    limits, limit = [], 1.0e-12
    while limit < 1.0e20:
        limits.append(limit)
        limit *= 1.1
    limits.append(sys.float_info.max)
    return np.array([*(-x for x in reversed(limits)), 0.0, *limits])


@functools.cache
def _buckets_by_bits() -> np.ndarray:
    """For the upper 16 bits of a float32 the bucket of all such numbers; -1 if a limit parts them.

    A float32 of these bits is within 1/128 of every other, and a bucket is a tenth wide, so that
    most of them need no search.
    """
    # In order of size: the other 16 bits are zeros, or ones.
    first = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    last = (np.arange(1 << 16, dtype=np.uint32) << 16 | 0xFFFF).view(np.float32)
    ends = [
        np.searchsorted(_bucket_limits(), np.nan_to_num(end).astype(np.float64), side="right")
        for end in (first, last)
    ]
    return np.where(ends[0] == ends[1], ends[0], -1)


def _buckets(given: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The bucket of every value; `given` are the values in the type that they came in."""
    limits = _bucket_limits()
    if given.dtype != np.float32 or given.size < _MANY:
        places = np.searchsorted(limits, values, side="right")
    else:
        places = _buckets_by_bits()[given.view(np.uint32) >> 16]
        parted = np.flatnonzero(places < 0)
        places[parted] = np.searchsorted(limits, values[parted], side="right")
    return np.minimum(places, limits.size - 1)


class _Counted(NamedTuple):
    """What is counted of values: how many are in each bucket, and what else histograms tell."""

    counts: np.ndarray
    sum: float
    squares: float
    least: float
    largest: float
    # The first value that is not finite, if there is one; then the rest is of those before it.
    wrong: float | None


def _counted(values: np.ndarray) -> _Counted:
    """Counts values by NumPy."""
    wide = values.astype(np.float64)
    wrong = wide[~np.isfinite(wide)]
    if wrong.size:
        return _Counted(np.zeros(0, np.int64), 0.0, 0.0, 0.0, 0.0, float(wrong[0]))
    total = squares = 0.0
    if wide.size:
        with np.errstate(over="ignore"):
            # One after the other, as TensorFlow adds; np.sum adds in pairs.
            total = np.add.accumulate(wide)[-1]
            squares = np.add.accumulate(wide * wide)[-1]
    counts = np.bincount(_buckets(values, wide), minlength=_bucket_limits().size)
    least = wide.min(initial=sys.float_info.max)
    return _Counted(counts, total, squares, least, wide.max(initial=-sys.float_info.max), None)


def _counted_by_kernel(values: np.ndarray) -> _Counted:
    """The same by a kernel, which goes over them once."""
    from ...jit.library.buckets import KINDS, buckets
    from ...jit.runtime.calling import call

    given = values if values.dtype.name in KINDS else values.astype(np.float64)
    limits = _bucket_limits()
    counts, end = np.zeros(limits.size, np.int64), np.zeros(1, np.int64)
    sums = np.array([0.0, 0.0, sys.float_info.max, -sys.float_info.max])
    arrays = [given, _buckets_by_bits(), limits, counts, sums, end]
    call(buckets(given.dtype.name), arrays, [given.size, limits.size], 1)
    wrong = float(given[end[0]]) if end[0] < given.size else None
    total, squares, least, largest = sums.tolist()
    return _Counted(counts, total, squares, least, largest, wrong)


def fill_histogram(message: Any, values: np.ndarray, name: str) -> None:
    """Counts values; empty buckets in a row become one.  `name` is for who gave nan or infinity."""
    given = np.ascontiguousarray(values).reshape(-1)
    is_plain = settings.get("jit") == "never" or given.size < _MANY
    found = _counted(given) if is_plain else _counted_by_kernel(given)
    if found.wrong is not None:
        # Like TensorFlow, which goes by the first that is not finite.
        kind = "Nan" if math.isnan(found.wrong) else "Infinity"
        raise errors.invalid(f"{kind} in summary histogram for: {name}")
    counts = found.counts
    message.min, message.max, message.num = found.least, found.largest, given.size
    message.sum, message.sum_squares = found.sum, found.squares
    is_kept = counts > 0
    # The last of a row of empty buckets stands for the row.
    is_kept[:-1] |= counts[1:] > 0
    is_kept[-1] = True
    message.bucket_limit.extend(_bucket_limits()[is_kept].tolist())
    message.bucket.extend(counts[is_kept].astype(float).tolist())


def _histogram_summary(c: KernelContext, tag: np.ndarray, values: np.ndarray) -> np.ndarray:
    from ...io.protos import Summary

    text = only_tag(tag, "tags must be scalar")
    message = Summary()
    fill_histogram(message.value.add(tag=text).histo, values, c.name)
    return serialized(message)


def content_proto(c: KernelContext, tensor: np.ndarray) -> Any:
    """The TensorProto of a tensor of the type `T` of an operation."""
    from ...engine.types.dtypes import string
    from ...io.tensor_proto import tensor_proto

    dtype = c.attr("T")
    return tensor_proto(tensor, dtype, raw=dtype != string)


def _tensor_summary(c: KernelContext, tensor: np.ndarray) -> np.ndarray:
    from ...io.protos import Summary

    message = Summary()
    message.value.add(node_name=c.name, tensor=content_proto(c, tensor))
    return serialized(message)


def _tensor_summary_v2(
    c: KernelContext, tag: np.ndarray, tensor: np.ndarray, metadata: np.ndarray
) -> np.ndarray:
    from ...io.protos import Summary

    message = Summary()
    value = message.value.add(tag=only_tag(tag, "tag must be scalar"))
    value.tensor.CopyFrom(content_proto(c, tensor))
    value.metadata.SetInParent()
    value.metadata.ParseFromString(metadata.item())
    return serialized(message)


def _merge_summaries(c: KernelContext, inputs: list[np.ndarray]) -> np.ndarray:
    from ...io.protos import Summary

    message, seen = Summary(), set()
    for value in (value for text in inputs for item in text.flat for value in _values(item)):
        if value.tag and value.tag in seen:
            raise errors.invalid(f"Duplicate tag {value.tag} found in summary inputs")
        seen.add(value.tag)
        message.value.add().CopyFrom(value)
    return serialized(message)


def _values(text: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from ...io.protos import Summary

    try:
        return Summary.FromString(text).value
    except DecodeError:
        raise errors.invalid("Could not parse one of the summary inputs") from None


def _text(value: bytes) -> np.ndarray:
    return np.array(value, object)


define(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    "T: realnumbertype",
    shape=lambda c: TensorShape([]),
    kernel=_scalar_summary,
    gradient=FOR_PEOPLE,
    doc="A Summary message with one number per tag.",
    test=lambda: {"values": [[np.array([b"a", b"b"], object), np.array([1.5, -2], np.float32)]]},
)
define(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    "T: realnumbertype = float32",
    shape=lambda c: TensorShape([]),
    kernel=_histogram_summary,
    is_native=True,
    gradient=FOR_PEOPLE,
    doc="A Summary message with how many values lie in each of TensorFlow's buckets.",
    test=lambda: {"values": [[_text(b"a"), np.array([[1.5, -2], [0, 1.5]], np.float32)]]},
)
define(
    "TensorSummary",
    "tensor: T -> summary: string",
    "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''",
    shape=lambda c: TensorShape([]),
    kernel=_tensor_summary,
    gradient=FOR_PEOPLE,
    doc="A Summary message with a tensor and the name of the node.",
    test=lambda: {"values": [[np.array([1.5, -2], np.float32)]]},
)
define(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    "T: type",
    shape=lambda c: TensorShape([]),
    kernel=_tensor_summary_v2,
    gradient=FOR_PEOPLE,
    doc="A Summary message with a tensor, its tag and a serialized SummaryMetadata.",
    test=lambda: {"values": [[_text(b"a"), np.array([1.5, -2], np.float32), _text(b"\n\x00")]]},
)
define(
    "MergeSummary",
    "inputs: N * string -> summary: string",
    "N: int >= 1",
    shape=lambda c: TensorShape([]),
    kernel=_merge_summaries,
    gradient=FOR_PEOPLE,
    doc="Several Summary messages as one.",
    test=lambda: {"values": [[[_text(b"\n\x03\n\x01a"), _text(b"\n\x03\n\x01b")]]]},
)
