# SPDX-License-Identifier: Apache-2.0
"""Convolutions by cuDNN: what its descriptors say, computed by NumPy over emulated memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import card as cards
from numbaflow.jit.cuda import vendor

from . import fake_cudnn, fake_driver
from .convolutions import SHAPES, Shape, given, session_inputs
from .fake_cudnn import FakeCudnn

pytestmark = pytest.mark.cpu

WAYS = ["forward", "images", "filters"]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCudnn]:
    """The library of a card of a fake driver, by which sessions run."""
    fake = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, fake)
    found = FakeCudnn(fake)

    def opened(name: str, functions: vendor.Functions) -> Any:
        if name != "cudnn":
            return None
        vendor.declare(found, functions)
        return found

    monkeypatch.setattr(vendor, "opened", opened)
    devices = tuple(cards.found())
    fake_driver.show(monkeypatch, devices)
    with settings.override(jit="always"), tf.Graph().as_default():
        yield found
    assert not hasattr(found, "error"), found.error


def computed(shape: Shape, dtype: str, way: str, is_known: bool = True) -> Any:
    """A convolution in a session."""
    operation, feeds = session_inputs(shape, dtype, way, is_known)
    with tf.Session() as session:
        return session.run(operation, feeds)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_convolutions_are_those_of_numpy(shape: Shape, way: str, library: FakeCudnn) -> None:
    found = computed(shape, "float32", way)
    np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))
    # By the engine that keeps to one order and to all digits.
    assert library.convolutions == [(9,)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_types(dtype: str, way: str, library: FakeCudnn) -> None:
    shape = SHAPES[2]
    found = computed(shape, dtype, way)
    wanted = shape.wanted(way, *given(shape, dtype, way))
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))
    # Tensor cores take these as they are.
    assert library.convolutions == [(0,)]


@pytest.mark.parametrize("way", ["forward", "filters"])
def test_sizes_that_are_not_known(way: str, library: FakeCudnn) -> None:
    for shape in SHAPES:
        found = computed(shape, "float32", way, is_known=False)
        np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))
    assert len(library.convolutions) == len(SHAPES)


def test_tf32_is_for_those_who_ask_for_it(library: FakeCudnn) -> None:
    with settings.override(tf32=True):
        computed(SHAPES[0], "float32", "forward")
    assert library.convolutions == [(0, 1)]


@pytest.mark.parametrize("way", WAYS)
def test_where_no_engine_will_do_the_kernel_runs(way: str, library: FakeCudnn) -> None:
    library.engines = ([((4,), True)], [((0,), True), ((), False)])
    shape = SHAPES[0]
    found = computed(shape, "float32", way)
    np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))
    assert not library.convolutions and "cuLaunchKernel" in library.driver.calls
    from numbaflow.engine.session.device_placement import gpus

    (card,) = gpus()
    assert [what.way for what, _ in card.libraries["convolution"].declined] == [way]


def test_plans_are_made_once(library: FakeCudnn) -> None:
    shape = SHAPES[0]
    operation, feeds = session_inputs(shape, "float32", "forward")
    with tf.Session() as session:
        session.run(operation, feeds)
        before = library.made
        for _ in range(3):
            session.run(operation, feeds)
    assert library.made == before and len(library.convolutions) == 4


def test_what_is_not_needed_is_freed(library: FakeCudnn) -> None:
    computed(SHAPES[0], "float32", "forward")
    gc.collect()
    before = len(library.things)
    for _ in range(3):
        computed(SHAPES[0], "float32", "forward")
        gc.collect()
    assert len(library.things) <= before


def test_biases_and_relus_follow(library: FakeCudnn) -> None:
    shape = SHAPES[0]
    operation, feeds = session_inputs(shape, "float32", "forward")
    bias = np.arange(shape.filters[3], dtype=np.float32) - 9
    with tf.Session() as session:
        found = session.run(tf.nn.relu(tf.nn.bias_add(operation, bias)), feeds)
    wanted = shape.wanted("forward", *given(shape, "float32", "forward"))
    np.testing.assert_array_equal(found, np.maximum(wanted + bias, 0))


def test_a_network_trains(library: FakeCudnn) -> None:
    from . import programs

    with settings.override(gpu="none"):
        wanted, _ = programs.results("pictures")
    found, _ = programs.results("pictures")
    programs.assert_alike(found, wanted)
    assert fake_cudnn.ENGINES and len(library.convolutions) >= 6


def test_mixed_precision_convolves_halves(library: FakeCudnn) -> None:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.auto_mixed_precision = 1
    for way in WAYS:
        operation, feeds = session_inputs(SHAPES[0], "float32", way)
        with tf.Session(config=config) as session:
            found = session.run(operation, feeds)
        np.testing.assert_array_equal(found, SHAPES[0].wanted(way, *feeds.values()))
    # On tensor cores.
    assert library.convolutions == [(0,)] * 3
