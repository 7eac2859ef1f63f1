# SPDX-License-Identifier: Apache-2.0
"""Filter gradients of many channels that are products: those of small images, and of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

# Sizes of images, of the filter, then stride, padding, dilation.
CASES = [
    ((5, 5), (1, 1, 128, 256), 1, "SAME", 1),
    ((9, 7), (1, 1, 128, 256), 2, "SAME", 1),
    # Pixels that are a power of two apart.
    ((13, 14), (1, 1, 512, 64), 1, "SAME", 1),
    ((25, 27), (1, 1, 256, 130), 2, "VALID", 1),
    ((4, 4), (3, 3, 256, 130), 1, "SAME", 1),
    ((9, 8), (3, 5, 129, 256), 2, [[0, 0], [1, 2], [0, 3], [0, 0]], 1),
    ((9, 8), (3, 3, 129, 256), 1, "VALID", 2),
]


def gradient(mode: str, threads: int, case: Any, feeds: list[Any]) -> tuple[list[np.ndarray], str]:
    """The gradients of all feeds, and what they were computed by."""
    size, filters, stride, padding, dilation = case
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None, *size, filters[2]], name="x")
        w = tf.zeros(filters)
        steps = [[1, n, n, 1] for n in (stride, dilation)]
        y = tf.nn.conv2d(x, w, steps[0], padding, dilations=steps[1])
        dy = tf.placeholder(tf.float32, y.shape, name="dy")
        (dw,) = tf.gradients(y, w, dy)
        made = [session.run(dw, feed(y.shape.as_list(), size, filters)) for feed in feeds]
        values = feeds[-1](y.shape.as_list(), size, filters)
        return made, str(session.explain(dw, values)) if mode == "always" else ""


def feed_of(images: int) -> Any:
    """A function from the shapes of a case to what is fed."""

    def feed(out: list[Any], size: tuple[int, int], filters: tuple[int, ...]) -> dict[str, Any]:
        random = np.random.default_rng(images)
        return {
            "x:0": random.standard_normal((images, *size, filters[2])),
            "dy:0": random.standard_normal((images, *out[1:])),
        }

    return feed


@pytest.mark.parametrize("case", CASES)
def test_filter_gradients_of_many_channels_on_small_images(case: Any) -> None:
    feeds = [feed_of(images) for images in (3, 0, 2)]
    want, _ = gradient("never", 1, case, feeds)
    one, report = gradient("always", 1, case, feeds)
    two, _ = gradient("always", 2, case, feeds)
    assert " matmul " in report and "conv2d_filter_gradient" not in report
    for expected, a, b in zip(want, one, two, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, expected, rtol=1e-4, atol=1e-4)


def test_few_channels_and_large_images_are_summed_image_by_image() -> None:
    for case in (((4, 4), (3, 3, 8, 16), 1, "SAME", 1), ((13, 13), (1, 1, 128, 256), 1, "SAME", 1)):
        _, report = gradient("always", 2, case, [feed_of(2)])
        assert "conv2d_filter_gradient" in report
