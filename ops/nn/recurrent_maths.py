# SPDX-License-Identifier: Apache-2.0
"""The maths of LSTM and GRU steps, stated once for arrays and for compiled plans.

A step is scalar bodies (`jit.kernel.scalar`) and matrix products.  `OnArrays` does them at once, in
the reference kernels; `InPlan` adds them to a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...jit.kernel import scalar as k

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder


class OnArrays:
    """NumPy: what the reference kernels compute with."""

    def map(self, body: Callable[..., Any], *values: Any) -> Any:
        """The body at all positions, with broadcasting."""
        with np.errstate(all="ignore"):
            return body(*values)

    def product(self, x: Any, y: Any, turn_x: bool = False, turn_y: bool = False) -> Any:
        """A matrix product; 16-bit floats accumulate in float32."""
        dtype = x.dtype
        x, y = (v.astype(np.float32) if dtype == np.float16 else v for v in (x, y))
        with np.errstate(all="ignore"):
            made = np.matmul(x.T if turn_x else x, y.T if turn_y else y)
            return made.astype(dtype)

    def join(self, parts: Sequence[Any]) -> np.ndarray:
        """Matrices side by side."""
        return np.concatenate(parts, axis=1)

    def columns(self, x: Any, start: Any, size: Any) -> Any:
        """`size` columns of a matrix."""
        return x[:, start : start + size]

    def row(self, x: Any) -> Any:
        """A vector as a row."""
        return x[np.newaxis]

    def total(self, x: Any) -> Any:
        """The sum of the rows."""
        with np.errstate(all="ignore"):
            return np.add.reduce(x, axis=0, dtype=x.dtype)

    def zeros(self, shape: Sequence[Any], like: Any) -> np.ndarray:
        """Zeros in the dtype of a value."""
        return np.zeros(tuple(shape), like.dtype)


class InPlan:
    """The same, of a plan."""

    def __init__(self, b: Builder) -> None:
        self.b = b

    def map(self, body: Callable[..., Any], *values: Any) -> Any:
        """The body at all positions, with broadcasting."""
        return self.b.map(body, *values)

    def product(self, x: Any, y: Any, turn_x: bool = False, turn_y: bool = False) -> Any:
        """A matrix product; 16-bit floats accumulate in float32."""
        from ...jit import library

        return library.matmul(self.b, x, y, turn_x, turn_y)

    def join(self, parts: Sequence[Any]) -> Value:
        """Matrices side by side."""
        return self.b.concat(list(parts), 1)

    def columns(self, x: Any, start: Any, size: Any) -> Value:
        """`size` columns of a matrix."""
        return self.b.slice(x, [0, start], [x.shape[0], size])

    def row(self, x: Any) -> Value:
        """A vector as a row."""
        return self.b.reshape(x, (1, x.shape[0]))

    def total(self, x: Any) -> Value:
        """The sum of the rows."""
        return self.b.reduce("sum", x, (0,))

    def zeros(self, shape: Sequence[Any], like: Any) -> Value:
        """Zeros in the dtype of a value."""
        return self.b.full(tuple(shape), 0, like.dtype)


def slope_of_sigmoid(y: Any) -> Any:
    """The slope of a sigmoid where its value is y."""
    return k.mul(y, k.sub(1.0, y))


def slope_of_tanh(y: Any) -> Any:
    """The slope of tanh where its value is y."""
    return k.sub(1.0, k.mul(y, y))


def require_rank(name: str, value: Any, rank: int) -> None:
    """An error for an input of another rank than the op wants."""
    if value.ndim != rank:
        raise errors.invalid(f"{name} must be {rank}D")


def require_size(name: str, found: int, what: str, wanted: int) -> None:
    """An error for a dimension that is not what others ask it to be."""
    if found != wanted:
        raise errors.invalid(f"{name} != {what}: {found} vs. {wanted}")


def fits(value: Any, shape: Sequence[Any], equal: Callable[[Any, Any], bool]) -> bool:
    """Whether a value has a shape."""
    return value.ndim == len(shape) and all(equal(a, b) for a, b in zip(value.shape, shape))
