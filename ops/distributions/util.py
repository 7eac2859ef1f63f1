# SPDX-License-Identifier: Apache-2.0
"""Shapes that are known as early as possible, triangles as vectors, and stable small functions."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, broadcast_static, dimension_value
from ..control import with_dependencies
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.types.dtypes import DType

F = TypeVar("F", bound=Callable[..., Any])

# What is known when the graph is built


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of a tensor if it is known, else None; numbers are what they are."""
    if x is None:
        return None
    value = constant_value(x) if isinstance(x, Tensor) else x
    return value if value is None or dtype is None else np.array(value, dtype)


def prefer_static_value(x: Tensor) -> Any:
    """The value of a tensor if it is known, else the tensor."""
    value = constant_value(x)
    return x if value is None else value


def prefer_static_rank(x: TensorLike) -> Any:
    """The rank, as a number if it is known."""
    return prefer_static_value(tf.rank(x))


def prefer_static_shape(x: TensorLike) -> Any:
    """The shape, as an array if it is known."""
    return prefer_static_value(tf.shape(x))


def static_integer(x: Any) -> int | None:
    """A number of dimensions if it is known; ValueError if it is no whole number."""
    value = maybe_get_static_value(x)
    if isinstance(value, (np.generic, np.ndarray)):
        if value.dtype not in (np.int32, np.int64):
            raise ValueError(f"Expected integer dtype, got dtype {value.dtype}")
        if value.ndim:
            raise ValueError(f"Expected a scalar integer, got {value}")
        return int(value)
    return value


def dimension_size(x: Tensor, axis: int) -> Any:
    """The size of an axis, as a number if it is known."""
    size = dimension_value(x.shape.with_rank_at_least(abs(axis))[axis])
    return tf.shape(x)[axis] if size is None else size


def _known_shape(shape: Any) -> TensorShape | None:
    if isinstance(shape, TensorShape):
        return shape
    value = constant_value(convert_to_tensor(shape, name="shape", dtype=dtypes.int32))
    return None if value is None else TensorShape(value.tolist())


def _shape_tensor(shape: Any) -> Tensor:
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
        shape = shape.as_list()
    return convert_to_tensor(shape, name="shape", dtype=dtypes.int32)


def prefer_static_broadcast_shape(
    shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape"
) -> Any:
    """The shape that two broadcast to: a TensorShape if both are known, else a tensor."""
    with name_scope(name, values=[shape1, shape2]):
        known = _known_shape(shape1), _known_shape(shape2)
        if known[0] is not None and known[1] is not None:
            return broadcast_static(*known)
        return tf.broadcast_dynamic_shape(_shape_tensor(shape1), _shape_tensor(shape2))


def pick_vector(
    cond: TensorLike, true_vector: Any, false_vector: Any, name: str = "pick_vector"
) -> Any:
    """One of two vectors of any sizes, at once if the condition is known."""
    with name_scope(name, values=[cond, true_vector, false_vector]):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError(f"{cond}.dtype={cond.dtype} which is not {dtypes.bool}")
        known = constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        first = convert_to_tensor(true_vector, name="true_vector")
        second = convert_to_tensor(false_vector, name="false_vector")
        if first.dtype != second.dtype:
            raise TypeError(
                f"{first}.dtype={first.dtype} does not match {second}.dtype={second.dtype}"
            )
        size = tf.shape(first)[0]
        # Both one after the other, and from there the one that is wanted.
        start, count = tf.where_v2(cond, 0, size), tf.where_v2(cond, size, -1)
        return tf.slice(tf.concat([first, second], 0), [start], [count])


def same_dynamic_shape(a: TensorLike, b: TensorLike) -> Tensor:
    """Whether two tensors have the same shape in the run."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")

    def are_sizes_equal() -> Tensor:
        # Of one length even where the shapes are not.
        both, swapped = (tf.concat([tf.shape(x) for x in pair], 0) for pair in ((a, b), (b, a)))
        return tf.reduce_all(tf.equal(both, swapped))

    same_rank = tf.equal(tf.rank(a), tf.rank(b))
    return tf.cond(same_rank, are_sizes_equal, lambda: tf.constant(False))


# Axes


def rotate_transpose(x: TensorLike, shift: Any, name: str = "rotate_transpose") -> Tensor:
    """Axes moved to the right by `shift` places, the last ones becoming the first."""
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        tf.assert_integer(shift)
        known, rank = constant_value(shift), x.shape.ndims
        if rank is not None and known is not None:
            if rank < 2 or abs(known) % rank == 0:
                return x
            return tf.transpose(x, perm=np.roll(np.arange(rank), int(known)))
        dynamic = tf.rank(x)
        moved = tf.where_v2(
            tf.less(shift, 0), tf.mod(-shift, dynamic), dynamic - tf.mod(shift, dynamic)
        )
        perm = tf.concat([tf.range(moved, dynamic), tf.range(0, moved)], 0)
        return tf.transpose(x, perm=perm)


def pad(
    x: TensorLike,
    axis: Any,
    front: bool = False,
    back: bool = False,
    value: Any = 0,
    count: Any = 1,
    name: str | None = None,
) -> Tensor:
    """`count` times a value, put before and/or behind what is along an axis."""
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not count.dtype.is_integer:
            raise TypeError(f"`count.dtype` (`{count.dtype.name}`) must be `int`-like.")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        rank: Any = x.shape.ndims
        rank = tf.rank(x, name="ndims") if rank is None else rank
        axis = convert_to_tensor(axis, name="axis")
        known = constant_value(axis)
        final = None
        if known is None:
            axis = tf.where_v2(axis < 0, rank + axis, axis)
        else:
            axis = rank + int(known) if known < 0 else int(known)
            if x.shape.ndims is not None:
                final = _padded_shape(x.shape, axis, constant_value(count), front + back)
        paddings = tf.one_hot(
            indices=tf.stack([axis if front else -1, axis if back else -1]),
            depth=rank,
            axis=0,
            on_value=count,
            dtype=dtypes.int32,
        )
        x = tf.pad(x, paddings=paddings, constant_values=value)
        if final is not None:
            x.set_shape(final)
        return x


def _padded_shape(shape: TensorShape, axis: int, count: Any, sides: int) -> TensorShape:
    sizes: list[Any] = shape.as_list()
    if sizes[axis] is not None:
        sizes[axis] = None if count is None else sizes[axis] + int(count) * sides
    return TensorShape(sizes)


# Triangles


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Vectors of n (n + 1) / 2 numbers as triangular matrices of n rows.

    upper: whether what is below the diagonal is zero, and not what is above.  ValueError for a size
    of which there is no triangle (tf.contrib.distributions.fill_triangular).
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        count = dimension_value(x.shape.with_rank_at_least(1)[-1])
        rows: Any
        if count is not None:
            root = np.sqrt(0.25 + 2.0 * count) - 0.5
            if root != np.floor(root):
                raise ValueError(
                    f"Input right-most shape ({count}) does not correspond to a triangular matrix."
                )
            rows = np.int32(root)
            final = x.shape[:-1].concatenate([int(rows), int(rows)])
        else:
            doubled = tf.cast(2 * tf.shape(x)[-1], dtype=dtypes.float32)
            rows = tf.cast(tf.sqrt(0.25 + doubled), dtype=dtypes.int32)
            final = x.shape.with_rank_at_least(1)[:-1].concatenate([None, None])
        axis = prefer_static_rank(x) - 1
        # The vector and its mirror image fill a square whose other half is cut off.
        if upper:
            parts = [x, tf.reverse(x[..., rows:], axis=[axis])]
        else:
            parts = [x[..., rows:], tf.reverse(x, axis=[axis])]
        if final.is_fully_defined():
            shape: Any = final.as_list()
        else:
            shape = tf.concat([tf.shape(x)[:-1], [rows, rows]], axis=0)
        square = tf.reshape(tf.concat(parts, axis=-1), shape)
        lower = 0 if upper else -1
        square = tf.matrix_band_part(square, num_lower=lower, num_upper=-1 - lower)
        square.set_shape(final)
        return square


def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """The vectors of which `fill_triangular` makes these matrices."""
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        rows: Any = dimension_value(x.shape.with_rank_at_least(2)[-1])
        count: Any = None if rows is None else rows * (rows + 1) // 2
        final = x.shape.with_rank_at_least(2)[:-2].concatenate([count])
        if rows is None:
            rows = tf.shape(x)[-1]
            count = (rows * (rows + 1)) // 2
        rank = prefer_static_rank(x)
        if upper:
            first, rest = x[..., 0, :], x[..., 1:, :]
        else:
            first, rest = tf.reverse(x[..., -1, :], axis=[rank - 2]), x[..., :-1, :]
        rest += tf.reverse(tf.reverse(rest, axis=[rank - 1]), axis=[rank - 2])
        shape = tf.concat([tf.shape(x)[:-2], [rows * (rows - 1)]], axis=0)
        rest = tf.reshape(rest, shape)
        y = tf.concat([first, rest[..., : count - rows]], axis=-1)
        y.set_shape(final)
        return y


def tridiag(
    below: TensorLike | None = None,
    diag: TensorLike | None = None,
    above: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Matrices with these numbers on the diagonal, below and above it."""

    def bordered(x: TensorLike, name: str) -> Tensor:
        x = convert_to_tensor(x, name=name)
        zero = tf.zeros(tf.concat([tf.shape(x)[:-1], [1]], axis=0), dtype=x.dtype)
        return tf.matrix_diag(tf.concat([zero, x, zero], axis=-1))

    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(bordered(below, "below")[..., :-1, 1:])
        if diag is not None:
            parts.append(tf.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(bordered(above, "above")[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return functools.reduce(lambda x, y: x + y, parts)


def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[[Tensor], Tensor] | None = None, name: str | None = None
) -> Tensor:
    """Matrices whose diagonals a function replaces."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return tf.matrix_set_diag(matrix, transform(tf.matrix_diag_part(matrix)))


def assert_symmetric(matrix: Tensor) -> Tensor:
    """Matrices, checked in the run to be symmetric."""
    transposed = tf.matrix_transpose(matrix)
    return with_dependencies([tf.assert_equal(matrix, transposed)], matrix)


# Functions


def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: Any = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """log|sum(w exp(logx))| without overflow, and the sum's sign if that is wanted."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            found = tf.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (found, tf.ones_like(found)) if return_sign else found
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + tf.log(tf.abs(w))
        largest = tf.reduce_max(logs, axis=axis, keepdims=True)
        # Infinity minus infinity would be no number.
        largest = tf.where_v2(tf.is_inf(largest), tf.zeros_like(largest), largest)
        terms = tf.sign(w) * tf.exp(logs - largest)
        total = tf.reduce_sum(terms, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = tf.squeeze(largest, axis)
        sign = tf.sign(total)
        found = largest + tf.log(sign * total)
        return (found, sign) if return_sign else found


def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """The y with log(1 + exp(y)) = x."""
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        is_small, is_large = tf.less(x, np.exp(threshold)), tf.greater(x, -threshold)
        small, large = tf.log(x), x
        # Where neither is chosen, arguments are harmless, and so are gradients.
        safe = tf.where_v2(tf.logical_or(is_small, is_large), tf.ones_like(x), x)
        middle = safe + tf.log(-tf.expm1(-safe))
        return tf.where_v2(is_small, small, tf.where_v2(is_large, large, middle))


def process_quadrature_grid_and_probs(
    quadrature_grid_and_probs: Any, dtype: DType, validate_args: bool, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A grid and probabilities that add up to one; those of Gauss and Hermite for None."""
    with name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            points, weights = (
                x.astype(dtype.as_numpy_dtype) for x in np.polynomial.hermite.hermgauss(deg=8)
            )
            weights /= weights.sum()
            return (
                convert_to_tensor(points, name="grid", dtype=dtype),
                convert_to_tensor(weights, name="probs", dtype=dtype),
            )
        grid, probs = tuple(quadrature_grid_and_probs)
        grid = convert_to_tensor(grid, name="grid", dtype=dtype)
        probs = convert_to_tensor(probs, name="unnormalized_probs", dtype=dtype)
        probs /= tf.norm(probs, ord=1, axis=-1, keepdims=True, name="probs")
        return _same_lengths(grid, probs, validate_args)


def _same_lengths(grid: Tensor, probs: Tensor, validate_args: bool) -> tuple[Tensor, Tensor]:
    text = (
        "`quadrature_grid_and_probs` must be a `tuple` of same-length zero-th-dimension `Tensor`s"
    )
    sizes = [dimension_value(x.shape.with_rank_at_least(1)[-1]) for x in (probs, grid)]
    if None not in sizes:
        if sizes[0] != sizes[1]:
            raise ValueError(f"{text} (saw lengths {sizes[0]}, {sizes[1]})")
    elif validate_args:
        equal = tf.assert_equal(dimension_size(probs, -1), dimension_size(grid, -1), message=text)
        with control_dependencies([equal]):
            return tf.identity(grid), tf.identity(probs)
    return grid, probs


# Python


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name."""
    frame = sys._getframe(1)
    names, _, keywords, values = inspect.getargvalues(frame)
    named = values.get(keywords, {}) if keywords else {}
    return {**{name: values[name] for name in names}, **named}


class AppendDocstring:
    """Decorates a function with more words in its documentation."""

    def __init__(
        self, additional_note: str = "", kwargs_dict: dict[str, str] | None = None
    ) -> None:
        self._additional_note = additional_note
        if not kwargs_dict:
            return
        bullets = []
        for key, value in sorted(kwargs_dict.items()):
            if any(letter.isspace() for letter in key):
                raise ValueError(f'Parameter name "{key}" contains whitespace.')
            if "\n" in value.lstrip():
                raise ValueError(f'Parameter description for "{key}" contains newlines.')
            bullets.append(f"*  `{key}`: {value.lstrip()}")
        self._additional_note += "\n\n##### `kwargs`:\n\n" + "\n".join(bullets)

    def __call__(self, fn: F) -> F:
        @functools.wraps(fn)
        def documented(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        known = fn.__doc__
        documented.__doc__ = (
            self._additional_note if known is None else f"{known}\n{self._additional_note}"
        )
        return documented  # type: ignore[return-value]
