# SPDX-License-Identifier: Apache-2.0
"""Draws that helpers make: whether to sample, and which class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor


def _call_sampler(
    sample_n_fn: Callable[..., Any], sample_shape: TensorLike, name: str | None = None
) -> Tensor:
    """Draws of a shape, from a function that makes a number of them."""
    with tf.name_scope(name, "call_sampler", values=[sample_shape]):
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        missing = tf.cast(tf.equal(tf.rank(shape), 0), dtypes.int32)
        padded = tf.pad(tf.shape(shape), paddings=[[missing, 0]], constant_values=1)  # type: ignore[list-item]
        shape = tf.reshape(shape, padded)
        samples = sample_n_fn(tf.reduce_prod(shape))
        return tf.reshape(samples, tf.concat([shape, tf.shape(samples)[1:]], 0))


def bernoulli_sample(
    probs: TensorLike | None = None,
    logits: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    sample_shape: TensorLike = (),
    seed: int | None = None,
) -> Tensor:
    """Ones with probabilities, or with the sigmoids of logits."""
    if probs is None:
        likely: Any = tf.sigmoid(logits, name="probs")  # type: ignore[arg-type]
    else:
        likely = convert_to_tensor(probs, name="probs")
    batch = tf.shape(likely)

    def draw(n: Any) -> Any:
        uniform = tf.random_uniform(tf.concat([[n], batch], 0), seed=seed, dtype=likely.dtype)
        return tf.cast(tf.less(uniform, likely), dtype)

    return _call_sampler(draw, sample_shape)


def categorical_sample(
    logits: TensorLike,
    dtype: DTypeLike = dtypes.int32,
    sample_shape: TensorLike = (),
    seed: int | None = None,
) -> Tensor:
    """Numbers of classes, by the softmax of logits."""
    given: Any = convert_to_tensor(logits, name="logits")
    classes, batch = tf.shape(given)[-1], tf.shape(given)[:-1]

    def draw(n: Any) -> Any:
        matrix = given if given.shape.ndims == 2 else tf.reshape(given, [-1, classes])
        kind = dtypes.int64 if given.dtype.size > 4 else dtypes.int32
        drawn = tf.multinomial(matrix, n, seed=seed, output_dtype=kind)
        drawn = tf.reshape(tf.transpose(drawn), tf.concat([[n], batch], 0))
        return tf.cast(drawn, dtype)

    return _call_sampler(draw, sample_shape)
