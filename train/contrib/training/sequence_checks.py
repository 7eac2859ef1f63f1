# SPDX-License-Identifier: Apache-2.0
"""Tensors of sequences with checks of their shapes: when the graph is built where they are known,
and else when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.constants import constant_value
from ....engine.graph.graph import control_dependencies
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def check_multiple_of(value: Tensor, multiple_of: TensorLike) -> Tensor:
    """A number that must be a multiple of another, and not zero."""
    passes = is_multiple(value, multiple_of)
    parts = [f"Tensor {value.name} should be a multiple of: ", tf.as_string(multiple_of)]
    with control_dependencies([tf.Assert(passes, [_joined_with_padding_hint(parts, value)])]):
        return tf.identity(value, name="multiple_of_checked")


def is_multiple(value: TensorLike, of: TensorLike) -> Tensor:
    """Whether a number is a multiple of another and not zero."""
    return tf.logical_and(tf.equal(tf.mod(value, of), 0), tf.not_equal(value, 0))


def _joined_with_padding_hint(parts: list[Any], value: TensorLike) -> Tensor:
    seen = [", but saw value: ", tf.as_string(value), ". Consider setting pad=True."]
    return tf.string_join([*parts, *seen])


def multiple_rows(kind: str, key: str, rows: TensorLike, num_unroll: TensorLike) -> Any:
    """An assertion that the rows of what is called `key` are a multiple of `num_unroll`."""
    parts = [f"{kind} {key} first dimension should be a multiple of: ", tf.as_string(num_unroll)]
    return tf.Assert(is_multiple(rows, num_unroll), [_joined_with_padding_hint(parts, rows)])


def check_rank(value: Tensor, expected_rank: TensorLike) -> Tensor:
    """A tensor that must have this rank.

    Raises:
        ValueError: it is known to have another.
    """
    text = tf.string_join(
        [
            f"Rank of tensor {value.name} should be: ",
            tf.as_string(expected_rank),
            ", shape received:",
        ]
    )
    fits = tf.equal(expected_rank, tf.rank(value))
    with control_dependencies([tf.Assert(fits, [text, tf.shape(value)])]):
        checked = tf.identity(value, name="rank_checked")
    if isinstance(expected_rank, Tensor):
        expected_rank = constant_value(expected_rank)
    if expected_rank is not None:
        try:
            checked.set_shape(checked.shape.with_rank(int(expected_rank)))  # type: ignore[arg-type]
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from None
    return checked


def check_shape(value: Tensor, expected_shape: Any) -> Tensor:
    """A tensor that must have this shape: a TensorShape, a list or a vector.

    Raises:
        ValueError: it is known to have another.
    """
    if isinstance(expected_shape, TensorShape):
        expected_shape = expected_shape.as_list()
    if isinstance(expected_shape, Tensor):
        static = constant_value(expected_shape)
        if static is not None:
            expected_shape = [int(size) for size in static]
    is_dynamic = isinstance(expected_shape, Tensor)
    value = check_rank(value, tf.size(expected_shape) if is_dynamic else len(expected_shape))
    text = tf.string_join(
        [
            f"Shape of tensor {value.name} should be: ",
            tf.as_string(expected_shape),
            ", shape received: ",
            tf.as_string(tf.shape(value)),
        ]
    )
    fits = tf.reduce_all(tf.equal(expected_shape, tf.shape(value)))
    with control_dependencies([tf.Assert(fits, [text])]):
        checked = tf.identity(value, name="shape_checked")
    if not is_dynamic:
        try:
            checked.set_shape(checked.shape.merge_with(expected_shape))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from None
    return checked


def check_dimensions(
    value: Tensor, dimensions: Sequence[int], expected_sizes: Any, debug_prefix: str
) -> Tensor:
    """A tensor that must have these sizes along some dimensions.

    Args:
        value: the tensor, which learns the sizes that are numbers.
        dimensions: which dimensions.
        expected_sizes: numbers and tensors, or a vector.
        debug_prefix: what the tensor is called in messages.

    Raises:
        ValueError: it is known to have others.
    """
    if not isinstance(expected_sizes, Tensor):
        _learn_sizes(value, dimensions, expected_sizes, debug_prefix)
    checks = []
    for dimension, size in zip(dimensions, expected_sizes):
        fits = tf.equal(size, tf.shape(value)[dimension])
        text = [
            f"Dimension {dimension} of tensor labeled {debug_prefix} should be: ",
            tf.as_string(size),
            ", shape received: ",
            tf.as_string(tf.shape(value)),
        ]
        checks.append(tf.Assert(fits, [tf.string_join(text)]))
    with control_dependencies(checks):
        return tf.identity(value, name=f"dims_checked_{debug_prefix}")


def _learn_sizes(value: Tensor, dimensions: Sequence[int], sizes: Any, name: str) -> None:
    if value.shape.ndims is None:
        return
    if value.shape.ndims <= max(dimensions):
        raise ValueError(
            f"{name}: rank of input is not greater than max(dimensions): {value.shape.ndims} vs. "
            f"{max(dimensions)}"
        )
    known = value.shape.as_list()
    for dimension, size in zip(dimensions, sizes):
        if not isinstance(size, Tensor):
            known[dimension] = size
    try:
        value.set_shape(value.shape.merge_with(known))
    except ValueError as error:
        raise ValueError(f"Dimensions check failed for {name}: {error}") from None
