# SPDX-License-Identifier: Apache-2.0
"""The n-th of each row's values in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....engine.api import export
from ....ops.public import raw

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


@export("contrib.nn.nth_element")
def nth_element(
    input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The value that would be at place `n` if each row were sorted.

    Args:
        input: [..., count] real numbers.
        n: the place, from 0.
        reverse: whether rows are sorted from the largest on.
        name: of the operation.

    Returns:
        [...], the values.

    Example:
        >>> tf.Session().run(tf.contrib.nn.nth_element([[5, 1, 3]], 1))
        array([3], dtype=int32)
    """
    return raw.NthElement(input, n, reverse=reverse, name=name)
