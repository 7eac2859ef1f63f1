# SPDX-License-Identifier: Apache-2.0
"""Numbers of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ops.public import raw

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def bucketize(
    input_tensor: TensorLike, boundaries: Sequence[float], name: str | None = None
) -> Tensor:
    """How many of the boundaries, which are in order, each number reaches.

    Args:
        input_tensor: numbers.
        boundaries: a list of floats.
        name: of the op.

    Returns:
        A tensor of int32.

    Raises:
        TypeError: the boundaries are no list.
    """
    return raw.Bucketize(input_tensor, boundaries=boundaries, name=name)  # type: ignore[no-any-return]
