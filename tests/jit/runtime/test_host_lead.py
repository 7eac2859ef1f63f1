# SPDX-License-Identifier: Apache-2.0
"""Runs that begin with operations on the host: how often these run, what they give, what fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.session.session import Session
from numbaflow.jit.runtime.host_lead import HostLead
from numbaflow.ops.data.runtime import mapping

pytestmark = pytest.mark.cpu
_SIZES = ((5, 7), (5, 7), (9, 4), (5, 7), (2, 3))


@pytest.fixture
def leads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many operations each run by a lead began with."""
    found: list[int] = []
    run = HostLead.run

    def counted(self: HostLead, known: dict) -> Any:
        found.append(len(self))
        return run(self, known)

    monkeypatch.setattr(HostLead, "run", counted)
    return found


def _png(session: Session, pixels: np.ndarray) -> bytes:
    return session.run(tf.image.encode_png(pixels))


def _picture(height: int, width: int, first: int) -> np.ndarray:
    count = height * width * 3
    return np.arange(first, first + count).astype(np.uint8).reshape(height, width, 3)


def test_the_rest_goes_by_the_sizes_that_the_host_gives(leads: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        file = tf.placeholder(tf.string, [])
        pixels = tf.image.decode_png(file, channels=3)
        shown = tf.cast(pixels, tf.float32) * 0.5 + tf.random_uniform([], seed=1)
        for first, sizes in enumerate(_SIZES):
            picture = _picture(*sizes, first)
            found, raw, given = session.run([shown, pixels, file], {file: _png(session, picture)})
            np.testing.assert_array_equal(raw, picture)
            assert given == _png(session, picture)
            offset = found - picture * np.float32(0.5)
            assert offset.min() >= 0 and np.ptp(offset) < 1e-4 and found.shape == picture.shape
    assert leads and set(leads) == {1}


def test_several_operations_begin_a_run(leads: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        files = [tf.placeholder(tf.string, []) for _ in range(2)]
        pixels = [tf.image.decode_png(file) for file in files]
        one, other = [tf.reduce_sum(tf.cast(each, tf.int32)) for each in pixels]
        total = one - other
        for first, sizes in enumerate(_SIZES):
            pair = _picture(*sizes, first), _picture(*sizes[::-1], 2 * first)
            fed = {file: _png(session, picture) for file, picture in zip(files, pair)}
            expected = pair[0].sum(dtype=np.int64) - pair[1].sum(dtype=np.int64)
            assert session.run(total, fed) == expected
    assert 2 in leads


def test_errors_are_those_of_the_operation() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        file = tf.placeholder(tf.string, [])
        doubled = tf.cast(tf.image.decode_png(file), tf.float32) * 2.0
        for sizes in _SIZES:
            session.run(doubled, {file: _png(session, _picture(*sizes, 0))})
        with pytest.raises(tf.errors.InvalidArgumentError, match="DecodePng"):
            session.run(doubled, {file: b"no picture"})
        picture = _picture(3, 3, 1)
        np.testing.assert_array_equal(
            session.run(doubled, {file: _png(session, picture)}), picture * np.float32(2)
        )


def test_fed_results_are_not_made(leads: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        file = tf.constant(b"no picture")
        pixels = tf.image.decode_png(file, channels=3)
        doubled = tf.cast(pixels, tf.int32) * 2
        for sizes in _SIZES:
            picture = _picture(*sizes, 3)
            found = session.run(doubled, {pixels: picture})
            np.testing.assert_array_equal(found, picture.astype(np.int32) * 2)
    assert not leads


def test_arrays_of_other_shapes_go_another_way(leads: list[int]) -> None:
    """What is found to begin every run holds for inputs of the same shapes."""
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.placeholder(tf.string)
        lengths = tf.string_split(tf.reshape(text, [-1])).values
        total = tf.reduce_sum(tf.strings.length(lengths))
        files = tf.placeholder(tf.string)
        pixels = tf.cast(tf.image.decode_png(files, channels=3), tf.int32) + total
        for sizes in _SIZES:
            picture = _picture(*sizes, 2)
            fed = {text: b"a bc def", files: _png(session, picture)}
            np.testing.assert_array_equal(session.run(pixels, fed), picture.astype(np.int32) + 6)
            fed[text] = np.array([["a", "bc"], ["d", "e"]])
            np.testing.assert_array_equal(session.run(pixels, fed), picture.astype(np.int32) + 5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
            session.run(pixels, {text: b"a", files: [b"one", b"two"]})


def _pipeline(files: list[bytes], threads: int | None) -> list[Any]:
    """Pictures of files, resized, with texts and whole numbers from the host beside them."""

    def shown(file: Any, name: Any) -> Any:
        pixels = tf.image.decode_png(file, channels=3)
        small = tf.image.resize_images(pixels, [4, 4]) / 255.0
        parts = tf.string_split([name], "-").values
        return small, parts, tf.strings.length(name) * 2

    names = [b"n-%d" % i for i in range(len(files))]
    read = tf.data.Dataset.from_tensor_slices((files, names))
    element = tf.data.make_one_shot_iterator(read.map(shown, threads).batch(3)).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_functions_of_datasets_begin_on_the_host(
    monkeypatch: pytest.MonkeyPatch, leads: list[int], threads: int | None
) -> None:
    """Whatever of them can, wherever it stands in the function."""
    # (Nothing of them is computed for blocks.)
    monkeypatch.setattr(mapping, "stages_of", lambda *_: None)
    pictures = [_picture(*sizes, i) for i, sizes in enumerate(_SIZES * 6)]
    with tf.Graph().as_default(), tf.Session() as session:
        files = [_png(session, picture) for picture in pictures]
        single = tf.placeholder(tf.uint8, [None, None, 3])
        small = tf.image.resize_images(single, [4, 4]) / 255.0
        expected = [session.run(small, {single: picture}) for picture in pictures]
        found = _pipeline(files, threads)
    pixels, parts, lengths = (np.concatenate(column) for column in zip(*found))
    np.testing.assert_array_equal(pixels, expected)
    assert parts.tolist() == [[b"n", b"%d" % i] for i in range(len(files))]
    assert lengths.tolist() == [2 * len(b"n-%d" % i) for i in range(len(files))]
    if threads is None:
        assert leads and min(leads) >= 3


def test_an_error_in_front_is_that_of_its_element() -> None:
    pictures = [_picture(*sizes, i) for i, sizes in enumerate(_SIZES * 6)]
    with tf.Graph().as_default(), tf.Session() as session:
        files = [_png(session, picture) for picture in pictures]
        files[17] = b"no picture"
        read = tf.data.Dataset.from_tensor_slices(files)
        read = read.map(lambda f: tf.reduce_sum(tf.to_int64(tf.image.decode_png(f))), 2)
        element = tf.data.make_one_shot_iterator(read).get_next()
        for picture in pictures[:17]:
            assert session.run(element) == picture.sum(dtype=np.int64)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element)
        for picture in pictures[18:]:
            assert session.run(element) == picture.sum(dtype=np.int64)


def test_decoding_of_any_format_is_followed_to_where_it_is_used() -> None:
    """Its branches give different shapes, and are within each other."""
    with tf.Graph().as_default(), tf.Session() as session:
        files = [_png(session, _picture(*sizes, i)) for i, sizes in enumerate(_SIZES)]
        files += [session.run(tf.image.encode_jpeg(_picture(9, 8, 5)))]

        def shown(file: Any) -> Any:
            pixels = tf.image.decode_image(file, channels=3)
            pixels.set_shape([None, None, 3])
            return tf.cast(pixels[:2, :2], tf.float32) / 255.0

        read = tf.data.Dataset.from_tensor_slices(files).map(shown)
        element = tf.data.make_one_shot_iterator(read).get_next()
        for file in files:
            expected = session.run(tf.image.decode_image(file))[:2, :2] / np.float32(255)
            np.testing.assert_allclose(session.run(element), expected, rtol=1e-6)
