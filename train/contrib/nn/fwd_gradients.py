# SPDX-License-Identifier: Apache-2.0
"""Derivatives in a direction, by going backwards twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.gradients.autodiff import gradients
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....ops.public import tf


def fwd_gradients(
    ys: Sequence[Tensor],
    xs: Sequence[Tensor],
    grad_xs: Sequence[Any] | None = None,
    assert_unused: bool = False,
) -> list[Any]:
    """How `ys` change along a direction of `xs`: Jacobians times vectors.

    Args:
        ys: tensors.
        xs: tensors that they depend on.
        grad_xs: the direction, a tensor for each of `xs`; ones if None.
        assert_unused: whether a run that computes the inner gradients' values fails.

    Returns:
        A tensor of the shape of each of `ys`.
    """
    # The gradient is linear in what comes from behind, whose values therefore do not matter.
    behind = [tf.zeros_like(y) + float("nan") for y in ys]
    inner = [
        convert_to_tensor(g) if isinstance(g, IndexedSlices) else g
        for g in gradients(ys, xs, grad_ys=behind)
    ]
    if assert_unused:
        with control_dependencies(inner):
            fails = tf.Assert(False, [1], name="fwd_gradients")
        with control_dependencies([fails]):
            inner = tf.identity_n(inner)
    inner = [tf.zeros_like(x) if g is None else g for x, g in zip(xs, inner)]
    for x, gradient in zip(xs, inner):
        gradient.set_shape(x.shape)
    return gradients(inner, behind, grad_ys=grad_xs)
