# SPDX-License-Identifier: Apache-2.0
"""Proposals of boxes: a node that TensorFlow 1.15, too, runs on graphics processors alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext


def _shapes(c: ShapeContext) -> list[TensorShape]:
    scores = shape_inference.ranked(c.inputs[0], 4)
    shape_inference.ranked(c.inputs[1], 4)
    shape_inference.require_dim(shape_inference.ranked(c.inputs[2], 2)[1], 5)
    shape_inference.ranked(c.inputs[3], 3)
    for shape in c.inputs[4:]:
        shape_inference.ranked(shape, 0)
    count = c.attr("post_nms_topn")
    return [TensorShape([scores[0], count, 4]), TensorShape([scores[0], count])]


define(
    "GenerateBoundingBoxProposals",
    "scores: float32, bbox_deltas: float32, image_info: float32, anchors: float32, "
    "nms_threshold: float32, pre_nms_topn: int32, min_size: float32 -> "
    "rois: float32, roi_probabilities: float32",
    "post_nms_topn: int = 300",
    shape=_shapes,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="Proposals of boxes; it can be built, imported and saved, not run.",
)


@export("image.generate_bounding_box_proposals")
def generate_bounding_box_proposals(
    scores: TensorLike,
    bbox_deltas: TensorLike,
    image_info: TensorLike,
    anchors: TensorLike,
    nms_threshold: Any = 0.7,
    pre_nms_topn: Any = 6000,
    min_size: Any = 16,
    post_nms_topn: int = 300,
    name: str | None = None,
) -> Any:
    """A node that proposes boxes, which no CPU runs: TensorFlow 1.15 has no kernel of it either.

    Args:
        scores: a float32 tensor, [batch, height, width, anchors].
        bbox_deltas: a float32 tensor, [batch, height, width, 4 * anchors].
        image_info: a float32 tensor, [batch, 5].
        anchors: a float32 tensor, [height, width, 4 * anchors].
        nms_threshold: from which share of their common area on two boxes overlap.
        pre_nms_topn: how many boxes are looked at.
        min_size: how large a box is at least.
        post_nms_topn: how many boxes of an image there are.
        name: a name for the operation.

    Returns:
        (boxes, scores), of float32.
    """
    return raw.GenerateBoundingBoxProposals(
        scores=scores,
        bbox_deltas=bbox_deltas,
        image_info=image_info,
        anchors=anchors,
        nms_threshold=nms_threshold,
        pre_nms_topn=pre_nms_topn,
        min_size=min_size,
        post_nms_topn=post_nms_topn,
        name=name,
    )
