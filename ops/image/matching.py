# SPDX-License-Identifier: Apache-2.0
"""Ops that match rows with columns, and that find what in images hangs together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _matches(
    c: KernelContext, distances: np.ndarray, valid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The column of each row and the row of each column, the closest pair first; -1: none."""
    if distances.ndim != 2:
        raise errors.invalid(
            f"distance_mat should be 2-dimensional, but got {shape_text(distances.shape)}"
        )
    if valid.size != 1:
        raise errors.invalid(
            f"num_valid_rows argument should be a tensor with 1 element, but got {valid.size}"
        )
    height, width = distances.shape
    wanted = float(valid.reshape(-1)[0])
    rows = int(wanted + 0.1) if wanted >= 0 else height
    if rows > height:
        raise errors.invalid(
            f"There should be at least {rows} rows in distance_mat, but only got {height} rows."
        )
    most = c.attr("top_k") if c.attr("top_k") > 0 else rows * width
    columns_of, rows_of = np.full(height, -1, np.int32), np.full(width, -1, np.int32)
    found = 0
    for at in np.argsort(distances[:rows], axis=None, kind="stable"):
        row, column = divmod(int(at), width)
        if columns_of[row] < 0 and rows_of[column] < 0:
            columns_of[row], rows_of[column] = column, row
            found += 1
            if found >= min(most, rows, width):
                break
    return columns_of, rows_of


def _match_shapes(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([size]) for size in shape_inference.ranked(c.inputs[0], 2)]


def _components(c: KernelContext, images: np.ndarray) -> np.ndarray:
    """One more than the first pixel of each component, which TensorFlow leaves open."""
    if images.ndim != 3:
        raise errors.invalid("Input images must have rank 3")
    if not images.size:
        return np.zeros(images.shape, np.int64)
    from scipy.sparse import coo_matrix, csgraph

    is_set = images != (b"" if images.dtype == object else np.zeros((), images.dtype))
    numbers = np.arange(images.size).reshape(images.shape)
    right = is_set[:, :, :-1] & (images[:, :, 1:] == images[:, :, :-1])
    down = is_set[:, :-1] & (images[:, 1:] == images[:, :-1])
    firsts = np.concatenate([numbers[:, :, :-1][right], numbers[:, :-1][down]])
    seconds = np.concatenate([numbers[:, :, 1:][right], numbers[:, 1:][down]])
    size: int = images.size
    ones = np.ones(len(firsts), bool)
    edges = coo_matrix((ones, (firsts, seconds)), shape=(size, size))
    _, labels = csgraph.connected_components(edges, directed=False)
    _, first = np.unique(labels, return_index=True)
    ids = first[labels].reshape(images.shape) + 1
    return np.where(is_set, ids, 0).astype(np.int64)


define(
    "BipartiteMatch",
    "distance_mat: float32, num_valid_rows: float32 -> "
    "row_to_col_match_indices: int32, col_to_row_match_indices: int32",
    "top_k: int = -1",
    shape=_match_shapes,
    kernel=_matches,
    gradient=NoGradient("indices have no gradient", silent=True),
    stateful=True,
    doc="Matches rows with columns, the closest first.",
    test=lambda: {
        "values": [
            [np.array([[0.5, 0.1, 0.8], [0.3, 0.2, 0.15]], np.float32), np.float32(-1)],
            [np.array([[0.5, 0.1], [0.3, 0.2], [0, 0]], np.float32), np.array([2], np.float32)],
        ],
        "attrs": [{}, {"top_k": 1}],
    },
)
define(
    "ImageConnectedComponents",
    "image: dtype -> components: int64",
    "dtype: {int64, int32, uint16, int16, uint8, int8, half, float32, float64, bool, string}",
    shape=lambda c: c.inputs[0],
    kernel=_components,
    gradient=NoGradient("numbers of components have no gradient", silent=True),
    doc="Numbers of what in images hangs together and has one value; 0 where the image is zero.",
    test=lambda: {
        "values": [
            [np.array([[[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 1, 1]]], np.int32)],
            [np.array([[[True, False], [True, True]], [[True, False], [False, True]]])],
        ]
    },
)
