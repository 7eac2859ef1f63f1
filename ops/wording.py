# SPDX-License-Identifier: Apache-2.0
"""How kernels word what they refuse: errors, shapes and types as the runtime writes them."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..engine.graph.tensor import shape_text
from ..engine.types.shape import TensorShape


def refuse(text: str) -> errors.InvalidArgumentError:
    """The error for a wrong use of what an op works on."""
    return errors.InvalidArgumentError(None, None, text)


def text_of(shape: Any) -> str:
    """A shape as the runtime prints it."""
    sizes = shape.sizes if isinstance(shape, TensorShape) else shape
    if sizes is None:
        return "<unknown>"
    return shape_text(sizes).replace(" ", "")
