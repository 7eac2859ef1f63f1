# SPDX-License-Identifier: Apache-2.0
"""Jacobians of a function of tensors: by its gradient and by finite differences.

The function is built once on placeholders of unknown shape, so that the gradients are those of a
graph that knows nothing.  Not public in TensorFlow 1.15; its internal name is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.gradients.autodiff import gradients
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_session
from ...engine.types import dtypes
from ..array.constant import placeholder
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

_ALLOWED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class _Function:
    """f and the gradients of f by each argument, as session calls on arrays."""

    def __init__(self, f: Callable[..., Any], values: Sequence[np.ndarray]) -> None:
        self.inputs = [placeholder(dtypes.as_dtype(value.dtype)) for value in values]
        self.output = convert_to_tensor(f(*self.inputs))
        for tensor in (*self.inputs, self.output):
            if tensor.dtype.base_dtype.name not in _ALLOWED:
                raise AssertionError(f"Cannot compute gradient for type {tensor.dtype.name}")
        self.seed = placeholder(self.output.dtype)
        found = gradients(self.output, self.inputs, grad_ys=self.seed)
        pairs = zip(found, self.inputs, strict=True)
        self.slopes = [tf.zeros_like(x) if g is None else convert_to_tensor(g) for g, x in pairs]

    def run(
        self, fetch: Tensor, values: Sequence[np.ndarray], seed: np.ndarray | None = None
    ) -> np.ndarray:
        feeds = dict(zip(self.inputs, values, strict=True))
        if seed is not None:
            feeds[self.seed] = seed
        return np.asarray(get_default_session().run(fetch, feed_dict=feeds))


def _reals(x: np.ndarray) -> np.ndarray:
    """The elements as a vector of real numbers; writes go through to a contiguous x."""
    flat = x.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _by_gradient(function: _Function, values: list[np.ndarray], param: int) -> np.ndarray:
    """Column i holds the gradient of element i of the output."""
    x, slope = values[param], function.slopes[param]
    seed = np.zeros_like(function.run(function.output, values))
    places, rows = _reals(seed), _reals(x)
    jacobian = np.zeros((rows.size, places.size), rows.dtype)
    for column in range(places.size):
        places[column] = 1
        found = np.ascontiguousarray(function.run(slope, values, seed))
        jacobian[:, column] = _reals(found)
        places[column] = 0
    if not places.size:
        _check_empty(function.run(slope, values, seed), x)
    return jacobian


def _check_empty(found: np.ndarray, x: np.ndarray) -> None:
    if found.shape != x.shape:
        text = f"Empty gradient has wrong shape: expected {x.shape}, got {found.shape}"
        raise ValueError(text)
    if np.any(found):
        raise ValueError("Empty tensor with nonzero gradients")


def _by_differences(
    function: _Function, values: list[np.ndarray], param: int, delta: float
) -> np.ndarray:
    values = [value.copy() for value in values]
    places = _reals(values[param])
    size = _reals(function.run(function.output, values)).size
    jacobian = np.zeros((places.size, size), places.dtype)
    for row, original in enumerate(places.copy()):
        ends = []
        for sign in (1, -1):
            places[row] = original + sign * places.dtype.type(delta)
            ends.append(_reals(np.ascontiguousarray(function.run(function.output, values))))
        places[row] = original
        width = ends[0].dtype.type(2 * delta) if ends[0].dtype.kind == "f" else 2 * delta
        jacobian[row] = (ends[0] - ends[1]) / width
    return jacobian


def compute_gradient(
    f: Callable[..., Any], x: list[Any], delta: float = 1e-3
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The Jacobians of f at x, one for each argument: by gradients, and by finite differences."""
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    session = get_default_session()
    values = [np.array(session.run(convert_to_tensor(value)), order="C") for value in x]
    function = _Function(f, values)
    pairs = [
        (_by_gradient(function, values, i), _by_differences(function, values, i, delta))
        for i in range(len(values))
    ]
    return tuple(zip(*pairs, strict=True))  # type: ignore[return-value]


def max_error(grad1: Sequence[np.ndarray], grad2: Sequence[np.ndarray]) -> float:
    """The largest difference between two lists of Jacobians."""
    errors = [np.abs(a - b).max() for a, b in zip(grad1, grad2, strict=True) if a.size or b.size]
    return max(errors, default=0)
