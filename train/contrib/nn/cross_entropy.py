# SPDX-License-Identifier: Apache-2.0
"""Cross entropies of `tf.nn` with logits first, as before TensorFlow 1.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....engine.api import export
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

_FLIPPED = "contrib.nn.deprecated_flipped"


@export(f"{_FLIPPED}_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` with the logits first."""
    entropy = getattr(tf, "nn.softmax_cross_entropy_with_logits")
    return entropy(labels=labels, logits=logits, dim=dim, name=name)


@export(f"{_FLIPPED}_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` with the logits first."""
    entropy = getattr(tf, "nn.sparse_softmax_cross_entropy_with_logits")
    return entropy(labels=labels, logits=logits, name=name)


@export(f"{_FLIPPED}_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits` with the logits first."""
    entropy = getattr(tf, "nn.sigmoid_cross_entropy_with_logits")
    return entropy(labels=targets, logits=logits, name=name)
