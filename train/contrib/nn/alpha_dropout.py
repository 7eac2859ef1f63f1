# SPDX-License-Identifier: Apache-2.0
"""Dropout for self-normalizing networks: mean and variance stay as they are."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import ShapeLike, TensorLike
    from ....engine.graph.tensor import Tensor

# What dropped units become: the least value of the scaled exponential linear unit.
_LEAST = -1.7580993408473766


@export("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: ShapeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout after which values of mean 0 and variance 1 still have these (arXiv:1706.02515).

    Args:
        x: the values.
        keep_prob: the probability with which each is kept.
        noise_shape: the shape of the choices, which are broadcast; that of `x` if None.
        seed: an integer, for the choices.
        name: of the operations.

    Returns:
        A tensor of the shape of `x`; `x` itself where nothing is dropped.

    Raises:
        ValueError: `keep_prob` is not in (0, 1].

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> tf.contrib.nn.alpha_dropout(x, keep_prob=1.0) is x
        True
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, Real) and not 0 < keep_prob <= 1.0:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                f"{keep_prob:g}"
            )
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        shape: Any = tf.shape(x) if noise_shape is None else noise_shape
        noise = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(raw.GreaterEqual(noise, 1 - keep_prob), x.dtype)
        x = x * kept + _LEAST * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _LEAST**2) ** -0.5
        shift = -scale * _LEAST * (1 - keep_prob)
        return scale * x + shift
