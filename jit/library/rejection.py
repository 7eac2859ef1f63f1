# SPDX-License-Identifier: Apache-2.0
"""Random numbers that are drawn until one is accepted: of gamma and Poisson distributions.

They are those of the reference kernels, which are TensorFlow's, to the last places of logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, product
from . import rejection_kernels as kernels
from .library_kernel import LibraryKernel
from .random import PhiloxReservation
from .template import specialise

_TILE = 256  # samples per tile
_OPERATIONS = 300  # of a sample
_METHODS: dict[str, Callable[..., Any]] = {"gamma": kernels.gamma, "poisson": kernels.poisson}
_DTYPES = {"gamma": ("float32", "float64"), "poisson": ("float32", "float64", "int32", "int64")}


def rejected(
    b: Any, op: Any, method: str, dims: Sequence[AnySize], values: Any, stream: Any, dtype: str
) -> Any:
    """Samples of shape `dims` for each of some parameters; or NotImplemented.

    stream: of a kernel context, as for philox_uniform.
    """
    if dtype not in _DTYPES[method]:
        return NotImplemented
    count, width = product(dims), product(values.shape)
    size = count * width
    (out,) = b.call(
        _kernel(method, dtype),
        [b.cast(values, "float64")],
        [((*dims, *values.shape), dtype)],
        [count, width],
        size,
        _TILE,
        reserve=PhiloxReservation(op, stream, size),
        operations=_OPERATIONS * size,
    )
    return out


def _kernel(method: str, dtype: str) -> LibraryKernel:
    kind = dtype if dtype.startswith("float") else "integer"
    return specialise(method, kernels.draw, SAMPLE=_METHODS[method], KIND=kind)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both methods, for samples of these dtypes, and numbers of events as integers."""
    for method in _METHODS:
        for dtype in (d for d in _DTYPES[method] if d in dtypes or d.startswith("int")):
            yield _kernel(method, dtype).over(["float64", dtype])
