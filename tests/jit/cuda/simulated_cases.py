# SPDX-License-Identifier: Apache-2.0
"""A process of its own for Numba's simulator: random kernels, each by several grids and blocks.

Prints how many kernels agreed with NumPy's evaluation of the same IR.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from numbaflow.jit.cuda import held_emit
from numbaflow.jit.cuda.cuda_kernel import kernel_text
from numbaflow.jit.cuda.launching import Extents, extents
from numbaflow.jit.library.block_convolution import block_convolution
from numbaflow.jit.library.block_product import block_product
from numbaflow.jit.library.computed import Convolution

from ..codegen.test_emit import Evaluation, compare, problems
from . import convolutions, rows, simulator

# Blocks of several lines, lines of one warp and of several, few blocks for many rows.
SHAPES = {
    "map": (Extents(2, 2, 8, 4), Extents(1, 3, 32, 1)),
    "column": (Extents(2, 1, 4, 8), Extents(1, 2, 32, 1), Extents(1, 2, 4, 1, 8)),
    "row": (Extents(1, 2, 1, 8), Extents(1, 2, 32, 2), Extents(1, 1, 128, 1)),
}
done = 0


def check(problem: Any, shape: Extents) -> None:
    """One kernel by one grid."""
    kernel, buffers, sizes, params = problem
    wanted, found = ([b.copy() for b in buffers] for _ in range(2))
    Evaluation(kernel, wanted, sizes, params).run()
    outer = [s for s, a in zip(sizes, kernel.axes) if a.kind != "reduce"]
    columns = 1 if kernel.form == "row" else outer.pop()
    simulator.launch(
        kernel_text(kernel), shape, [*found, *sizes, *params], math.prod(outer), columns
    )
    for got, want in zip(found, wanted):
        compare(got, want, kernel)


@given(problems(), st.integers(0, 9))
def random_kernels(problem: Any, choice: int) -> None:
    """A random kernel by the grid of its sizes, or by another."""
    global done
    kernel, _, sizes, _ = problem
    if math.prod(sizes) > 3000:
        return
    shapes = SHAPES[kernel.form]
    rows = math.prod(s for s, a in zip(sizes, kernel.axes) if a.kind != "reduce")
    shape = shapes[choice % len(shapes)]
    if choice == 9:
        shape = extents(kernel.form, rows, 1, math.prod(sizes))
    check(problem, shape)
    done += 1


def tiles_of_products() -> None:
    """A product whose edges are within tiles, by a block that needs several turns."""
    rng = np.random.default_rng(0)
    m, n, k = 20, 70, 18
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    z = np.zeros((m, n), np.float32)
    sizes = [m, n, k, 1, m * k, k, 1, k * n, n, 1]
    text = kernel_text(block_product("float32", across=4).over(["float32"] * 3))
    flat = [x.ravel(), y.ravel(), z.ravel()]
    simulator.launch(text, Extents(1, 1, 8, 1), [*flat, *sizes], m, n)
    np.testing.assert_allclose(z, x @ y, rtol=1e-4, atol=1e-4)


def tiles_of_convolutions() -> None:
    """A convolution and its gradients, by a block that needs several turns."""
    shape = convolutions.Shape((1, 4, 3, 5), (2, 2, 5, 6), (2, 1))
    (above, _), (before, _) = shape.ends
    ends = *shape.images, *shape.filters[:2], shape.filters[3], *shape.scores[1:3], above, before
    sides = {"images": shape.images, "filters": (6, 2, 2, 5), "scores": shape.scores}
    for way, names in convolutions.ORDERS.items():
        parts = 2 if way == "filters" else 1
        computes = Convolution("float64", way, shape.steps, shape.dilations, parts=parts)
        text = kernel_text(block_convolution(computes, across=4).over(["float64"] * 3))
        one, other = convolutions.given(shape, "float64", way)
        places = [
            np.moveaxis(a, 3, 0) if n == "filters" else a for n, a in zip(names, (one, other))
        ]
        found = np.zeros((parts, *sides[(sides.keys() - set(names)).pop()]))
        flat = [np.ravel(a) for a in places]
        result = found.reshape(-1)
        rows, columns = found.size // found.shape[-1], found.shape[-1]
        simulator.launch(text, Extents(1, 2, 16, 1), [*flat, result, *ends], rows, columns)
        total = found.sum(0)
        total = np.moveaxis(total, 0, 3) if way == "filters" else total
        np.testing.assert_array_equal(total, shape.wanted(way, one, other))


def rows_that_are_held() -> None:
    """Softmax of rows of which a block holds all, or some; and of those that a warp takes."""
    rng = np.random.default_rng(1)
    kernel = rows.softmax("float32")
    for most in (512, 128):
        held_emit.HELD_BYTES, held_emit.FEWEST = 4 * most, most
        text = kernel_text(kernel)
        assert f"shared_float32({most})" in text.source
        for lanes in (32, 128):
            x = rng.standard_normal((3, 300), np.float32)
            y = np.zeros_like(x)
            arguments = [x.ravel(), y.reshape(-1), *x.shape, x.shape[1]]
            simulator.launch(text, Extents(1, 2, lanes, 1), arguments, len(x), 1)
            wanted = np.exp(x - x.max(1, keepdims=True))
            np.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), rtol=1e-5)


if __name__ == "__main__":
    rows_that_are_held()
    tiles_of_products()
    tiles_of_convolutions()
    count = int(sys.argv[1])
    given_settings = settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    seed(0)(given_settings(random_kernels))()
    print(done)
