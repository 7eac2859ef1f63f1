# SPDX-License-Identifier: Apache-2.0
"""tf.image: numbers that TensorFlow 1.15 gives, what is refused, and that plans give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.image import resize_images as second

IMAGE = np.arange(2 * 5 * 4 * 3, dtype=np.float32).reshape(2, 5, 4, 3) % 7 / 7
LINE = np.float32([0, 1, 4, 9]).reshape(1, 1, 4, 1)


def run(make: Callable[..., Any], *arrays: np.ndarray, static: bool = True) -> Any:
    """What a function of placeholders gives: first interpreted or compiled, then compiled."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        inputs = [tf.placeholder(a.dtype, a.shape if static else [None] * a.ndim) for a in arrays]
        made = make(*inputs)
        with tf.Session() as session:
            return session.run(made, dict(zip(inputs, arrays, strict=True)))


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda x: tf.image.resize_images(x, [1, 7]),
            [0, 4 / 7, 10 / 7, 22 / 7, 38 / 7, 58 / 7, 9],
        ),
        (
            lambda x: tf.image.resize_images(x, [1, 3], tf.image.ResizeMethod.AREA),
            [0.25, 2.5, 7.75],
        ),
        (lambda x: tf.image.resize_bicubic(x, [1, 2]), [0, 4]),
        (lambda x: second.resize_images_v2(x, [1, 2], "area"), [0.5, 6.5]),
        (lambda x: second.resize_images_v2(x, [1, 2], "bilinear", antialias=True), [1.0, 40 / 7]),
    ],
    ids=["bilinear", "area", "bicubic", "v2 area", "triangle"],
)
def test_a_line_resized(make: Callable[..., Any], expected: list[float]) -> None:
    found = run(make, LINE).ravel()
    assert found == pytest.approx(np.float32(expected), rel=1e-6)


@pytest.mark.cpu
@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.image.resize_images(x, [7, 3]),
        lambda x: tf.image.resize_images(x, [7, 3], 1, True),
        lambda x: tf.image.resize_bicubic(x, [3, 9]),
        lambda x: tf.image.resize_area(x, [2, 3]),
        lambda x: second.resize_images_v2(x, [3, 9], "lanczos3"),
        lambda x: tf.image.adjust_hue(x, 0.3),
        lambda x: tf.image.adjust_saturation(x, 1.4),
        lambda x: tf.image.adjust_contrast(x, 1.4),
        lambda x: tf.image.rgb_to_hsv(x),
        lambda x: tf.image.draw_bounding_boxes(x, np.float32([[[0, 0.2, 0.7, 1.5]]] * 2)),
    ],
)
def test_sizes_that_a_graph_does_not_know_change_nothing(make: Callable[..., Any]) -> None:
    known, unknown = run(make, IMAGE), run(make, IMAGE, static=False)
    # (Means of as many elements as are known are added in another order.)
    np.testing.assert_allclose(known, unknown, rtol=1e-6, atol=1e-6)


# What TensorFlow 1.15 picks of boxes in a row, each of which overlaps the next by a third.
ROW = np.float32([[0, i / 2, 1, i / 2 + 1] for i in range(6)])
SCORES = np.float32([0.5, 0.5, 0.9, 0.5, 0.3, 0.5])


@pytest.mark.cpu
def test_boxes_of_equal_scores_come_in_the_order_of_a_heap() -> None:
    picked = run(lambda b, s: tf.image.non_max_suppression(b, s, 5, 0.3), ROW, SCORES)
    assert picked.tolist() == [2, 0, 5]
    padded, count = run(
        lambda b, s: tf.image.non_max_suppression_padded(b, s, 5, 0.3, pad_to_max_output_size=True),
        ROW,
        SCORES,
    )
    assert padded.tolist() == [2, 0, 5, 0, 0] and count == 3


@pytest.mark.cpu
@pytest.mark.parametrize("several", [1, 3])
def test_boxes_of_all_classes_are_picked_alike_whether_compiled_or_not(several: int) -> None:
    random = np.random.RandomState(5)
    corners = random.rand(2, 40, several, 2) * 0.9
    boxes = np.concatenate([corners, corners + random.rand(2, 40, several, 2) - 0.4], -1)
    # Many scores are equal, and some are none.
    scores = np.float32(random.randint(-3, 9, (2, 40, 3)) / 8)
    scores[0, 3] = np.nan
    found = []
    for jit in ("never", "always"):
        with settings.override(jit=jit):
            found.append(
                run(
                    lambda boxes, scores: tf.image.combined_non_max_suppression(
                        boxes, scores, 9, 20, 0.3, 0.1, pad_per_class=several > 1
                    ),
                    boxes.astype(np.float32),
                    scores,
                )
            )
    assert found[0].valid_detections.tolist() == [20, 20]
    for reference, compiled in zip(*found, strict=True):
        assert reference.dtype == compiled.dtype and np.array_equal(reference, compiled)


@pytest.mark.cpu
def test_soft_suppression_lowers_scores() -> None:
    indices, scores = run(
        lambda b, s: tf.image.non_max_suppression_with_scores(
            b, s, 3, iou_threshold=1.0, score_threshold=0.1, soft_nms_sigma=0.5
        ),
        ROW,
        SCORES,
    )
    assert indices.tolist() == [2, 0, 5]
    assert scores == pytest.approx([0.9, 0.5, 0.5])


# Recorded from TensorFlow 1.15.5: two pixels, and the sum of all.
@pytest.mark.cpu
@pytest.mark.parametrize(
    ("make", "pixels", "total"),
    [
        (
            lambda x: tf.image.adjust_jpeg_quality(x, 30),
            [[20, 27, 11], [64, 99, 189]],
            71110,
        ),
        (
            lambda x: tf.image.random_jpeg_quality(x, 10, 90, seed=4),
            [[23, 25, 11], [66, 99, 192]],
            70415,
        ),
        (
            lambda x: tf.image.adjust_jpeg_quality(tf.cast(x[..., :1], tf.float32) / 255.0, 90),
            [[0.0784313753247261], [0.24705883860588074]],
            78.21176943182945,
        ),
    ],
)
def test_pixels_of_a_worse_picture(
    make: Callable[..., Any], pixels: list[list[float]], total: float
) -> None:
    y, x = np.mgrid[:16, :24]
    found = run(make, np.stack([y * 7 % 256, x * 5 % 256, x * y % 256], -1).astype(np.uint8))
    assert [found[3, 5].tolist(), found[9, 20].tolist()] == pixels
    assert found.astype(np.float64).sum() == total


@pytest.mark.cpu
def test_a_random_box_is_that_of_the_seeds() -> None:
    begin, size, box = run(
        lambda b: tf.image.sample_distorted_bounding_box([40, 50, 3], b, seed=3, seed2=9),
        np.float32([[[0.2, 0.1, 0.7, 0.9]]]),
    )
    shares = np.float32([*begin[:2], *(begin + size)[:2]]) / np.float32([40, 50, 40, 50])
    assert np.array_equal(box.ravel(), shares)
    assert [begin.tolist(), size.tolist()] == BOX


# Recorded from TensorFlow 1.15.5.
BOX: list[list[int]] = [[1, 2, 0], [37, 45, -1]]


@pytest.mark.pure
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.image.flip_up_down(np.zeros([1, 2, 3, 4, 5])), "either 3 or 4 dimensions"),
        (lambda: tf.image.rot90(np.zeros([2, 3])), "must be at least three-dimensional"),
        (lambda: tf.image.central_crop(IMAGE, 1.5), r"within \(0, 1\]"),
        (lambda: tf.image.crop_to_bounding_box(IMAGE, 0, 0, 6, 1), "height must be >= target"),
        (lambda: tf.image.pad_to_bounding_box(IMAGE, 0, 0, 9, 1), "width must be <= target"),
        (lambda: tf.image.resize_images(IMAGE, [1, 2, 3]), "1-D Tensor of 2 elements"),
        (lambda: tf.image.resize_images(IMAGE, [1, 2], 9), "Resize method is not implemented"),
        (lambda: tf.image.random_hue(IMAGE, 0.7), "max_delta must be <= 0.5"),
        (lambda: tf.image.rgb_to_hsv(IMAGE[..., :2]), "Dimension must be 3 but is 2"),
        (lambda: tf.image.image_gradients(tf.constant(IMAGE[0])), "expects a 4D tensor"),
    ],
)
def test_what_a_graph_refuses(make: Callable[[], Any], text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        make()


@pytest.mark.cpu
def test_what_a_run_refuses() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
        run(lambda x, s: tf.image.resize_bicubic(x, s), IMAGE, np.int32([0, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="iou_threshold must be in"):
        run(lambda b, s, t: tf.image.non_max_suppression(b, s, 3, t), ROW, SCORES, np.float32(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be > 0"):
        run(tf.image.flip_up_down, IMAGE[:, :0], static=False)
