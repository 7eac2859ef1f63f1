# SPDX-License-Identifier: Apache-2.0
"""Ops on images of old GraphDefs; the expected numbers are those of TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

# The first numbers of the windows that these seeds draw.
CORNERS = [15, 18, 30]
IMAGE = np.arange(60, dtype=np.float32).reshape(4, 5, 3)


def _windows(size: Any, times: int = 1) -> list[np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        node = tf.raw_ops.RandomCrop(image=IMAGE, size=np.array(size), seed=3, seed2=4)
        return [session.run(node) for _ in range(times)]


def test_windows_lie_where_tensorflow_has_them() -> None:
    found = _windows([2, 3], 3)
    assert [int(window[0, 0, 0]) for window in found] == CORNERS
    for window in found:
        top, left = divmod(int(window[0, 0, 0]) // 3, 5)
        np.testing.assert_array_equal(window, IMAGE[top : top + 2, left : left + 3])
    np.testing.assert_array_equal(_windows([4, 5])[0], IMAGE)


def test_windows_larger_than_the_image_are_refused() -> None:
    text = "width must be >= target_width: width = 5, target_width = 9"
    with pytest.raises(tf.errors.FailedPreconditionError, match=text):
        _windows([2, 9])


def test_contrast_keeps_within_limits() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        images = IMAGE.astype(np.uint8)
        node = tf.raw_ops.AdjustContrast(
            images=images, contrast_factor=1.7, min_value=0.0, max_value=50.0
        )
        found = session.run(node)
    mean = IMAGE.mean((0, 1))
    np.testing.assert_allclose(found, np.clip((IMAGE - mean) * 1.7 + mean, 0, 50), rtol=1e-5)
    assert (node.dtype, node.shape) == (tf.float32, [4, 5, 3])
