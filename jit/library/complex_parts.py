# SPDX-License-Identifier: Apache-2.0
"""What is made of complex numbers by way of their parts: kernels of the library hold real ones.

Imports the scalar vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernel import scalar
from ..kernel.ir import Kernel
from ..kernel.sizes import product
from .library_kernel import LibraryKernel


def by_parts(b: Any, form: Callable[..., Any], *values: Any) -> Any:
    """What a form that adds and moves real numbers makes of complex ones, or NotImplemented."""
    parts = [b.map(lambda z: (scalar.real(z), scalar.imag(z)), value) for value in values]
    found = [form(*each) for each in zip(*parts)]
    return NotImplemented if NotImplemented in found else b.map(scalar.complex, *found)


def reduced(b: Any, fn: str, value: Any, axes: Sequence[int] | None, keepdims: bool) -> Any:
    """A reduction of complex numbers: sums are those of the parts."""
    if fn == "prod" and not b.is_plain:
        return _product(b, value, axes, keepdims)
    if fn != "sum":
        raise b.host(f"{fn} of {value.dtype} has no compiled form")
    return by_parts(b, lambda part: b.reduce(fn, part, axes, keepdims), value)


def _product(b: Any, value: Any, axes: Sequence[int] | None, keepdims: bool) -> Any:
    """The products along axes: the last of the running ones."""
    from .rows import running

    reduced = {b.axis(axis, value.ndim) for axis in (range(value.ndim) if axes is None else axes)}
    kept = [axis for axis in range(value.ndim) if axis not in reduced]
    lines = [value.shape[axis] for axis in kept]
    shape = [1 if axis in reduced else size for axis, size in enumerate(value.shape)]
    shape = shape if keepdims else lines
    length = product(value.shape[axis] for axis in sorted(reduced))
    if b.equal(length, 0):
        return b.full(shape, 1, value.dtype)
    turned = b.reshape(b.transpose(value, [*kept, *sorted(reduced)]), (product(lines), length))
    products = running(b, "mul", turned, 1)
    return b.reshape(b.slice(products, [0, length - 1], (product(lines), 1)), shape)


def refuse(b: Any, kernel: Kernel | LibraryKernel, dtypes: Sequence[str]) -> None:
    """Gives up lowering what hands complex numbers to a kernel that knows only real ones."""
    takes_pairs = isinstance(kernel, LibraryKernel) and kernel.takes_pairs and not b.is_plain
    if not takes_pairs and any(map(scalar.is_complex, dtypes)):
        raise b.host("the library computes with real numbers")


def complex_product(
    b: Any, form: Callable[..., Any], x: Any, y: Any, transpose_x: bool, transpose_y: bool
) -> Any:
    """The product of (stacks of) complex matrices by `form`, which makes that of real ones.

    With A = a + ic and B = b + id, [a; c] times [b, d] has the four products of parts in its
    quarters, of which AB = (ab - cd) + i(ad + cb) is made.
    """
    rank = x.ndim
    down, across = rank - 1 if transpose_x else rank - 2, rank - 2 if transpose_y else rank - 1
    whole = form(b, _parts(b, x, down), _parts(b, y, across), transpose_x, transpose_y)
    m, n = x.shape[down], y.shape[across]
    lead = [0] * (rank - 2)

    def quarter(row: Any, column: Any) -> Any:
        return b.slice(whole, [*lead, row, column], (*x.shape[:-2], m, n))

    return b.map(
        lambda ab, ad, cb, cd: scalar.complex(scalar.sub(ab, cd), scalar.add(ad, cb)),
        *(quarter(row, column) for row in (0, m) for column in (0, n)),
    )


def _parts(b: Any, value: Any, axis: int) -> Any:
    """The real parts, and behind them along an axis the imaginary ones."""
    parts = b.map(lambda z: (scalar.real(z), scalar.imag(z)), value)
    return b.concat(list(parts), axis)
