# SPDX-License-Identifier: Apache-2.0
"""Library kernels as plain Python against what is compiled from the same texts."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from numbaflow.jit import library
from numbaflow.jit.library import (
    arrays_kernels,
    conv_filter,
    conv_grad_pooled,
    growing_kernels,
    max_pool_argmax,
    plain_vocabulary,
    stacks_kernels,
    walk_kernels,
)
from numbaflow.jit.library.geometry import axes
from numbaflow.jit.library.matmul import Factor, Product
from numbaflow.jit.library.step_table import AGAIN, HOST, PLACE, SKIP, STOP
from numbaflow.jit.library.template import specialise
from numbaflow.jit.runtime import thread_pool
from numbaflow.ops.random import philox

from .eager import EagerBuilder
from .plain import PlainBuilder
from .test_pool_random import Drawing

pytestmark = pytest.mark.cpu


def draw(shape: Any, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Few distinct numbers, so that maxima tie and sums are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def same_both_ways(call: Callable[[EagerBuilder], Any], kernels: str) -> None:
    """Whether a call of some kernels gives the same as Python and compiled."""
    plain, compiled = PlainBuilder(), EagerBuilder()
    got, want = call(plain), call(compiled)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one.data, other.data)
    assert [kernel.name for kernel in plain.kernels] == kernels.split()
    assert plain.kernels == compiled.kernels


@pytest.mark.parametrize(
    "dtype, transposed, sizes",
    [
        ("float32", (False, False), (27, 21, 5)),
        ("float64", (True, True), (3, 16, 260)),
        ("int32", (True, False), (5, 3, 7)),
    ],
)
def test_products(dtype: str, transposed: Any, sizes: Any) -> None:
    m, n, k = sizes
    x, y = draw((m, k), dtype), draw((k, n), dtype, 1)
    x, y = (v.T if turned else v for v, turned in zip((x, y), transposed))
    name = "matmul_integer" if dtype == "int32" else "matmul"
    same_both_ways(lambda b: [library.matmul(b, b.value(x), b.value(y), *transposed)], name)


def test_a_product_of_packed_panels_with_all_that_it_can_add() -> None:
    x, y, onto, bias = draw((20, 9)), draw((9, 19)), draw((20, 19), seed=2), draw((19,), seed=3)
    made = Product("float32", 1, 20, 19, 9, Factor(False, 9), Factor(False, 19), onto=True)

    def call(b: EagerBuilder) -> Any:
        packed = made.panels(b, b.value(y))
        launch = made.with_panels().launch(bias=True, relu=True)
        values = [b.value(x), packed, b.value(onto), b.value(bias)]
        return b.launch(launch, values, [((20, 19), "float32")])

    same_both_ways(call, "matmul_pack matmul")
    (got,) = call(PlainBuilder())
    np.testing.assert_array_equal(got.data, np.maximum(x @ y + onto + bias, 0))


@pytest.mark.parametrize(
    "kernel, channels, strides, padding, dilations",
    [
        ((3, 3), (8, 5), (1, 1), "SAME", (1, 1)),  # edge tiles leave taps out
        ((2, 3), (3, 17), (1, 2), "VALID", (2, 1)),
        ((3, 2), (16, 16), (2, 2), ((0, 0), (1, 2), (2, 0), (0, 0)), (1, 1)),
    ],
)
def test_convolutions(
    kernel: Any, channels: Any, strides: Any, padding: Any, dilations: Any
) -> None:
    c, f = channels
    x, w = draw((2, 6, 9, c)), draw((*kernel, c, f), seed=1)
    how = (strides, padding, dilations)
    high, wide = axes(x.shape[1:3], kernel, strides, padding, dilations)
    dy = draw((2, high.out, wide.out, f), seed=2)

    def call(b: EagerBuilder) -> Any:
        vx, vw, vdy = b.value(x), b.value(w), b.value(dy)
        yield library.conv2d(b, vx, vw, *how, bias=b.value(draw((f,), seed=3)), relu=True)
        yield library.conv2d_filter_gradient(b, vx, w.shape, vdy, *how)
        if dilations == (1, 1):
            yield library.conv2d_input_gradient(b, x.shape, vw, vdy, *how)

    back = "conv2d" if strides == (1, 1) else "conv2d_input_gradient"
    names = "pack_filter conv2d conv2d_filter_gradient"
    names += f" pack_filter {back}" if dilations == (1, 1) else ""
    same_both_ways(call, names)


@pytest.mark.parametrize(
    "window, channels, strides, padding, dilations",
    [
        ((3, 3), 19, (1, 1), "SAME", (1, 1)),
        ((2, 3), 10, (2, 3), "VALID", (1, 1)),
        ((3, 2), 33, (1, 2), "SAME", (5, 1)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_depthwise_convolutions(
    window: Any, channels: int, strides: Any, padding: str, dilations: Any, dtype: str
) -> None:
    x, w = draw((2, 6, 9, channels), dtype), draw((*window, channels, 1), dtype, 1)
    how = (strides, padding, dilations)
    high, wide = axes(x.shape[1:3], window, strides, padding, dilations)
    dy = draw((2, high.out, wide.out, channels), dtype, 2)

    def call(b: EagerBuilder) -> Any:
        vx, vw, vdy = b.value(x), b.value(w), b.value(dy)
        yield library.depthwise(b, vx, vw, *how)
        yield library.depthwise_input_gradient(b, x.shape, vw, vdy, *how)
        yield library.depthwise_filter_gradient(b, vx, w.shape, vdy, *how)

    same_both_ways(call, "depthwise depthwise_input_gradient depthwise_filter_gradient")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("flags", [(False, True, False), (True, False, True)])
def test_alignments(dtype: str, flags: tuple[bool, ...]) -> None:
    """Rows that are left out or wrong, too; exponentials are not alike to the last bit."""
    places = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 1), (3, 2)]
    labels, lengths = np.int32([1, 1, 0, 2, 3, 9, 2, 0, 2]), np.int32([6, 2, 5, 4])

    def call(b: EagerBuilder) -> Any:
        given = draw((6, 4, 5), dtype), np.int64(places), labels, lengths
        return library.aligned(b, *map(b.value, given), True, flags)

    plain, compiled = call(PlainBuilder()), call(EagerBuilder())
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(one.data, other.data, rtol=2e-5, atol=1e-6)
    assert compiled[2].data.tolist() == [0, 0 if flags[2] else 1, 0, 0]


@pytest.mark.parametrize("channels", [(16, 3), (3, 16)])
def test_gradients_from_places_of_maxima(channels: Any) -> None:
    c, f = channels
    conv = axes((8, 8), (3, 3), (1, 1), "SAME")
    windows = axes((8, 8), (2, 2), (2, 2), "VALID")
    x, w, y = draw((2, 8, 8, c)), draw((3, 3, c, f), seed=1), draw((2, 8, 8, f), seed=2)
    dy = draw((2, 4, 4, f), seed=3)

    def call(b: EagerBuilder) -> Any:
        top, places = max_pool_argmax.max_pool_places(b, b.value(y), windows)
        yield from (top, places)
        yield max_pool_argmax.spread(b, y.shape, b.value(dy), places, windows)
        rest = (b.value(dy), places, conv, windows)
        yield conv_filter.from_maxima(b, b.value(x), w.shape, *rest)
        inputs = conv_grad_pooled.input_gradient(b, x.shape, b.value(w), *rest)
        if inputs is not NotImplemented:
            yield inputs

    last = "pooled_filter_gradient pack_by_feature pooled_input_gradient"
    is_few = c < 16
    same_both_ways(call, f"max_pool_places unpool {'conv2d_filter_gradient' if is_few else last}")


@pytest.mark.parametrize(
    "channels, dtype",
    [
        (3, "float32"),
        (53, "float32"),  # several vectors, one, and part of one
        (26, "float64"),
    ],
)
def test_pools(channels: int, dtype: str) -> None:
    x = draw((2, 7, 6, channels), dtype)
    x[0, :2, :2, :3] = [np.nan, -np.inf, 2]
    x[1, 3, ::2, -3:] = [np.inf, -0.0, np.nan]
    how = ((3, 2), (2, 2), "SAME")
    high, wide = axes(x.shape[1:3], *how)
    dy = draw((2, high.out, wide.out, channels), dtype, seed=1)

    def call(b: EagerBuilder) -> Any:
        value, gradient = b.value(x), b.value(dy)
        top = library.max_pool(b, value, *how)
        yield top
        yield library.max_pool_gradient(b, value, top, gradient, *how)
        yield library.avg_pool(b, value, *how)
        yield library.avg_pool_gradient(b, x.shape, gradient, *how)
        maxima, places = max_pool_argmax.max_pool_places(b, value, (high, wide))
        yield from (maxima, places)
        yield max_pool_argmax.spread(b, x.shape, gradient, places, (high, wide))

    names = "max_pool max_pool_gradient avg_pool avg_pool_gradient max_pool_places unpool"
    same_both_ways(call, names)


@pytest.mark.parametrize(
    "fn, dtype", [("add", "uint8"), ("sub", "int64"), ("max", "float32"), ("update", "float64")]
)
def test_scatters(fn: str, dtype: str) -> None:
    indices, updates = np.array([3, -1, 3, 0, 9], np.int32), draw((5, 4), dtype, 1)
    base = draw((5, 4), dtype)

    def call(b: EagerBuilder) -> Any:
        values = b.value(indices), b.value(updates)
        yield library.scatter_rows(b, fn, *values, 5, start=2)
        yield library.scatter_rows(b, fn, *values, 5, b.value(base))

    same_both_ways(call, f"scatter_{fn} scatter_{fn}")


def test_running_sums_and_transposes() -> None:
    x = draw((3, 5, 4), "int64", 1) + (1 << 60)
    floats = draw((3, 5, 4))
    matrices = draw((2, 19, 70))

    def call(b: EagerBuilder) -> Any:
        yield library.running(b, "add", b.value(floats), 1)
        yield library.running(b, "add", b.value(x), 1)
        yield library.running(b, "mul", b.value(floats), 1, exclusive=True, reverse=True)
        yield library.transpose_matrices(b, b.value(matrices))

    same_both_ways(call, "running_add running_add running_mul transpose")
    sums = [library.running(b, "add", b.value(x), 1) for b in (EagerBuilder(), PlainBuilder())]
    for got in sums:  # exact in integers, also when floats were summed before
        np.testing.assert_array_equal(got.data, np.cumsum(x, 1))


class PlainDrawing(Drawing, PlainBuilder):
    """Draws without a compiler."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "draws", [library.philox_uniform, library.philox_normal, library.philox_truncated_normal]
)
def test_random_numbers(draws: Any, dtype: str) -> None:
    seeds = (1 << 63) + 12345, (1 << 64) - 3
    both = []
    for builder in (PlainDrawing(), Drawing()):
        stream = philox.Stream(*seeds)
        both.append(draws(builder, None, (11,), lambda _, s=stream: s, dtype).data)
    # In double precision logarithms and the like are those of two libraries.
    np.testing.assert_array_max_ulp(*both, 0 if dtype == "float32" else 2)


@pytest.mark.parametrize("dtype, limits", [("int32", (-(2**31), 7)), ("int64", (-7, 1 << 40))])
def test_random_integers(dtype: str, limits: Any) -> None:
    both = []
    for builder in (PlainDrawing(), Drawing()):
        stream = philox.Stream(3, 4)
        made = library.philox_integers(builder, None, (11,), lambda _, s=stream: s, dtype, *limits)
        both.append(made.data)
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_arrays(adds: bool, counts: bool) -> None:
    size = 3 if adds or counts else 12  # elements or bytes of an element
    indices, values = np.array([2, 3], np.int32), draw((2, 3), seed=1)
    both = []
    for b in (PlainBuilder(), EagerBuilder()):
        memory, marks = draw((4, 3)), np.array([0, 1, 0, 2], np.uint8)
        bad, gone, value = np.zeros((), bool), np.ones((), bool), np.zeros(3, np.float32)
        buffers = [indices, values, memory, marks, bad]
        write = specialise("array_scatter", arrays_kernels.scatter, ADDS=adds, NUMBERS=counts)
        read = specialise("array_read", arrays_kernels.read, NUMBERS=counts)
        for kernel, arrays, params in (
            (write, buffers, [size, 4, 2]),
            (read, [indices, memory, marks, value, gone], [3 if counts else 12, 4, 1]),
        ):
            block = np.array([*(array.ctypes.data for array in arrays), *params], np.int64)
            b.execute(kernel.over(array.dtype.name for array in arrays), block, (1, 1, 12, 5))
        assert bad and not gone
        assert marks.tolist() == [0, 1, 2, 1]
        both.append((memory.tolist(), value.tolist()))
    assert both[0] == both[1]
    assert both[0][1] == both[0][0][2] == values[0].tolist() or adds


def test_stacks() -> None:
    for b in (PlainBuilder(), EagerBuilder()):
        room = np.zeros((4, 3), np.float32)
        record = np.array([room.ctypes.data, 7, 4, 12, 5], np.int64)
        given, back, rows = draw(3), np.zeros(3, np.float32), np.zeros((2, 3), np.float32)
        place, more = record.ctypes.data, np.stack([given + 5, given + 6])
        for entry, array, params in (
            (stacks_kernels.clear, None, [place]),
            (stacks_kernels.push, given + 1, [12, place]),
            (stacks_kernels.push, given, [12, place]),
            (stacks_kernels.items, rows, [12, place]),
            (stacks_kernels.pop, back, [12, place]),
            (stacks_kernels.room, None, [2, place]),
            (stacks_kernels.push_rows, more, [12, 2, place]),
        ):
            buffers = [] if array is None else [array]
            block = np.array([*(a.ctypes.data for a in buffers), *params], np.int64)
            kernel = specialise(f"stack_{entry.__name__}", entry)
            b.execute(kernel.over(a.dtype.name for a in buffers), block, (1, 1, 1, 1))
        assert record[1] == 3 and record[4] == 4
        np.testing.assert_array_equal(back, given)
        np.testing.assert_array_equal(rows, [given + 1, given])
        np.testing.assert_array_equal(room[:3], [given + 1, *more])


def test_arrays_that_grow() -> None:
    """Elements 2 and 0 are written, 2 once more; the mark of an element is in front of it."""
    for b in (PlainBuilder(), EagerBuilder()):
        room = np.zeros((4, 5), np.float32)  # a mark of 8 bytes, 12 of an element
        record = np.array([room.ctypes.data, 4, 4, 20, 0], np.int64)
        place, bad, total = record.ctypes.data, np.zeros((), bool), np.zeros((), np.int32)
        memory, marks = np.zeros((3, 3), np.float32), np.zeros(3, np.uint8)
        room[:, :2].view(np.int64)[...] = 1

        def run(entry: Any, arrays: Any, *params: int, b: Any = b) -> None:
            block = np.array([*(a.ctypes.data for a in arrays), *params], np.int64)
            kernel = specialise(f"array_{entry.__name__}", entry)
            b.execute(kernel.over(a.dtype.name for a in arrays), block, (1, 1, 1, 1))

        run(growing_kernels.forget, [], place)
        assert not room[:, :2].any() and record[1] == record[4] == 0
        problems = []
        for index in (2, 0, 2, -1):
            number = np.array(index, np.int32)
            run(growing_kernels.reach, [number], 1, place)
            assert record[4] == index + 1
            run(growing_kernels.append, [number, draw(3) + index, bad], 12, 1, place)
            problems.append(bool(bad))
        assert problems == [False, False, True, True]
        found = []
        for index, new in ((2, 0), (1, 0), (1, 1), (3, 1)):
            value = np.ones(3, np.float32)
            run(growing_kernels.look, [np.array(index, np.int32), value, bad], 12, 0, new, place)
            found.append((bool(bad), value.tolist()))
        kept = (draw(3) + 2).tolist()
        assert found == [(False, kept), (True, [1] * 3), (False, [0] * 3), (True, [1] * 3)]
        run(growing_kernels.count, [total], place)
        run(growing_kernels.settle, [memory, marks], 12, place)
        assert total == 3 and marks.tolist() == [1, 0, 1]
        np.testing.assert_array_equal(memory, [draw(3), np.zeros(3), draw(3) + 2])
        run(growing_kernels.reach, [np.array([1, 3, 0], np.int32)], 3, place)
        run(growing_kernels.begin, [], place)
        assert record[1] == record[4] == 4


class Walked:
    """A walker of the library in plain Python, over kernels that note what they are called for."""

    def __init__(self, rows: list[list[int]], slice_of: int = 1 << 60) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.number = 1 + len(plain_vocabulary.KERNELS)
        plain_vocabulary.KERNELS[self.number] = lambda args, *tile: self.calls.append(tile)
        self.rows = len(rows)
        self.table = np.array([*(n for row in rows for n in row), *[0] * PLACE], np.int64)
        self.table[: 6 * self.rows : 6] *= self.number
        self.state = np.zeros(walk_kernels.STATE_BYTES // 8, np.int64)
        futexes = thread_pool._FUTEX_NUMBERS
        self.facts = dict(SHARED=True, FUTEX=futexes.get(platform.machine(), 0), SLICE=slice_of)

    def run(self, entry: Any, workers: int, first: int) -> list[int]:
        """Walks; the place behind the table."""
        names = {**vars(plain_vocabulary)}
        exec(specialise(entry.__name__, entry, **self.facts).text, names)
        start = self.table.ctypes.data
        args = plain_vocabulary.Arguments(plain_vocabulary.Address(start, "int64"), ())
        names["kernel"](args, self.rows, self.state.ctypes.data, workers, start, first)
        return self.table[-PLACE:].tolist()


def tiles_of(rows: int, row_tile: int, columns: int, column_tile: int) -> list[tuple[int, ...]]:
    """The tiles of a step, in order."""
    return [
        (r, min(r + row_tile, rows), c, min(c + column_tile, columns))
        for r in range(0, rows, row_tile)
        for c in range(0, columns, column_tile)
    ]


def test_a_walk_does_all_tiles_in_order_and_pauses_between_them() -> None:
    made = Walked([[1, 0, 5, 2, 7, 3], [1, 0, 0, 1, 1, 1], [1, 0, 1, 1, 4, 4]], slice_of=-1)
    assert made.run(walk_kernels.walk, 0, 0) == [0, 1, 1]
    pauses = 1
    while made.run(walk_kernels.walk, 0, -1)[-1]:
        pauses += 1
    assert [call[:4] for call in made.calls] == [*tiles_of(5, 2, 7, 3), (0, 1, 0, 4)]
    assert pauses == len(made.calls)


@pytest.mark.skipif(not thread_pool.is_supported(), reason="no thread pool on this system")
def test_threads_share_the_tiles_of_a_walk() -> None:
    made = Walked([[1, 0, 40, 2, 60, 3], [1, 0, 9, 2, 7, 3]])
    workers = [threading.Thread(target=partial(made.run, walk_kernels.work, 0, n)) for n in (1, 2)]
    for worker in workers:
        worker.start()
    made.run(walk_kernels.walk, 2, 0)
    made.state[walk_kernels.ENDED // 8] = 1
    word = made.state.ctypes.data + walk_kernels.GEN
    while any(worker.is_alive() for worker in workers):
        plain_vocabulary.atomic_add(word, 1)
        plain_vocabulary.futex(made.facts["FUTEX"], word, walk_kernels.WAKE, walk_kernels.ALL)
    want = [*tiles_of(40, 2, 60, 3), *tiles_of(9, 2, 7, 3)]
    done = [call[:4] for call in made.calls]
    # Each once, and all of a step before the next begins.
    assert sorted(done[:400]) == sorted(want[:400]) and sorted(done[400:]) == sorted(want[400:])
    assert made.state[walk_kernels.LOCK // 8] == 0


def test_a_walk_with_jumps_goes_where_flags_say() -> None:
    flags = np.array([1, 0], np.uint8)
    where = np.array([flags.ctypes.data, flags.ctypes.data + 1], np.int64)
    one, other = where.ctypes.data, where.ctypes.data + 8
    rows = [
        [1, 0, 1, 1, 1, 1],
        [0, one, SKIP, 5, 1, 0],  # to the end once the first flag is gone
        [0, other, STOP, 0, 1, 0],
        [0, 0, HOST, 0, 1, 0],
        [0, 0, AGAIN, 0, 1, 0],
        [1, 0, 4, 2, 2, 2],
    ]
    made = Walked(rows)
    assert made.run(walk_kernels.walk_with_jumps, 0, 0) == [3, 0, 0]  # the host
    flags[:] = 1, 1
    assert made.run(walk_kernels.walk_with_jumps, 0, 4) == [2, 0, 0]  # through row 0 to the stop
    flags[:] = 0, 0
    assert made.run(walk_kernels.walk_with_jumps, 0, 4) == [6, 0, 0]
    assert [call[:4] for call in made.calls] == [(0, 1, 0, 1)] * 3 + tiles_of(4, 2, 2, 2)
