# SPDX-License-Identifier: Apache-2.0
"""`tf.test.compute_gradient`: the gradient of a graph against finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.gradients.autodiff import gradients
from ...engine.graph.defaults import get_default_session
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ..array.constant import constant_v1
from ..array.identity import identity
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient, TensorLike

_ALLOWED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
Jacobians = tuple[np.ndarray, np.ndarray]


def _count(shape: Sequence[int]) -> int:
    return shape if isinstance(shape, int) else int(np.prod(tuple(shape), dtype=np.int64))


def _parts(dtype: dtypes.DType) -> int:
    """How many real numbers an element is made of."""
    return 2 if dtype.is_complex else 1


def _real(dtype: dtypes.DType) -> Any:
    return dtype.real_dtype.as_numpy_dtype


def _analytic(
    x: Tensor,
    value: np.ndarray,
    dy: Tensor,
    dy_shape: Sequence[int],
    dx: Gradient,
    feeds: dict[Any, Any],
) -> np.ndarray:
    """One column per element of y: the gradient of that element alone."""
    session = get_default_session()
    rows, columns = value.size * _parts(x.dtype), _count(dy_shape) * _parts(dy.dtype)
    jacobian = np.zeros((rows, columns), dtype=_real(x.dtype))
    seed = np.zeros(dy_shape, dtype=dy.dtype.as_numpy_dtype)
    flat = seed.reshape(-1).view(_real(dy.dtype))
    for column in range(columns):
        # With a one in a single place of dy, the gradient is that element's row of the Jacobian.
        flat[column] = 1
        found = session.run(_fetches(dx), feed_dict={**feeds, x: value, dy: seed})
        jacobian[:, column] = _dense(found, dx, value, jacobian.dtype)
        flat[column] = 0
    if not columns:
        found = session.run(dx, feed_dict={**feeds, x: value, dy: seed})
        if found.shape != value.shape:
            raise ValueError(
                f"Empty gradient has wrong shape: expected {value.shape}, got {found.shape}"
            )
        if np.any(found):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _fetches(dx: Gradient) -> Any:
    return [dx.indices, dx.values] if isinstance(dx, IndexedSlices) else dx


def _dense(found: Any, dx: Gradient, value: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    if not isinstance(dx, IndexedSlices):
        return np.ascontiguousarray(found).reshape(-1).view(kind)
    total = np.zeros(value.shape, dtype=value.dtype)
    np.add.at(total, found[0], found[1])
    return total.reshape(-1).view(kind)


def _numeric(
    x: Tensor, value: np.ndarray, y: Tensor, width: int, delta: float, feeds: dict[Any, Any]
) -> np.ndarray:
    """One row per element of x: the change of y over a small step, divided by it."""
    # A step of a thousandth would be lost in eight bits.
    if x.dtype == dtypes.bfloat16:
        x = tf.cast(x, dtypes.float32)
    if y.dtype == dtypes.bfloat16:
        y = tf.cast(y, dtypes.float32)
    value = np.array(value, dtype=x.dtype.as_numpy_dtype)
    kind, y_kind = _real(x.dtype), _real(y.dtype)
    # Central differences: the error falls with delta squared.
    scale = np.asarray(2 * delta, dtype=y_kind)[()]
    rows = []
    for row in range(value.size * _parts(x.dtype)):
        ends = []
        for step in (delta, -delta):
            moved = value.copy()
            moved.reshape(-1).view(kind)[row] += step
            ends.append(y.eval(feed_dict={**feeds, x: moved}))
        difference = np.asarray((ends[0] - ends[1]) / scale)
        rows.append(np.ascontiguousarray(difference).reshape(-1).view(y_kind))
    return np.array(rows, dtype=kind).reshape(len(rows), width)


def _dx_and_dy(x: Tensor, y: Tensor, y_shape: Sequence[int]) -> tuple[Any, Tensor]:
    with x.graph.as_default():
        seed = constant_v1(1.0, shape=y_shape, dtype=y.dtype)
        copy = identity(seed)
    grads = gradients(y, x, copy)
    return grads[0], seed


def _start(x: Tensor, x_shape: Sequence[int], given: np.ndarray | None) -> np.ndarray:
    if given is not None:
        if list(x_shape) != list(given.shape):
            raise AssertionError(f"x_shape = {x_shape}, init_data shape = {list(given.shape)}")
        return given
    value = np.random.random_sample(x_shape).astype(x.dtype.as_numpy_dtype)
    if x.dtype.is_complex:
        value.imag = np.random.random_sample(x_shape)
    return value


def _jacobians(
    x: Tensor,
    x_shape: Any,
    pair: Sequence[Any],
    y: Tensor,
    y_shape: Sequence[int],
    start: Any,
    delta: float,
    feeds: dict[Any, Any],
) -> Jacobians:
    for tensor, name in ((x, "x"), (y, "y")):
        kind = tensor.dtype.base_dtype.name
        if kind not in _ALLOWED:
            raise AssertionError(f"Don't support type {kind} for {name}")
    value = _start(x, x_shape, start)
    dx, dy = pair
    width = _count(y_shape) * _parts(y.dtype)
    analytic = _analytic(x, value, dy, y_shape, dx, feeds)
    return analytic, _numeric(x, value, y, width, delta, feeds)


@export("test.compute_gradient")
def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Jacobians | list[Jacobians]:
    """The Jacobian of `y` by `x`, by its gradient and by finite differences.

    With a list of xs, `x_shape` and `x_init_value` are lists too and so is the result.
    """
    feeds = extra_feed_dict or {}
    xs, shapes = (x, x_shape) if isinstance(x, list) else ([x], [x_shape])
    pairs = [_dx_and_dy(item, y, y_shape) for item in xs]
    if init_targets is not None:
        if not isinstance(init_targets, (list, tuple)):
            raise AssertionError("init_targets must be a list or a tuple")
        for target in init_targets:
            target.run()
    if not isinstance(x, list):
        starts = [x_init_value]
    else:
        starts = [None] * len(xs) if x_init_value is None else x_init_value
    found = [
        _jacobians(item, shape, pair, y, y_shape, start, delta, feeds)
        for item, shape, pair, start in zip(xs, shapes, pairs, starts)
    ]
    return found if isinstance(x, list) else found[0]


@export("test.compute_gradient_error")
def compute_gradient_error(
    x: TensorLike,
    x_shape: Sequence[int],
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: object = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    error = 0
    for analytic, numeric in [found] if isinstance(found, tuple) else found:
        if analytic.size or numeric.size:
            error = np.maximum(error, np.fabs(analytic - numeric).max())
    return error
