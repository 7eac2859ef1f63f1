# SPDX-License-Identifier: Apache-2.0
"""The ops and functions that pick boxes by score: non-maximum suppression."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..public import raw
from .suppress import Boxes, require_boxes, require_scalars, require_scores, select

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_THRESHOLDS = "T: {half, float32} = float32; T_threshold: {half, float32} = float32"
_PADS = "pad_to_max_output_size: bool = false"
_NO_GRADIENT = NoGradient("indices have no gradient", silent=True)
_NONE_OF_LATER = NoGradient("indices have no gradient")


def _boxes() -> np.ndarray:
    return np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 3, 1, 4], [1, 4, 0, 3]], np.float32)


def _scores() -> np.ndarray:
    return np.array([0.5, 0.9, 0.3, 0.7], np.float32)


_LOWEST = float(np.finfo(np.float32).min)
# Compiled kernels have room for as many as are wanted; of more there is room for what is found.
_MOST = 1 << 20


def _checked_ranks(c: ShapeContext) -> None:
    boxes = shape_inference.ranked(c.inputs[0], 2)
    scores = shape_inference.ranked(c.inputs[1], 1)
    for shape in c.inputs[2:]:
        shape_inference.ranked(shape, 0)
    shape_inference.merge_dim(boxes[0], scores[0])
    shape_inference.require_dim(boxes[1], 4)


def _selected_shape(c: ShapeContext) -> TensorShape:
    _checked_ranks(c)
    return TensorShape([None])


def scalar_size(c: ShapeContext, i: int) -> int | None:
    """The size that a scalar input is, where it is known."""
    value = c.value(i)
    if value is None:
        return None
    if int(value) < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {i}, must be non-negative but is {int(value)}"
        )
    return int(value)


def _padded_shapes(lists: int) -> Any:
    def shape(c: ShapeContext) -> list[TensorShape]:
        _checked_ranks(c)
        size = scalar_size(c, 2) if c.attr("pad_to_max_output_size") else None
        return [*(TensorShape([size]) for _ in range(lists)), TensorShape([])]

    return shape


def _suppressed(
    c: KernelContext,
    boxes: np.ndarray,
    scores: np.ndarray,
    size: np.ndarray,
    overlap: np.ndarray | None = None,
    least: np.ndarray | None = None,
    sigma: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.int32]:
    """Indices, scores, and how many there are without padding."""
    given = {"iou_threshold": overlap, "score_threshold": least, "soft_nms_sigma": sigma}
    values = {name: np.asarray(value) for name, value in given.items() if value is not None}
    require_scalars({"max_output_size": np.asarray(size), **values})
    share: Any = c.attr("iou_threshold") if overlap is None else overlap
    if sigma is not None and not sigma >= 0:
        raise errors.invalid("soft_nms_sigma_val must be >= 0")
    require_boxes(boxes, scores, float(share))
    lowest = float(np.finfo(scores.dtype).min)
    return _picked(
        scores,
        Boxes(boxes).overlaps,
        int(size),
        share,
        lowest if least is None else least,
        0 if sigma is None else sigma,
        _is_padded(c),
    )


def _picked(
    scores: np.ndarray,
    similar: Callable[[int, Any], np.ndarray],
    size: int,
    share: float | np.ndarray,
    least: float | np.ndarray,
    sigma: float | np.ndarray = 0,
    is_padded: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.int32]:
    if size < 0 and is_padded:
        raise errors.invalid("output size must be non-negative")
    # TensorFlow takes a negative number for a huge one.
    most = size if size >= 0 else len(scores)
    indices, kept = select(scores, similar, most, share, least, sigma)
    count = len(indices)
    room = size if is_padded else count
    chosen, values = np.zeros(room, np.int32), np.zeros(room, scores.dtype)
    chosen[:count], values[:count] = indices, kept
    return chosen, values, np.int32(count)


def _lower_suppressed(
    b: Builder,
    op: OpView,
    boxes: Value,
    scores: Value,
    size: Value,
    overlap: Value | None = None,
    least: Value | None = None,
    sigma: Value | None = None,
) -> Any:
    if boxes.dtype != "float32" or any(
        value is not None and value.dtype != "float32" for value in (overlap, least, sigma)
    ):
        return NotImplemented
    if overlap is None:
        overlap = b.constant(op.attr("iou_threshold"), "float32")
    if least is None:
        least = b.constant(_LOWEST, "float32")
    b.require(boxes.ndim == 2 and b.equal(boxes.shape[1], 4))
    scale = b.constant(0, "float32")
    if sigma is not None:
        b.require(sigma.ndim == 0)
        negative = b.map(lambda s: k.logical_not(k.ge(s, 0.0)), sigma)
        b.require_not(negative, lambda: errors.invalid("soft_nms_sigma_val must be >= 0"))
        scale = b.map(lambda s: k.select(k.gt(s, 0.0), k.div(-0.5, s), 0.0), sigma)
    return _lower_picked(b, boxes, scores, size, overlap, least, scale, True, _is_padded(op))


def _is_padded(op: OpView | KernelContext) -> bool:
    return op.type in ("NonMaxSuppressionV4", "NonMaxSuppressionV5") and bool(
        op.attr("pad_to_max_output_size")
    )


def _lower_picked(
    b: Builder,
    boxes: Value,
    scores: Value,
    size: Value,
    overlap: Value,
    least: Value,
    scale: Value,
    is_share: bool,
    is_padded: bool,
) -> Any:
    from ...jit import library

    known = b.known(size)
    if known is None or known.dtype == object or known.ndim or not 0 <= int(known) <= _MOST:
        return NotImplemented
    b.require(scores.ndim == 1 and b.equal(scores.shape[0], boxes.shape[0]))
    b.require(overlap.ndim == 0 and least.ndim == 0)
    if is_share:
        outside = b.map(is_no_share, overlap)
        b.require_not(outside, lambda: errors.invalid("iou_threshold must be in [0, 1]"))
    found = library.suppressed(b, boxes, scores, overlap, least, scale, int(known), is_share)
    indices, kept, count = found
    if is_padded:
        return indices, kept, count
    number = b.measure(count)
    return b.slice(indices, [0], [number]), b.slice(kept, [0], [number]), count


def is_no_share(share: Any) -> Any:
    """Whether a number is out of [0, 1], or none: a scalar body."""
    return k.logical_not(k.logical_and(k.ge(share, 0.0), k.le(share, 1.0)))


def _first(function: Any) -> Any:
    def indices(*args: Any) -> Any:
        found = function(*args)
        return found if found is NotImplemented else found[0]

    return indices


def _without_scores(function: Any) -> Any:
    def indices_and_count(*args: Any) -> Any:
        found = function(*args)
        return found if found is NotImplemented else (found[0], found[2])

    return indices_and_count


_SUPPRESSED: dict[str, Any] = {
    "shape": _selected_shape,
    "kernel": _first(_suppressed),
    "lower": _first(_lower_suppressed),
    "gradient": _NO_GRADIENT,
    "dynamic_shape": True,
}
define(
    "NonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size: int32 -> selected_indices: int32",
    "iou_threshold: float = 0.5",
    doc="Indices of the boxes that are left, best first, without those that overlap better ones.",
    test=lambda: {"values": [[_boxes(), _scores(), np.int32(3)]]},
    **_SUPPRESSED,
)
define(
    "NonMaxSuppressionV2",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> "
    "selected_indices: int32",
    _THRESHOLDS,
    doc="NonMaxSuppression whose threshold is a tensor.",
    test=lambda: {"values": [[_boxes(), _scores(), np.int32(3), np.float32(0.5)]]},
    **_SUPPRESSED,
)
_ALIKE = [[1, 0.9, 0.1, 0.2], [0.9, 1, 0.3, 0], [0.1, 0.3, 1, 0.6], [0.2, 0, 0.6, 1]]


def _v3() -> list[Any]:
    return [_boxes(), _scores(), np.int32(3), np.float32(0.5), np.float32(0.4)]


define(
    "NonMaxSuppressionV3",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold -> selected_indices: int32",
    _THRESHOLDS,
    doc="NonMaxSuppressionV2 of the boxes whose score is above another threshold.",
    test=lambda: {"values": [_v3()]},
    **{**_SUPPRESSED, "gradient": _NONE_OF_LATER},
)
define(
    "NonMaxSuppressionV4",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold -> selected_indices: int32, valid_outputs: int32",
    f"{_THRESHOLDS}; {_PADS}",
    shape=_padded_shapes(1),
    kernel=_without_scores(_suppressed),
    lower=_without_scores(_lower_suppressed),
    gradient=_NONE_OF_LATER,
    dynamic_shape=True,
    doc="NonMaxSuppressionV3, padded with zeros if that is asked for, and how many there are.",
    test=lambda: {"values": [_v3()], "attrs": [{}, {"pad_to_max_output_size": True}]},
)
define(
    "NonMaxSuppressionV5",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    f"T: {{half, float32}} = float32; {_PADS}",
    shape=_padded_shapes(2),
    kernel=_suppressed,
    lower=_lower_suppressed,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    dynamic_shape=True,
    doc="NonMaxSuppressionV4 with scores, which boxes lower that overlap less than to be dropped.",
    test=lambda: {
        "values": [[*_v3(), np.float32(0)], [*_v3()[:4], np.float32(0.1), np.float32(0.5)]],
        "attrs": [{}, {"pad_to_max_output_size": True}],
    },
)


def _overlapping(
    c: KernelContext,
    overlaps: np.ndarray,
    scores: np.ndarray,
    size: np.ndarray,
    overlap: np.ndarray,
    least: np.ndarray,
) -> np.ndarray:
    require_scalars(
        {"max_output_size": size, "overlap_threshold": overlap, "score_threshold": least}
    )
    if overlaps.ndim != 2:
        raise errors.invalid(f"overlaps must be 2-D{shape_text(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise errors.invalid(f"overlaps must be square{shape_text(overlaps.shape)}")
    require_scores(scores, len(overlaps))

    def similar(index: int, others: Any) -> np.ndarray:
        return overlaps[index, others]

    return _picked(scores, similar, int(size), overlap, least)[0]


def _lower_overlapping(
    b: Builder,
    op: OpView,
    overlaps: Value,
    scores: Value,
    size: Value,
    overlap: Value,
    least: Value,
) -> Any:
    b.require(overlaps.ndim == 2 and b.equal(overlaps.shape[0], overlaps.shape[1]))
    zero = b.constant(0, "float32")
    found = _lower_picked(b, overlaps, scores, size, overlap, least, zero, False, False)
    return found if found is NotImplemented else found[0]


def _overlaps_shape(c: ShapeContext) -> TensorShape:
    overlaps = shape_inference.ranked(c.inputs[0], 2)
    scores = shape_inference.ranked(c.inputs[1], 1)
    for shape in c.inputs[2:]:
        shape_inference.ranked(shape, 0)
    shape_inference.merge_dim(overlaps[0], scores[0])
    shape_inference.merge_dim(overlaps[0], overlaps[1])
    return TensorShape([None])


define(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32",
    shape=_overlaps_shape,
    kernel=_overlapping,
    lower=_lower_overlapping,
    gradient=_NO_GRADIENT,
    dynamic_shape=True,
    doc="NonMaxSuppressionV3 of things whose overlaps are given.",
    test=lambda: {
        "values": [
            [np.array(_ALIKE, np.float32), *_v3()[1:]],
        ]
    },
)


# Functions.


def _thresholds(
    overlap: TensorLike, least: TensorLike, name: str = "iou_threshold"
) -> tuple[Tensor, Tensor]:
    first = convert_to_tensor(overlap, name=name)
    return first, convert_to_tensor(least, name="score_threshold")


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Indices of boxes, best first, without those that overlap better ones (`tf.image`).

    Args:
      boxes: A float tensor, [number, 4], of two opposite corners (y, x) each.
      scores: A float tensor, [number].
      max_output_size: An int32, how many boxes to keep at most.
      iou_threshold: From which share of their common area on two boxes overlap.
      score_threshold: Boxes that score no more are left out.
      name: A scope for the nodes.

    Returns:
      An int32 vector.
    """
    with name_scope(name, "non_max_suppression"):
        overlap, least = _thresholds(iou_threshold, score_threshold)
        return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, overlap, least)


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.image.non_max_suppression` with scores, which overlapping boxes may lower.

    Args:
        boxes: a float tensor, [number, 4], of two opposite corners (y, x) each.
        scores: a float tensor, [number].
        max_output_size: an int32, how many boxes to keep at most.
        iou_threshold: from which share of their common area on two boxes overlap.
        score_threshold: boxes that score no more are left out.
        soft_nms_sigma: how far what overlaps less lowers scores; not at all if it is zero.
        name: the scope of the operations.

    Returns:
        (indices, scores), vectors of int32 and of the scores' dtype.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        overlap, least = _thresholds(iou_threshold, score_threshold)
        sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, kept, _ = raw.NonMaxSuppressionV5(
            boxes, scores, max_output_size, overlap, least, sigma, pad_to_max_output_size=False
        )
        return indices, kept


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.image.non_max_suppression`, its result filled up with zeros if that is asked for.

    Args:
        boxes: a float tensor, [number, 4], of two opposite corners (y, x) each.
        scores: a float tensor, [number].
        max_output_size: an int32, how many boxes to keep at most.
        iou_threshold: from which share of their common area on two boxes overlap.
        score_threshold: boxes that score no more are left out.
        pad_to_max_output_size: whether the result has always so many indices.
        name: the scope of the operations.

    Returns:
        (indices, how many of them are valid), of int32.
    """
    with name_scope(name, "non_max_suppression_padded"):
        overlap, least = _thresholds(iou_threshold, score_threshold)
        return raw.NonMaxSuppressionV4(
            boxes, scores, max_output_size, overlap, least, pad_to_max_output_size
        )


@export("image.non_max_suppression_overlaps")
def non_max_suppression_with_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: Any = 0.5,
    score_threshold: TensorLike = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Indices, best first, without those that overlap better ones as a matrix says.

    Args:
        overlaps: a float32 tensor, [number, number].
        scores: a float32 tensor, [number].
        max_output_size: an int32, how many to keep at most.
        overlap_threshold: from which overlap on one of two is left out.
        score_threshold: what scores no more is left out.
        name: the scope of the operations.

    Returns:
        An int32 vector.
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return raw.NonMaxSuppressionWithOverlaps(
            overlaps, scores, max_output_size, overlap, score_threshold
        )
