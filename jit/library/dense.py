# SPDX-License-Identifier: Apache-2.0
"""Factors of stacks of square matrices, and systems of equations.

A tile has some of the matrices, each of which one thread works on alone, or some columns of right
sides: so results have the same bits whatever the threads.  With everything comes a flag for each
matrix: whether it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum, product
from . import dense_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .tiles import tiles
from .vectors import BYTES, vectors

_WORK = 1 << 15  # multiplications per tile
_COLUMNS = 64  # of right sides in a tile, whole vectors
DTYPES = ("float32", "float64")


# By kernel, how many tensors it reads.
_ENTRIES = {
    dense_kernels.cholesky: 1,
    dense_kernels.substitute: 2,
    dense_kernels.solve: 2,
    dense_kernels.invert: 1,
}


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module for numbers of these dtypes."""
    for dtype in dtypes:
        if dtype in DTYPES:
            for entry, inputs in _ENTRIES.items():
                yield _kernel(entry, dtype).over([dtype] * (inputs + 1) + ["bool"])
            yield _kernel(dense_kernels.diagonal, dtype).over([dtype] * 3)
            for kind in ("int32", "int64"):
                yield _kernel(dense_kernels.lu, dtype).over([dtype, dtype, kind, "bool"])


def cholesky(b: Any, x: Any) -> tuple[Any, Any]:
    """The lower triangles L with L L' = x, and which matrices have none."""
    n, count = x.shape[-1], product(x.shape[:-2])
    return _called(b, dense_kernels.cholesky, [x], [x.shape], [n], count, n * n * n)


def substituted(b: Any, matrix: Any, rhs: Any, lower: bool, transposed: bool) -> tuple[Any, Any]:
    """Solutions of triangular systems, and which triangles have a zero on the diagonal."""
    n, width = rhs.shape[-2:]
    count = product(matrix.shape[:-2])
    params = [n, width, int(lower), int(transposed)]
    work = n * n * width
    return _called(
        *(b, dense_kernels.substitute, [matrix, rhs], [rhs.shape], params, count, work),
        columns=width,
    )


def solved(b: Any, matrix: Any, rhs: Any, transposed: bool) -> tuple[Any, Any]:
    """Solutions of square systems, and which matrices are singular."""
    n, width = rhs.shape[-2:]
    count = product(matrix.shape[:-2])
    work, params = n * n * (n + width), [n, width, int(transposed)]
    return _called(
        *(b, dense_kernels.solve, [matrix, rhs], [rhs.shape], params, count, work), copies=n * n
    )


def inverse(b: Any, x: Any, transposed: bool) -> tuple[Any, Any]:
    """The inverses of matrices, and which have none."""
    n, count = x.shape[-1], product(x.shape[:-2])
    params = [n, int(transposed)]
    return _called(
        *(b, dense_kernels.invert, [x], [x.shape], params, count, 2 * n * n * n), copies=n * n
    )


def pivots(b: Any, x: Any) -> tuple[Any, Any]:
    """What matrices have on the diagonal once they are triangles, and the sign of the exchanges.

    The determinant is the product of all these.
    """
    n, batch = x.shape[-1], x.shape[:-2]
    kernel = _kernel(dense_kernels.diagonal, x.dtype).calling(_tiles(x.dtype))
    work, count = n * n * n, product(batch)
    outputs = [((*batch, n), x.dtype), (batch, x.dtype)]
    return b.call(  # type: ignore[no-any-return]
        kernel,
        [x],
        outputs,
        [n],
        count,
        _tile(work),
        scratch=_scratch(x.dtype, n, n * n),
        operations=count * work,
    )


def lu(b: Any, x: Any, kind: str) -> tuple[Any, Any, Any]:
    """Factors of matrices, the order of their rows in a dtype, and which are singular."""
    n, batch = x.shape[-1], x.shape[:-2]
    work, count = n * n * n, product(batch)
    return b.call(  # type: ignore[no-any-return]
        _kernel(dense_kernels.lu, x.dtype).calling(_tiles(x.dtype)),
        [x],
        [(x.shape, x.dtype), (x.shape[:-1], kind), (batch, "bool")],
        [n],
        count,
        _tile(work),
        scratch=_scratch(x.dtype, n),
        operations=count * work,
    )


def _called(
    b: Any,
    entry: Callable[..., None],
    inputs: list[Any],
    shapes: list[Any],
    params: list[Any],
    count: AnySize,
    work: AnySize,
    copies: AnySize = 0,
    columns: AnySize = 1,
) -> tuple[Any, Any]:
    """A kernel's result and its flags; copies: how many elements a worker copies for itself."""
    dtype = inputs[0].dtype
    outputs = [*((shape, dtype) for shape in shapes), (inputs[0].shape[:-2], "bool")]
    return b.call(  # type: ignore[no-any-return]
        _kernel(entry, dtype).calling(_tiles(dtype)),
        inputs,
        outputs,
        params,
        count,
        _tile(work),
        columns,
        _COLUMNS,
        scratch=_scratch(dtype, params[0], copies),
        operations=count * work,
    )


def _tile(work: AnySize) -> AnySize:
    return maximum(ceil_div(_WORK, maximum(work, 1)), 1)


def _scratch(dtype: str, n: AnySize, copies: AnySize = 0) -> AnySize:
    size = BYTES[dtype] * (dense_kernels.BLOCK * n + copies)
    return dense_kernels.TILE_BYTES + size + 8  # type: ignore[no-any-return]


def _tall(dtype: str) -> int:
    """The rows of a tile of two vectors, which are a part of a block."""
    return 12 if vectors(dtype).registers > 16 else 6


def _tiles(dtype: str) -> Iterator[LibraryKernel]:
    """The tiles that kernels call: of many rows and of one, of two vectors and of less."""
    for is_part in (False, True):
        for height in (_tall(dtype), 1):
            yield tiles(dtype, height, 2, is_part, ragged=is_part, adjacent=True)


def _kernel(entry: Callable[..., None], dtype: str) -> LibraryKernel:
    facts = {"LANES": vectors(dtype).lanes, "TALL": _tall(dtype)}
    return specialise(entry.__name__, entry, DTYPE=dtype, IS_SINGLE=dtype == "float32", **facts)
