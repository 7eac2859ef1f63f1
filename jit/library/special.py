# SPDX-License-Identifier: Apache-2.0
"""Special functions of two and three arguments: incomplete gamma and beta functions, zeta.

Results of double precision are within 1e-13 of SciPy's where they are of ordinary size, within
1e-11 where they are tiny (tests/jit/library/test_special.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import product
from . import special_kernels as kernels
from .library_kernel import LibraryKernel
from .template import specialise

_TILE = 256  # values per tile
_OPERATIONS = 400  # of a value
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "igamma": kernels.igamma,
    "igammac": kernels.igammac,
    "igamma_slope": kernels.igamma_slope,
    "gamma_slope": kernels.gamma_slope,
    "zeta": kernels.zeta,
    "polygamma": kernels.polygamma,
    "betainc": kernels.betainc,
}


def special_function(b: Any, function: str, values: Sequence[Any]) -> Any:
    """A function of two or three values of one dtype, which broadcast; or NotImplemented."""
    dtype = values[0].dtype
    if dtype not in ("float32", "float64"):
        return NotImplemented
    shape = b.broadcast_shape(*(value.shape for value in values))
    size = product(shape)
    flat = [b.reshape(b.broadcast(value, shape), (size,)) for value in values]
    kernel = _kernel(function, dtype, len(values))
    (out,) = b.call(
        kernel,
        flat,
        [(tuple(shape), dtype)],
        [],
        size,
        _TILE,
        operations=_OPERATIONS * size,
    )
    return out


# What is left out of a result, and how far series and fractions go for that.
_PRECISION = {
    "float32": {"EPSILON": 2.0**-31, "FIRST": 4, "DEPTH": 24, "GROWTH": 2.0},
    "float64": {"EPSILON": 2.0**-53, "FIRST": 9, "DEPTH": 60, "GROWTH": 6.0},
}


def _kernel(function: str, dtype: str, count: int) -> LibraryKernel:
    limits = np.finfo(dtype)
    return specialise(
        function,
        kernels.of_two if count == 2 else kernels.of_three,
        FUNCTION=FUNCTIONS[function],
        IS_SINGLE=dtype == "float32",
        LARGEST=float(limits.max),
        TINY=float(limits.tiny),
        **_PRECISION[dtype],
    )


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All functions, of these dtypes."""
    for function in FUNCTIONS:
        count = 3 if function == "betainc" else 2
        for dtype in dtypes:
            yield _kernel(function, dtype, count).over([dtype] * (count + 1))
