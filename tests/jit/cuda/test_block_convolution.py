# SPDX-License-Identifier: Apache-2.0
"""Convolutions by tiles against NumPy's: by one thread, in plans, as PTX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda.cuda_kernel import BLOCK
from numbaflow.jit.cuda.device_plan import Launch

from .convolutions import SHAPES, Shape, given, session_inputs

pytestmark = pytest.mark.cpu


def computed(shape: Shape, dtype: str, way: str, is_known: bool = True) -> tuple[Any, list[str]]:
    """A convolution on a device, and the names of the kernels that it takes."""
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        operation, feeds = session_inputs(shape, dtype, way, is_known)
        with tf.Session() as session:
            found = session.run(operation, feeds)
            (arena,) = session.gpu.arenas(session)
            rows = [row for run in arena.runs.values() for row in run.plan.rows]
    return found, [row.text.form for row in rows if isinstance(row, Launch)]


@pytest.mark.parametrize("way", ["forward", "images", "filters"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_convolutions_are_those_of_numpy(shape: Shape, way: str) -> None:
    found, forms = computed(shape, "float32", way)
    assert BLOCK in forms
    np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))


@pytest.mark.parametrize("way", ["forward", "images", "filters"])
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_types(dtype: str, way: str) -> None:
    shape = SHAPES[1]
    found, forms = computed(shape, dtype, way)
    assert BLOCK in forms
    wanted = shape.wanted(way, *given(shape, dtype, way))
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@pytest.mark.parametrize("way", ["forward", "filters"])
def test_sizes_that_are_not_known(way: str) -> None:
    for shape in SHAPES:
        found, _ = computed(shape, "float32", way, is_known=False)
        np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))


@pytest.mark.parametrize("way", ["forward", "images", "filters"])
@pytest.mark.parametrize("steps", [(1, 1), (2, 3)])
def test_windows_of_one_pixel_are_products(steps: tuple[int, int], way: str) -> None:
    shape = Shape((2, 9, 10, 16), (1, 1, 16, 20), steps, "VALID")
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        operation, feeds = session_inputs(shape, "float32", way)
        with tf.Session() as session:
            found = session.run(operation, feeds)
            (arena,) = session.gpu.arenas(session)
            rows = [row for run in arena.runs.values() for row in run.plan.rows]
    np.testing.assert_array_equal(found, shape.wanted(way, *given(shape, "float32", way)))
    stated = [row.text.source for row in rows if isinstance(row, Launch)]
    assert sum("x_column" in text for text in stated) == 1
