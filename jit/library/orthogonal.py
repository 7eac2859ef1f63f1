# SPDX-License-Identifier: Apache-2.0
"""QR factors of stacks of matrices, and eigenvectors of symmetric ones.

A tile has some of the matrices, each of which one thread works on alone: so results have the same
bits whatever the threads.  Signs are those of reflections that keep large numbers large, and for
eigenvectors those of the implicit QR algorithm: TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, ceil_div, maximum, minimum, product
from . import orthogonal_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .vectors import BYTES

_WORK = 1 << 15  # multiplications per tile
DTYPES = ("float32", "float64")


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module for numbers of these dtypes."""
    for dtype in dtypes:
        if dtype in DTYPES:
            yield _kernel(orthogonal_kernels.qr, dtype).over([dtype] * 3)
            yield _kernel(orthogonal_kernels.eigen, dtype).over([*[dtype] * 3, "bool"])


def qr(b: Any, x: Any, is_full: bool) -> tuple[Any, Any]:
    """Orthonormal columns q and upper triangles r with q r = x; is_full: q is square."""
    *batch, m, n = x.shape
    least = minimum(m, n)
    inner, count = m if is_full else least, product(batch)
    scratch = BYTES[x.dtype] * (m * n + least + 2 * m + n + 2) + 8
    return b.call(  # type: ignore[no-any-return]
        _kernel(orthogonal_kernels.qr, x.dtype),
        [x],
        [((*batch, m, inner), x.dtype), ((*batch, inner, n), x.dtype)],
        [m, n, inner],
        count,
        _tile(m * n * least),
        scratch=scratch,
        operations=4 * count * m * n * least,
    )


def eigen(b: Any, x: Any, has_vectors: bool) -> tuple[Any, Any, Any]:
    """Eigenvalues, eigenvectors (nothing unless they are wanted), and which were not found."""
    *batch, n = x.shape[:-1]
    count = product(batch)
    vectors = x.shape if has_vectors else (0,)
    return b.call(  # type: ignore[no-any-return]
        _kernel(orthogonal_kernels.eigen, x.dtype),
        [x],
        [((*batch, n), x.dtype), (vectors, x.dtype), (tuple(batch), "bool")],
        [n, int(has_vectors)],
        count,
        _tile(9 * n * n * n),
        scratch=BYTES[x.dtype] * (2 * n * n + 3 * n + 2) + 8,
        operations=9 * count * n * n * n,
    )


def _tile(work: AnySize) -> AnySize:
    return maximum(ceil_div(_WORK, maximum(work, 1)), 1)


def _kernel(entry: Callable[..., None], dtype: str) -> LibraryKernel:
    facts = np.finfo(dtype)
    return specialise(
        *(entry.__name__, entry),
        DTYPE=dtype,
        IS_SINGLE=dtype == "float32",
        EPSILON=float(facts.eps),
        TINY=float(facts.tiny),
    )
