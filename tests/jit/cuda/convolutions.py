# SPDX-License-Identifier: Apache-2.0
"""Convolutions of small whole numbers, of which every type holds all sums, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.jit.kernel import reference

# What operations get, by what they give.
ORDERS = {
    "forward": ("images", "filters"),
    "images": ("filters", "scores"),
    "filters": ("images", "scores"),
}


@dataclass(frozen=True)
class Shape:
    """Images, filters [height, width, channels, features], steps, dilations, padding."""

    images: tuple[int, int, int, int]
    filters: tuple[int, int, int, int]
    steps: tuple[int, int] = (1, 1)
    padding: Any = "SAME"
    dilations: tuple[int, int] = (1, 1)

    def __str__(self) -> str:
        parts = self.images, self.filters, self.steps, self.dilations
        return "-".join("x".join(map(str, part)) for part in parts) + f"-{self.padding}"

    @property
    def reach(self) -> list[int]:
        """The extents of a window."""
        return [(k - 1) * d + 1 for k, d in zip(self.filters, self.dilations)]

    @property
    def ends(self) -> list[tuple[int, int]]:
        """Padding before and behind."""
        if isinstance(self.padding, list):
            return [tuple(pair) for pair in self.padding[1:3]]
        if self.padding == "VALID":
            return [(0, 0), (0, 0)]
        found = []
        for size, step, reach in zip(self.images[1:3], self.steps, self.reach):
            total = max((-(-size // step) - 1) * step + reach - size, 0)
            found.append((total // 2, total - total // 2))
        return found

    @property
    def scores(self) -> tuple[int, int, int, int]:
        """The shape of the result."""
        high, wide = (
            (size + sum(ends) - reach) // step + 1
            for size, ends, reach, step in zip(self.images[1:3], self.ends, self.reach, self.steps)
        )
        return (self.images[0], high, wide, self.filters[3])

    def inputs(self, way: str) -> list[tuple[int, int, int, int]]:
        """The shapes of what an operation gets."""
        shapes = {"images": self.images, "filters": self.filters, "scores": self.scores}
        return [shapes[name] for name in ORDERS[way]]

    def wanted(self, way: str, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The result, by NumPy in float64: a product for each tap."""
        one, other = one.astype(np.float64), other.astype(np.float64)
        (top, bottom), (left, right) = self.ends
        _, high, wide, _ = self.scores
        n, height, width, channels = self.images
        padded = np.zeros((n, height + top + bottom, width + left + right, channels))
        inside = padded[:, top : top + height, left : left + width]
        if way != "images":
            inside[...] = one
        filters, scores = np.zeros(self.filters), np.zeros(self.scores)
        for i in range(self.filters[0]):
            for j in range(self.filters[1]):
                y, x = i * self.dilations[0], j * self.dilations[1]
                rows = slice(y, y + (high - 1) * self.steps[0] + 1, self.steps[0])
                columns = slice(x, x + (wide - 1) * self.steps[1] + 1, self.steps[1])
                if way == "forward":
                    scores += padded[:, rows, columns] @ other[i, j]
                elif way == "images":
                    padded[:, rows, columns] += other @ one[i, j].T
                else:
                    filters[i, j] = np.einsum("nhwc,nhwf->cf", padded[:, rows, columns], other)
        return {"forward": scores, "images": inside, "filters": filters}[way]


SHAPES = [
    Shape((2, 6, 5, 17), (3, 3, 17, 20)),
    Shape((1, 8, 7, 16), (3, 2, 16, 18), (2, 2)),
    Shape((2, 9, 9, 8), (3, 3, 8, 16), (2, 1), "VALID"),
    Shape((1, 9, 8, 8), (2, 3, 8, 17), (1, 1), "SAME", (2, 2)),
    Shape((2, 7, 6, 16), (2, 1, 16, 16), (2, 2), "SAME"),
    Shape((2, 6, 6, 4), (3, 3, 4, 16), (2, 2), [[0, 0], [2, 1], [1, 2], [0, 0]]),
]


def given(shape: Shape, dtype: str, way: str) -> list[np.ndarray]:
    """Values for an operation's inputs."""
    rng = np.random.default_rng(1)
    kind = reference.numpy_dtype(dtype)
    return [rng.integers(-2, 3, sizes).astype(kind) for sizes in shape.inputs(way)]


def session_inputs(shape: Shape, dtype: str, way: str, is_known: bool = True) -> tuple[Any, Any]:
    """The operation in the graph, and what to feed."""
    values = given(shape, dtype, way)
    sizes = [value.shape if is_known else [None] * 4 for value in values]
    if way == "forward" and not is_known:
        sizes[1] = list(shape.filters)
    inputs = [
        tf.placeholder(tf.as_dtype(value.dtype), [*size[:3], value.shape[3]])
        for value, size in zip(values, sizes)
    ]
    rest: Any = {"strides": [1, *shape.steps, 1], "padding": shape.padding}
    rest["dilations"] = [1, *shape.dilations, 1]
    if way == "forward":
        operation = tf.nn.conv2d(*inputs, **rest)
    elif way == "images":
        operation = tf.nn.conv2d_backprop_input(list(shape.images), *inputs, **rest)
    else:
        operation = tf.nn.conv2d_backprop_filter(inputs[0], list(shape.filters), inputs[1], **rest)
    return operation, dict(zip(inputs, values))
