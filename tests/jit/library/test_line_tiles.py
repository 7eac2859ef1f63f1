# SPDX-License-Identifier: Apache-2.0
"""Tiles along a line: whatever the window, each pixel is summed over its taps by known kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.engine import settings
from numbaflow.jit.library import conv2d, conv2d_input_gradient, tiles
from numbaflow.jit.library.conv_tiles import Line, Tile, kinds_of_line, table_of
from numbaflow.jit.library.geometry import axes

from ...drawing import examples
from .eager import EagerBuilder
from .test_contractions import close, draw, reference

TARGETS = "x86-64-v3", "x86-64-v4", "aarch64"


def taps_of(pixels: int, edged: bool, taps: tuple[int, ...]) -> np.ndarray:
    """Which pixel of a tile has which tap, of what its kernel is told."""
    if not edged:
        return np.ones((taps[0], pixels), bool)
    groups = np.array(taps[1:]).reshape(-1, 2)
    assert len(groups) == taps[0]
    pixel = np.arange(pixels)
    rows = [
        (pixel >= missing) & (pixel < pixels + min(0, missing))
        for missing, count in groups.tolist()
        for _ in range(count)
    ]
    return np.array(rows)


@pytest.mark.pure
@examples(200)
@given(
    size=st.integers(1, 70),
    window=st.integers(1, 9),
    stride=st.integers(1, 3),
    dilation=st.sampled_from([1, 1, 2, 3, 8]),
    padding=st.sampled_from(["SAME", "VALID", [(0, 0), (5, 0)], [(0, 0), (0, 7)]]),
    features=st.integers(1, 200),
    dtype=st.sampled_from(["float32", "float64"]),
    target=st.sampled_from(TARGETS),
)
def test_every_pixel_has_its_taps(
    size: int,
    window: int,
    stride: int,
    dilation: int,
    padding: Any,
    features: int,
    dtype: str,
    target: str,
) -> None:
    wide = axes((1, size), (1, window), (stride, stride), padding, (1, dilation))[1]
    if int(wide.out) < 1:
        return
    with settings.override(target=target):
        line = Line.of(wide, 16)
        tile = Tile.choose(dtype, features, line)
        kinds = kinds_of_line(line, tile, window, False)
        _, parts = table_of(kinds, tile, features)
        assert set(parts) <= set(tiles.closed([dtype]))
    places = np.arange(int(wide.out)) * stride - int(wide.before)
    inside = places + dilation * np.arange(window)[:, None]
    there = (inside >= 0) & (inside < size)
    col = 0
    for kind in kinds:
        end = kind.end or int(wide.out)
        assert (end - col) % kind.pixels == 0
        for start in range(col, end, kind.pixels):
            has = taps_of(kind.pixels, kind.edged, kind.taps)
            wanted = there[:, start : start + kind.pixels]
            # Without edges of their own, lines are summed over zeros, too.
            np.testing.assert_array_equal(has, wanted if line.axis else np.ones_like(wanted))
        col = end
    assert col == int(wide.out)


@pytest.mark.cpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("c", "f"), [(8, 24), (40, 8)])
@pytest.mark.parametrize(
    ("width", "window", "dilation"),
    [(1, 3, 1), (4, 3, 1), (9, 5, 1), (7, 7, 1), (23, 4, 1), (12, 3, 4), (30, 3, 8), (16, 9, 1)],
)
def test_windows_that_reach_over_edges(
    width: int, window: int, dilation: int, c: int, f: int, dtype: str
) -> None:
    """Forward and backward, SAME and VALID: the gradient of the latter lacks the most taps."""
    for padding in ("SAME", "VALID"):
        if padding == "VALID" and (window - 1) * dilation >= width:
            continue
        x, w = draw((2, 3, width, c), dtype), draw((1, window, c, f), dtype, 1)
        how = (1, 1), padding, (1, dilation)
        out = reference(x, w, None, *how)
        dy = draw(out.shape, dtype, 2)
        out, dx, _ = reference(x, w, dy, *how)
        b = EagerBuilder()
        close(conv2d(b, b.value(x), b.value(w), *how).data, out, window * c)
        back = conv2d_input_gradient(b, x.shape, b.value(w), b.value(dy), *how)
        close(back.data, dx, window * f)
