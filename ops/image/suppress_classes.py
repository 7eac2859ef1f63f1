# SPDX-License-Identifier: Apache-2.0
"""The op and function that pick boxes of all classes of a batch of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel.sizes import minimum
from .. import shape_inference
from ..public import raw
from .suppress import combined, require_scalars
from .suppress_nodes import is_no_share, scalar_size

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")


def _boxes() -> np.ndarray:
    return np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 3, 1, 4], [1, 4, 0, 3]], np.float32)


# Of scores, no two of which are equal: which of two equal ones comes first nobody says.
_ORDER = [3, 9, 12, 0, 6, 15, 1, 7, 13, 4, 10, 5, 2, 14, 8, 11]


def _combined_shape(c: ShapeContext) -> list[TensorShape]:
    boxes, scores = shape_inference.ranked(c.inputs[0], 4), shape_inference.ranked(c.inputs[1], 3)
    for shape in c.inputs[2:]:
        shape_inference.ranked(shape, 0)
    count = shape_inference.merge_dim(boxes[0], scores[0])
    shape_inference.merge_dim(boxes[1], scores[1])
    shape_inference.require_dim(boxes[3], 4)
    kinds = scores[2]
    if boxes[2] is not None and kinds is not None and boxes[2] not in (1, kinds):
        raise ValueError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    total = scalar_size(c, 3)
    if total is not None and total <= 0:
        raise ValueError("max_total_size should be > 0 ")
    per_class = scalar_size(c, 2)
    if c.attr("pad_per_class"):
        if per_class is not None and per_class <= 0:
            raise ValueError(
                "max_output_size_per_class must be > 0 if pad_per_class is set to true "
            )
        if total is None or per_class is None or kinds is None:
            total = None
        else:
            total = min(total, per_class * kinds)
    count = boxes[0] if count is None else count
    return [
        TensorShape([count, total, 4]),
        TensorShape([count, total]),
        TensorShape([count, total]),
        TensorShape([count]),
    ]


def _combined(
    c: KernelContext,
    boxes: np.ndarray,
    scores: np.ndarray,
    per_class: np.ndarray,
    total: np.ndarray,
    overlap: np.ndarray,
    least: np.ndarray,
) -> tuple[np.ndarray, ...]:
    _require_combined(boxes, scores, per_class, total, overlap, least)
    size, each = int(total), int(per_class)
    if c.attr("pad_per_class"):
        size = min(size, each * scores.shape[2])
        if size < 0:
            raise errors.invalid(
                "max_output_size_per_class must be > 0 if pad_per_class is set to true "
            )
    count = len(boxes)
    result = np.zeros((count, size, 4), np.float32)
    values, kinds = np.zeros((count, size), np.float32), np.zeros((count, size), np.float32)
    valid = np.zeros(count, np.int32)
    for i in range(count):
        found = combined(boxes[i], scores[i], each, float(overlap), float(least))[:size]
        valid[i] = len(found)
        for j, (score, kind, box) in enumerate(found):
            values[i, j], kinds[i, j], result[i, j] = score, kind, box
    if c.attr("clip_boxes"):
        result = np.clip(result, np.float32(0), np.float32(1))
    return result, values, kinds, valid


def _require_combined(
    boxes: np.ndarray,
    scores: np.ndarray,
    per_class: np.ndarray,
    total: np.ndarray,
    overlap: np.ndarray,
    least: np.ndarray,
) -> None:
    if len(boxes) != len(scores):
        raise errors.invalid("boxes and scores must have same batch size")
    require_scalars({"max_size_per_class": per_class, "max_total_size": total})
    if int(total) <= 0:
        raise errors.invalid("max_total_size must be > 0")
    require_scalars({"iou_threshold": overlap, "score_threshold": least})
    if not 0 <= overlap <= 1:
        raise errors.invalid("iou_threshold must be in [0, 1]")
    if boxes.ndim != 4:
        raise errors.invalid(f"boxes must be 4-D{shape_text(boxes.shape)}")
    if scores.ndim != 3:
        raise errors.invalid(f"scores must be 3-D{shape_text(scores.shape)}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise errors.invalid("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise errors.invalid("boxes must have 4 columns")
    if scores.shape[1] != boxes.shape[1]:
        raise errors.invalid("scores has incompatible shape")


def _lower_combined(
    b: Builder,
    op: OpView,
    boxes: Value,
    scores: Value,
    per_class: Value,
    total: Value,
    overlap: Value,
    least: Value,
) -> Any:
    from ...jit import library

    sizes = [b.known(value) for value in (per_class, total)]
    if any(known is None or known.dtype == object or known.ndim for known in sizes):
        return NotImplemented
    each, most = (int(known) for known in sizes if known is not None)
    b.require(boxes.ndim == 4 and scores.ndim == 3 and overlap.ndim == 0 and least.ndim == 0)
    classes = scores.shape[2]
    b.require(b.equal(boxes.shape[2], 1) or b.equal(boxes.shape[2], classes))
    b.require(b.equal(boxes.shape[0], scores.shape[0]) and b.equal(boxes.shape[3], 4))
    b.require(b.equal(boxes.shape[1], scores.shape[1]) and most > 0 and each >= 0)
    outside = b.map(is_no_share, overlap)
    b.require_not(outside, lambda: errors.invalid("iou_threshold must be in [0, 1]"))
    size = minimum(most, each * classes) if op.attr("pad_per_class") else most
    return library.suppressed_classes(
        b, boxes, scores, overlap, least, each, size, op.attr("clip_boxes")
    )


define(
    "CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32 -> "
    "nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32",
    "pad_per_class: bool = false; clip_boxes: bool = true",
    shape=_combined_shape,
    kernel=_combined,
    lower=_lower_combined,
    gradient=_NO_GRADIENT,
    doc="The best boxes of each image of a batch, of all classes, padded with zeros.",
    test=lambda: {
        "values": [
            [
                np.stack([_boxes(), _boxes() / 2])[:, :, None],
                np.linspace(0.9, 0.1, 16, dtype=np.float32)[_ORDER].reshape(2, 4, 2),
                np.int32(2),
                np.int32(5),
                np.float32(0.5),
                np.float32(0.2),
            ]
        ],
        "attrs": [{}, {"pad_per_class": True}, {"clip_boxes": False}],
    },
)


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """The best boxes of each image of a batch, picked class by class.

    Args:
        boxes: a float32 tensor, [batch, number, 1 or classes, 4].
        scores: a float32 tensor, [batch, number, classes].
        max_output_size_per_class: an int32, how many boxes of a class to keep at most.
        max_total_size: an int32, how many boxes of an image.
        iou_threshold: above which share of their common area two boxes overlap.
        score_threshold: boxes that score no more are left out.
        pad_per_class: whether results are no longer than so many boxes of each class.
        clip_boxes: whether corners are moved into [0, 1].
        name: the scope of the operations.

    Returns:
        (boxes, scores, classes, how many of them are valid), the first three of float32 and padded
        with zeros.
    """
    with name_scope(name, "combined_non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        least = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return raw.CombinedNonMaxSuppression(
            *(boxes, scores, max_output_size_per_class, max_total_size, overlap, least),
            *(pad_per_class, clip_boxes),
        )
