# SPDX-License-Identifier: Apache-2.0
"""Resizing where sizes of images, or those that are wanted, are known in the run alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.image import resize, resize_nodes

pytestmark = pytest.mark.cpu

_CHOICES: list[dict[str, bool]] = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
_FUNCTIONS = {
    "bilinear": (tf.image.resize_bilinear, resize._bilinear),
    "nearest": (tf.image.resize_nearest_neighbor, resize._nearest_neighbor),
    "bicubic": (tf.image.resize_bicubic, resize_nodes._bicubic),
    "area": (tf.image.resize_area, resize_nodes._area),
}
_WITH_GRADIENTS = ["bilinear", "nearest"]
_SIZES = [((30, 17), (23, 40)), ((50, 60), (20, 7)), ((1, 1), (4, 4)), ((9, 100), (1, 1))]


def _run(function: Any, choice: dict[str, bool], dtype: Any, depth: int, fixed: Any) -> list[Any]:
    """Runs over all sizes, with what the reference kernel gives for each."""
    rng = np.random.default_rng(0)
    public, reference = _FUNCTIONS[function]
    if function == "area":  # whose pixels are where they are
        choice = {key: value for key, value in choice.items() if key == "align_corners"}
    context: Any = SimpleNamespace(attr=lambda name: choice.get(name, False))
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(dtype, [None, None, None, depth])
        size = tf.placeholder(tf.int32, [2])
        resized = public(images, size if fixed is None else tf.constant(fixed), **choice)
        found = []
        for sides, wanted in _SIZES:
            pixels = (rng.random((2, *sides, depth)) * 255).astype(dtype)
            asked = np.array(fixed or wanted, np.int32)
            feed = {images: pixels} if fixed else {images: pixels, size: asked}
            expected = reference(context, pixels, asked)
            found += [(session.run(resized, feed), expected) for _ in range(2)]
        hosted = [k for k in session.explain(resized, feed).kernels if k.kind == "host"]
        assert not hosted
    return found


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("dtype, depth", [(np.uint8, 3), (np.float32, 1), (np.int32, 4)])
@pytest.mark.parametrize("function", _FUNCTIONS)
def test_images_of_any_size(function: str, choice: dict[str, bool], dtype: Any, depth: int) -> None:
    """What is compiled for sizes that change has the bits of the reference kernel."""
    for got, expected in _run(function, choice, dtype, depth, [23, 40]):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_wanted_sizes_of_a_run(function: str) -> None:
    """Sizes that come with a run are no reason to leave compiled code."""
    for got, expected in _run(function, {}, np.uint8, 3, None):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("function", ["bilinear", "nearest"])
def test_wanted_sizes_that_a_run_learns(function: str, choice: dict[str, bool]) -> None:
    """Sizes, and channels, that a run computes on its way: also that of one line."""
    public, reference = _FUNCTIONS[function]
    context: Any = SimpleNamespace(attr=lambda name: choice.get(name, False))
    rng = np.random.default_rng(0)
    with tf.Graph().as_default(), tf.Session() as session:
        images, scale = (
            tf.placeholder(tf.float32, [None, None, None, None]),
            tf.placeholder("float"),
        )
        more = tf.pad(images, [[0, 0], [0, 0], [0, 0], [0, tf.cast(scale * 0.0, tf.int32)]])
        size = tf.cast(tf.cast(tf.shape(images)[1:3], tf.float32) * scale, tf.int32)
        resized = public(more, size, **choice)
        for sides, by in [((20, 16), 1.5), ((20, 16), 0.5), ((20, 16), 0.0625), ((9, 9), 1.0)]:
            pixels = rng.random((1, *sides, 3)).astype(np.float32)
            asked = (np.array(sides, np.float32) * np.float32(by)).astype(np.int32)
            feed = {images: pixels, scale: by}
            expected = reference(context, pixels, asked)
            for _ in range(2):
                np.testing.assert_array_equal(session.run(resized, feed), expected)
        assert not [k for k in session.explain(resized, feed).kernels if k.kind == "host"]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ["lanczos3", "lanczos5", "gaussian", "mitchellcubic", "bicubic"])
def test_samples_of_images_of_any_size(method: str, antialias: bool) -> None:
    """Kernels of sampling are weighed in the run, however many lines each of them takes."""
    rng = np.random.default_rng(3)
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.uint8, [None, None, None, 3])
        size = tf.placeholder(tf.int32, [2])
        resized = tf.compat.v2.image.resize(images, size, method, antialias=antialias)
        for sides, wanted in _SIZES:
            pixels = (rng.random((2, *sides, 3)) * 255).astype(np.uint8)
            feed = {images: pixels, size: wanted}
            with tf.Graph().as_default(), tf.Session() as other:
                fixed = tf.compat.v2.image.resize(pixels, wanted, method, antialias=antialias)
                expected = other.run(fixed)
            for _ in range(2):
                np.testing.assert_allclose(session.run(resized, feed), expected, 2e-6, 2e-4)
        assert not [k for k in session.explain(resized, feed).kernels if k.kind == "host"]


def test_scales_of_a_run_are_positive() -> None:
    """Others are refused in TensorFlow's words."""
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 1])
        scale = tf.placeholder(tf.float32, [2])
        moved = tf.raw_ops.ScaleAndTranslate(
            images=images, size=[3, 4], scale=scale, translation=[0.0, 0.0]
        )
        feed = {images: np.ones((1, 5, 6, 1)), scale: [0.6, 0.66]}
        assert session.run(moved, feed).shape == (1, 3, 4, 1)
        for wrong in ([0.0, 1.0], [1.0, -2.0], [np.nan, 1.0]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
                session.run(moved, {**feed, scale: wrong})


def test_sizes_that_are_none() -> None:
    """A size of a run that is not positive is refused in TensorFlow's words."""
    with tf.Graph().as_default(), tf.Session() as session:
        size = tf.placeholder(tf.int32, [2])
        resized = tf.image.resize_bilinear(np.zeros((1, 4, 4, 3), np.uint8), size)
        assert session.run(resized, {size: [2, 3]}).shape == (1, 2, 3, 3)
        for wrong in ([0, 3], [2, -1]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be"):
                session.run(resized, {size: wrong})


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("function", _WITH_GRADIENTS)
def test_gradients_of_images_of_any_size(function: str, choice: dict[str, bool]) -> None:
    """Networks that enlarge what they were given in sizes unknown before train in compiled code."""
    rng = np.random.default_rng(1)
    public, _ = _FUNCTIONS[function]
    context: Any = SimpleNamespace(attr=lambda name: choice.get(name, False))
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 3])
        size = tf.placeholder(tf.int32, [2])
        given = tf.placeholder(tf.float32)
        (gradient,) = tf.gradients(public(images, size, **choice), images, given)
        for sides, wanted in _SIZES:
            pixels = rng.random((2, *sides, 3)).astype(np.float32)
            grads = rng.standard_normal((2, *wanted, 3)).astype(np.float32)
            if function == "nearest":
                expected = resize._nearest_grad(context, grads, np.array(sides))
            else:
                expected = resize._bilinear_grad(context, grads, pixels)
            feed = {images: pixels, size: wanted, given: grads}
            np.testing.assert_allclose(session.run(gradient, feed), expected, 1e-5, 1e-5)
        kernels = session.explain(gradient, feed).kernels
        assert not [k for k in kernels if k.kind == "host"]


def test_a_branch_that_enlarges_images_is_compiled_with_the_rest() -> None:
    """As networks do whose batch normalization asks a placeholder whether they train."""
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32)
        images.set_shape([None, None, None, 2])
        is_training = tf.placeholder(tf.bool, [])
        scaled = tf.cond(is_training, lambda: images - tf.reduce_mean(images), lambda: images)
        sides = tf.shape(scaled)
        larger = tf.image.resize_nearest_neighbor(scaled, (sides[1] * 2, sides[2] * 2))
        (gradient,) = tf.gradients(tf.square(larger), images)
        pixels = np.random.default_rng(2).random((1, 3, 4, 2)).astype(np.float32)
        feed = {images: pixels, is_training: False}
        np.testing.assert_allclose(session.run(gradient, feed), 8 * pixels, 1e-6)
        report = session.explain(gradient, feed)
        assert "piece by piece" not in str(report)
        assert not [k for k in report.kernels if k.kind == "host"]


@pytest.mark.parametrize("sides", [(1, 1), (7, 1), (2, 3), (33, 65)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_not_finite_stays_where_it_is(sides: tuple[int, int], depth: int) -> None:
    """Pixels beside it, and the first of the next line, are what they were."""
    pixels = np.random.default_rng(1).random((2, *sides, depth)).astype(np.float32)
    for place, value in enumerate([np.nan, np.inf, -np.inf, 1e38, -1e38, -1e10]):
        pixels.reshape(-1)[place * 7 % pixels.size] = value
    context: Any = SimpleNamespace(attr=lambda name: False)
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, depth])
        resized = tf.image.resize_bilinear(images, [40, 50])
        with np.errstate(invalid="ignore", over="ignore"):
            expected = resize._bilinear(context, pixels, np.array([40, 50], np.int32))
        for _ in range(2):
            np.testing.assert_array_equal(session.run(resized, {images: pixels}), expected)
