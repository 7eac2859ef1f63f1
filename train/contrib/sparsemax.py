# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.sparsemax`: a softmax that gives most classes nothing, and its loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.nn.top_k import top_k
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("contrib.sparsemax.sparsemax")
def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """The point of the simplex that is nearest to the logits (arXiv 1602.02068).

    Args:
        logits: floats [batch, classes].
        name: of the scope.

    Returns:
        Shares of the same shape, that add up to 1; NaN where infinities leave none.

    Example:
        >>> print(tf.Session().run(tf.contrib.sparsemax.sparsemax([[1.0, 0.5, -1.0]])))
        [[0.75 0.25 0.  ]]
    """
    with name_scope(name, "sparsemax", [logits]) as name:
        z = convert_to_tensor(logits, name="logits")
        rows: Any = tf.shape(z)[0]
        classes: Any = tf.shape(z)[1]
        # The largest k logits get something: as long as the k-th is above the threshold that
        # the first k make.
        descending, _ = top_k(z, k=classes)
        sums: Any = tf.cumsum(descending, axis=1)
        k = tf.range(1, tf.cast(classes, z.dtype) + 1, dtype=z.dtype)
        is_above = 1 + k * descending > sums
        count = tf.reduce_sum(tf.cast(is_above, dtypes.int32), axis=1)
        # Infinities make it 0, which gives NaN below.
        last = tf.maximum(count, 1)
        at = tf.stack([tf.range(0, rows), last - 1], axis=1)
        threshold = (tf.gather_nd(sums, at) - 1) / tf.cast(count, z.dtype)
        shares = tf.maximum(tf.cast(0, z.dtype), z - threshold[:, None])
        is_wrong = tf.logical_or(tf.equal(count, 0), tf.is_nan(sums[:, -1]))
        nan = tf.fill([rows, classes], tf.cast(float("nan"), z.dtype))
        return tf.where(is_wrong, nan, shares)


@export("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(
    logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """The loss that goes with `sparsemax`.

    Args:
        logits: floats [batch, classes].
        sparsemax: what `tf.contrib.sparsemax.sparsemax` made of them.
        labels: the true shares.
        name: of the scope.

    Returns:
        Losses [batch].

    Example:
        >>> logits = tf.constant([[1.0, 0.5, -1.0]])
        >>> shares = tf.contrib.sparsemax.sparsemax(logits)
        >>> loss = tf.contrib.sparsemax.sparsemax_loss(logits, shares, tf.constant([[1.0, 0, 0]]))
        >>> print(tf.Session().run(loss))
        [0.0625]
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]) as name:
        z: Any = convert_to_tensor(logits, name="logits")
        shares: Any = convert_to_tensor(sparsemax, name="sparsemax")
        wanted: Any = convert_to_tensor(labels, name="labels")
        # (Logits of minus infinity have no share, and cost nothing.)
        has_share = tf.logical_or(shares > 0, tf.is_nan(shares))
        support = tf.where(has_share, shares * (z - 0.5 * shares), tf.zeros_like(shares))
        cost = wanted * (0.5 * wanted - z)
        costs_nothing = tf.logical_and(tf.equal(wanted, 0), tf.is_inf(z))
        cost = tf.where(costs_nothing, tf.zeros_like(z), cost)
        return tf.reduce_sum(support + cost, axis=1)
