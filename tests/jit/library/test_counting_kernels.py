# SPDX-License-Identifier: Apache-2.0
"""Kernels that filter rows of PNG files and count numbers in buckets, held against NumPy's way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.image import png_encoding
from numbaflow.ops.summaries import summary_ops

pytestmark = pytest.mark.cpu


def both(compute: Any, *arguments: Any) -> tuple[Any, Any]:
    """What a function gives by kernels, and without them."""
    mine = compute(*arguments)
    with settings.override(jit="never"):
        return mine, compute(*arguments)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 9, 3), (9, 1, 2), (31, 17, 1), (300, 450, 4)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_rows_are_filtered_alike(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng(3)
    noise = random.integers(0, np.iinfo(dtype).max + 1, shape)
    slope = np.indices(shape).sum(axis=0) * 5
    rows = np.where(random.random(shape[0])[:, None, None] < 0.3, noise, slope)
    mine, theirs = both(png_encoding.encode, rows.astype(dtype))
    assert mine == theirs


EXTREMES = [0.0, -0.0, 1e-45, -1e-45, 1e38, -1e38, 3.4e38, -3.4e38, -1e10, 1e-12, 1.1e-12, 1.0]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"]
)
def test_numbers_are_counted_alike(dtype: str) -> None:
    random = np.random.default_rng(4)
    drawn = random.standard_normal(9000) * 10.0 ** random.integers(-20, 20, 9000)
    info: Any = np.iinfo(dtype) if dtype[0] in "iu" else np.finfo(dtype)
    least, most = float(info.min), float(info.max)
    values = np.clip(np.concatenate([drawn, np.array(EXTREMES * 9)]), least / 2, most / 2)
    values = np.append(values.astype(dtype), np.array([info.min, info.max], dtype))
    mine, theirs = both(histogram, values)
    assert mine == theirs and mine.num == values.size == sum(mine.bucket)


def histogram(values: np.ndarray) -> Any:
    message = tf.HistogramProto()
    summary_ops.fill_histogram(message, values, "it")
    return message


@pytest.mark.parametrize("wrong", [[np.nan], [np.inf, np.nan], [-np.inf], [np.nan, np.inf]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_that_is_not_finite_is_named(wrong: list[float], dtype: str) -> None:
    values = np.concatenate([np.ones(5000), wrong, np.ones(5000), [np.nan, np.inf]])

    def message() -> str:
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            histogram(values.astype(dtype))
        return info.value.message

    mine, theirs = both(message)
    kind = "Nan" if np.isnan(wrong[0]) else "Infinity"
    assert mine == theirs == f"{kind} in summary histogram for: it"


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_histograms_of_one_number(count: int) -> None:
    mine, theirs = both(histogram, np.full(count, -2.5, np.float32))
    assert mine == theirs and mine.num == count
