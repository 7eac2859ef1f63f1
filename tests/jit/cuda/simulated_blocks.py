# SPDX-License-Identifier: Apache-2.0
"""A process of its own for Numba's simulator: the library's forms for GPUs, by several blocks.

Every case is run by two sets of grids and blocks; both must give what NumPy does, and one set of
bits.
Prints how many kernels ran.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from numbaflow.jit.cuda.cuda_kernel import kernel_text
from numbaflow.jit.cuda.launching import Extents
from numbaflow.jit.kernel import ir, scalar
from numbaflow.jit.library import (
    block_places,
    block_ranking,
    block_rows,
    block_scan,
    block_segments,
)

from . import simulator
from .eager_builder import Array, EagerBuilder

# Fewer threads than the kernels count on, in several turns, and blocks that have nothing to do; and
# one thread.
SHAPES = [[Extents(2, 1, 8, 1), Extents(1, 1, 3, 1)], [Extents(1, 1, 1, 1)]]
RNG = np.random.default_rng(0)
done = 0


def alike(make: Callable[[EagerBuilder], Any], want: np.ndarray, least: int = 1) -> None:
    """What is made is what NumPy has, and has the same bits whatever the blocks."""
    global done
    found = []
    for shapes in SHAPES:
        b = EagerBuilder(shapes)
        found.append(make(b).array)
        assert len(b.kernels) >= least, b.kernels
        done += len(b.kernels)
    np.testing.assert_allclose(found[0], want, rtol=1e-5, atol=1e-5)
    assert found[0].tobytes() == found[1].tobytes()


def numbers(shape: Any, dtype: str) -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(-3, 4, shape).astype(dtype)


def scans() -> None:
    """Running sums of short lines, of one that is cut, and down columns."""
    x = numbers((1, 2400), "float32")
    wide = x.astype(np.float64)
    alike(lambda b: block_scan.running_sums(b, "add", Array(x), 1), np.cumsum(wide, 1))
    y = numbers(3 * block_scan.CHUNK, "int32")
    back = np.cumsum(y[::-1])[::-1] - y
    alike(lambda b: block_scan.running_sums(b, "add", Array(y), 0, True, True), back, 3)
    z = 1 + 0.1 * numbers((70, 2), "float64")
    alike(lambda b: block_scan.running_sums(b, "mul", Array(z), 0), np.cumprod(z, 0))


def scatters() -> None:
    """Sums, products and the last of rows at few indices, and at so many that they are sorted."""
    for count, fn in ((20, "add"), (1100, "update")):
        ids = RNG.integers(-1, 8 if count < 100 else 201, count).astype(np.int32)
        updates = numbers((count, 2), "float32")
        base = numbers((200, 2), "float32")
        want = base.astype(np.float64)
        for i, row in zip(ids, updates):
            if 0 <= i < 200:
                want[i] = row if fn == "update" else want[i] + row
        given = fn, Array(ids), Array(updates), 200, Array(base), 0
        alike(
            lambda b, given=given: block_rows.combined_rows(b, *given),
            want,
            3 if count < 100 else 5,
        )


def segments() -> None:
    """Sums of sorted segments, one of them empty, over the root of how many they are."""
    ids = np.sort(RNG.integers(0, 5, 40))
    ids[ids == 3] = 4
    data, picks = numbers((9, 3), "float32"), RNG.integers(0, 9, 40)
    want = np.zeros((6, 3))
    np.add.at(want, ids, data[picks])
    want /= np.sqrt(np.maximum(np.bincount(ids, minlength=6), 1))[:, None]
    alike(
        lambda b: block_segments.combined_segments(
            b, "add", Array(data), Array(ids), 6, (0, 0), 3, Array(picks), 1
        ),
        want,
        2,
    )
    values, columns, rows = numbers(40, "float32"), picks, RNG.permutation(ids)
    dense = np.zeros((6, 9))
    np.add.at(dense, (rows, columns), values)
    alike(
        lambda b: block_segments.product_of_sparse(
            b, *map(Array, (rows, columns, values, data)), 6
        ),
        dense @ data,
        3,
    )


def orders() -> None:
    """Places in short rows and in all of them, and the numbers that are new."""
    x = numbers((4, 20), "int32")
    order = np.argsort(-x, 1, "stable")[:, :3]

    def kept(b: EagerBuilder) -> Any:
        return b, block_ranking._keys(b, Array(x.reshape(-1)))

    alike(lambda b: block_ranking._by_looks(*kept(b), 4, 20, 3), order.reshape(-1))
    alike(lambda b: block_ranking._by_network(*kept(b), 4, 20, 3), order.reshape(-1))
    everything = np.argsort(-x, 1, "stable") + 20 * np.arange(4)[:, None]
    alike(lambda b: block_ranking._sorted(*kept(b), 8, 4, 20), everything.reshape(-1), 2)
    y = RNG.integers(-9, 9, 60)
    new, first = np.unique(y, return_index=True)
    wanted = np.searchsorted(np.sort(first), first[np.searchsorted(new, y)])
    alike(lambda b: block_places.distinct_numbers(b, Array(y), "int64")[1], wanted, 4)
    marks = RNG.random((5, 9)) < 0.5
    places = np.argwhere(marks)
    alike(lambda b: block_places.nonzero_places(b, Array(marks), len(places)), places, 2)


def squares() -> None:
    """A map that reads one of two matrices across its grain, by several grids and blocks."""
    global done
    x, y, z = numbers((40, 20), "float32"), numbers((20, 40), "float32"), np.zeros((20, 40), "f4")
    across = ir.Load(0, ir.Index((1, ir.Param(1))), "float32")
    along = ir.Load(1, ir.Index((ir.Param(0), 1)), "float32")
    buffers = tuple(ir.Buffer("float32", access) for access in "rrw")
    store = ir.Store(2, ir.Index((ir.Param(0), 1)), scalar.sub(across, along))
    kernel = ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 2)
    text = kernel_text(kernel)
    assert "square0" in text.source
    for shape in (Extents(1, 2, 4, 2), Extents(3, 1, 8, 1)):
        z[...] = 0
        flat = [x.reshape(-1), y.reshape(-1), z.reshape(-1)]
        simulator.launch(text, shape, [*flat, 20, 40, 40, 20], 20, 40)
        np.testing.assert_array_equal(z, x.T - y)
        done += 1


CASES = {case.__name__: case for case in (scans, scatters, segments, orders, squares)}

if __name__ == "__main__":
    CASES[sys.argv[1]]()
    print(done)
