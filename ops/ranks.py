# SPDX-License-Identifier: Apache-2.0
"""Ranks that kernels ask of their inputs, stated beside the kernel as data.

Where a graph knows nothing of a shape, this is the first to look at it.  Compiled plans ask shape
functions (jit/trace/shape_inference.py) and leave it to these kernels to say what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..engine import errors
from ..engine.record_class import record
from ..engine.types.shape import shape_text

if TYPE_CHECKING:
    from ..engine.graph.kernel_context import KernelContext


@record(frozen=True, slots=True)
class Rank:
    """The ranks that an input may have, and the error; {shape} and {rank} stand for what came."""

    index: int
    allowed: tuple[int, ...]
    text: str

    def check(self, inputs: tuple[Any, ...]) -> None:
        """Raises if the input has another rank."""
        if self.index >= len(inputs):
            return
        shape = inputs[self.index].shape
        if len(shape) not in self.allowed:
            text = self.text.format(shape=shape_text(shape), rank=len(shape))
            raise errors.invalid(text)


def scalar(index: int, text: str) -> Rank:
    """An input that must be a scalar."""
    return Rank(index, (0,), text)


def vector(index: int, text: str) -> Rank:
    """An input that must be a vector."""
    return Rank(index, (1,), text)


def image(index: int, text: str) -> Rank:
    """An input that must be a batch of images, or the filters for them."""
    return Rank(index, (4,), text)


def ranked(kernel: Callable[..., Any], *wanted: Rank) -> Callable[..., Any]:
    """The kernel, which first looks at the ranks of its inputs."""

    @functools.wraps(kernel)
    def checked(c: KernelContext, *inputs: Any) -> Any:
        for rank in wanted:
            rank.check(inputs)
        return kernel(c, *inputs)

    return checked
