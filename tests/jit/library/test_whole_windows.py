# SPDX-License-Identifier: Apache-2.0
"""Windows as wide as the image, or as large: layers over words, and fully connected ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

# Height, width and channels of images; height and width of windows; stride; layout.
CASES = [
    ((11, 16, 1), (4, 16), 1, "NHWC"),
    ((12, 5, 3), (3, 5), 2, "NHWC"),
    ((7, 7, 8), (7, 7), 1, "NHWC"),
    ((6, 5, 3), (6, 5), 2, "NHWC"),
    ((6, 5, 3), (6, 5), 1, "NCHW"),
    ((6, 5, 3), (4, 5), 1, "NCHW"),
    ((9, 1, 5), (3, 1), 2, "NHWC"),
    ((9, 1, 5), (1, 1), 1, "NCHW"),
    # As high as the image only.
    ((6, 9, 2), (6, 3), 1, "NHWC"),
]


def results(mode: str, threads: int, case: Any, images: int) -> tuple[list[np.ndarray], str]:
    """A layer's outputs and both gradients, and how the first gradient is computed."""
    (height, width, depth), window, stride, layout = case
    random = np.random.default_rng(images)
    shape = [None, height, width, depth] if layout == "NHWC" else [None, depth, height, width]
    strides = [1, stride, stride, 1] if layout == "NHWC" else [1, 1, stride, stride]
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, shape)
        w = tf.constant(random.standard_normal((*window, depth, 6)).astype(np.float32))
        b = tf.constant(random.standard_normal(6).astype(np.float32))
        y = tf.nn.conv2d(x, w, strides, "VALID", data_format=layout)
        active = tf.nn.relu(tf.nn.bias_add(y, b, data_format=layout))
        dx, dw = tf.gradients(active * active, [x, w])
        feed = {x: random.standard_normal([images, *shape[1:]])}
        text = str(session.explain(dx, feed)) if mode == "always" else ""
        return session.run([y, active, dx, dw], feed), text


@pytest.mark.parametrize("case", CASES)
def test_windows_that_cover_an_axis_give_what_others_do(case: Any) -> None:
    for images in (3, 0, 1):
        want, _ = results("never", 1, case, images)
        one, _ = results("always", 1, case, images)
        two, _ = results("always", 2, case, images)
        for expected, a, b in zip(want, one, two, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, expected, rtol=2e-5, atol=2e-4)


def test_the_gradient_does_not_multiply_padding() -> None:
    """The 16 pixels of a line are 16 channels of one, since windows have one place among them."""
    _, text = results("always", 1, CASES[0], 3)
    (launch,) = [line.split() for line in text.splitlines() if "Conv2DBackpropInput" in line][-1:]
    assert launch[1:6] == ["conv2d", "3", "1", "11", "16"]


def test_images_of_one_column_are_lines() -> None:
    """Tiles have pixels of a line, of which a column has one in each."""
    shown = [results("always", 1, ((9, 1, 5), (3, 1), 1, "NHWC"), 3)[1]]
    shown.append(results("always", 1, ((1, 9, 5), (1, 3), 1, "NHWC"), 3)[1])
    launches = [
        [line.split()[1:6] for line in text.splitlines() if "Conv2DBackpropInput" in line]
        for text in shown
    ]
    assert launches[0] == launches[1] and launches[0][-1] == ["conv2d", "3", "1", "9", "5"]
