# SPDX-License-Identifier: Apache-2.0
"""contrib.image and its neighbours make the nodes of TensorFlow 1.15, and give what it gives.

recorded_1_15.json was made by ../recording.py of programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.train.contrib.image.distort_image_ops import adjust_hsv_in_yiq, random_hsv_in_yiq

from ..recording import results
from .programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("recorded_1_15.json").read_text())


@pytest.mark.programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_and_values_are_those_of_tensorflow(name):
    with settings.override(jit="never"):
        found = results(tf, PROGRAMS[name])
    wanted = RECORDED[name]
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert found["nodes"] == wanted["nodes"]


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["resampled", "transformed"])
def test_compiled_programs_give_the_same(name):
    with settings.override(jit="always"):
        found = results(tf, PROGRAMS[name])
    for ours, theirs in zip(found["values"], RECORDED[name]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.cpu
def test_a_transform_of_fed_images_is_one_plan():
    images = tf.placeholder(tf.float32, [None, 6, 6, 3])
    turned = tf.contrib.image.rotate(images, tf.constant(0.5), "BILINEAR")
    with tf.Session() as session:
        text = str(session.explain(turned, {images: np.ones([2, 6, 6, 3], np.float32)}))
    assert "host" not in text


@pytest.mark.cpu
def test_colours_keep_their_brightness():
    images = np.random.RandomState(0).uniform(0.3, 0.6, [1, 4, 5, 3]).astype(np.float32)
    turned = adjust_hsv_in_yiq(tf.constant(images), 0.4, 0.5)
    chance = random_hsv_in_yiq(tf.constant(images), 0.1, 0.5, 1.0, 0.5, 0.9, seed=3)
    with tf.Session() as session:
        for jit in ("never", "always"):
            with settings.override(jit=jit):
                found, drawn = session.run([turned, chance])
            shares = [0.299, 0.587, 0.114]
            np.testing.assert_allclose(found @ shares, images @ shares, atol=1e-3)
            assert 0.5 <= (drawn @ shares / (images @ shares)).mean() <= 0.9


@pytest.mark.programs
def test_stereograms_repeat_by_depth():
    flat = tf.contrib.image.single_image_random_dot_stereograms(
        np.zeros([4, 4], np.float32),
        normalize=False,
        convergence_dots_size=0,
        output_image_shape=[300, 3, 1],
        output_data_window=[300, 3],
    )
    with tf.Session() as session:
        picture = session.run(flat)
    assert picture.shape == (3, 300, 1) and picture.dtype == np.uint8
    # Eyes 180 dots apart see a plane twice as far behind the screen: it repeats every 90.
    assert (picture[:, 90:] == picture[:, :-90]).all()
    assert not (picture[:, 80:] == picture[:, :-80]).all()


@pytest.mark.pure
@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tf.contrib.image.rotate(tf.zeros([2]), 0.0), "rank between 2 and 4"),
        (lambda: tf.contrib.image.rotate(tf.zeros([2, 2], tf.bool), 0.0), "Invalid dtype"),
        (
            lambda: tf.contrib.image.transform(tf.zeros([2, 2]), [1.0] * 8, "NEAREST", [1, 2, 3]),
            "1-D Tensor of 2 elements",
        ),
        (lambda: tf.contrib.image.connected_components(tf.zeros([3])), "rank 2 .HW. or 3 .NHW."),
        (lambda: random_hsv_in_yiq(tf.zeros([2, 2, 3]), -1), "non-negative"),
    ],
)
def test_what_does_not_fit_is_refused(call, error):
    with pytest.raises((TypeError, ValueError), match=error):
        call()
