# SPDX-License-Identifier: Apache-2.0
"""Random tensor programs with their NumPy meaning, and ways to run what they are scheduled to."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.kernel import size_scope, sizes
from numbaflow.jit.kernel.reference import numpy_dtype
from numbaflow.jit.passes.fuse import fuse
from numbaflow.jit.passes.pipeline import rewrite
from numbaflow.jit.program import tensor_ir
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Constant, Feed, Sizes
from numbaflow.jit.schedule.steps import Schedule, schedule
from numbaflow.jit.trace.builder import Builder

from .slow import run_kernel

UNARY = [k.neg, k.abs, k.square, lambda x: k.mul(x, 0.5), lambda x: k.add(x, 1.25)]
BINARY = [k.add, k.sub, k.mul, k.maximum]


class Pair:
    """A value of a program beside the array that it should be."""

    def __init__(self, value: Any, array: np.ndarray) -> None:
        self.value, self.array = value, array


class Sample:
    """A program under construction: values from which further ones are made."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.program, self.scope = Program(), size_scope.Scope()
        self.builder = Builder(self.program, self.scope)
        shapes, self.symbols = size_scope.unify(
            self.scope, [a.shape for a in arrays], [None] * len(arrays)
        )
        self.arrays = arrays
        self.pairs: list[Pair] = []
        for number, (array, shape) in enumerate(zip(arrays, shapes)):
            (value,) = self.program.add(Feed(number), (array.dtype.name, shape))
            self.pairs.append(Pair(value, array))

    def add(self, value: Any, array: Any) -> None:
        """Takes up a new value."""
        assert tuple(map(sizes.hint, value.shape)) == np.shape(array)
        self.pairs.append(Pair(value, np.asarray(array, np.float64)))


@st.composite
def samples(draw, steps: int = 9) -> Sample:
    """A random program over two or three feeds, of float64 so that results compare exactly."""
    dims = [draw(st.integers(1, 4)) for _ in range(3)]
    shapes = [
        [dims[i] for i in draw(st.lists(st.integers(0, 2), max_size=3))]
        for _ in range(draw(st.integers(1, 3)))
    ]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sample = Sample([random.integers(-4, 5, shape).astype(np.float64) for shape in shapes])
    for _ in range(draw(st.integers(1, steps))):
        draw(st.sampled_from(STEPS))(draw, sample)
    count = draw(st.integers(1, 3))
    chosen = [sample.pairs[-1], *(draw(st.sampled_from(sample.pairs)) for _ in range(count - 1))]
    sample.program.fetches = [pair.value for pair in chosen]
    sample.expected = [pair.array for pair in chosen]
    return sample


def _pick(draw: Any, sample: Sample) -> Pair:
    return draw(st.sampled_from(sample.pairs[-5:]))


def _unary(draw: Any, s: Sample) -> None:
    pair, body = _pick(draw, s), draw(st.sampled_from(UNARY))
    s.add(s.builder.map(body, pair.value), body(pair.array))


def _binary(draw: Any, s: Sample) -> None:
    a, b = _pick(draw, s), _pick(draw, s)
    body = draw(st.sampled_from(BINARY))
    try:
        result = body(a.array, b.array)
    except ValueError:
        return
    s.add(s.builder.map(body, a.value, b.value), result)


def _two_results(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    first, second = s.builder.map(lambda x: (k.mul(x, 2.0), k.sub(x, 1.0)), pair.value)
    s.add(first, pair.array * 2)
    s.add(second, pair.array - 1)


def _reduce(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    if not pair.array.ndim:
        return
    axes = draw(st.lists(st.integers(0, pair.array.ndim - 1), min_size=1, unique=True))
    keep, fn = draw(st.booleans()), draw(st.sampled_from(["sum", "max", "min"]))
    result = getattr(np, fn)(pair.array, axis=tuple(axes), keepdims=keep)
    s.add(s.builder.reduce(fn, pair.value, axes, keepdims=keep), result)


def _centre(draw: Any, s: Sample) -> None:
    """Subtracts the row maximum: a reduction used on what it reduced."""
    pair = _pick(draw, s)
    if not pair.array.ndim:
        return
    top = s.builder.reduce("max", pair.value, [-1], keepdims=True)
    s.add(s.builder.map(k.sub, pair.value, top), pair.array - pair.array.max(-1, keepdims=True))


def _transpose(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    order = draw(st.permutations(range(pair.array.ndim)))
    s.add(s.builder.transpose(pair.value, order), pair.array.transpose(order))


def _slice(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    if not pair.array.ndim:
        return
    back = draw(st.booleans())
    size = pair.value.shape[0]
    begin, stride = (size - 1, -1) if back else (0, 1)
    rest = [0] * (pair.array.ndim - 1)
    value = s.builder.slice(
        pair.value, [begin, *rest], pair.value.shape, [stride, *([1] * len(rest))]
    )
    s.add(value, pair.array[::-1] if back else pair.array)


def _concat(draw: Any, s: Sample) -> None:
    a, b = _pick(draw, s), _pick(draw, s)
    if not a.array.ndim or a.array.shape[1:] != b.array.shape[1:] or not b.array.ndim:
        return
    s.add(s.builder.concat([a.value, b.value], 0), np.concatenate([a.array, b.array], 0))


def _pad(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    pads = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(pair.array.ndim)]
    s.add(
        s.builder.pad(pair.value, pads, 7.0),
        np.pad(pair.array, pads, constant_values=7.0) if pads else pair.array,
    )


def _flatten(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    s.add(s.builder.reshape(pair.value, [sizes.product(pair.value.shape)]), pair.array.ravel())


def _expand(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    if pair.array.ndim < 4:
        s.add(s.builder.reshape(pair.value, [1, *pair.value.shape]), pair.array[None])


def _gather(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    if not pair.array.ndim:
        return
    axis = draw(st.integers(0, pair.array.ndim - 1))
    chosen = np.array(
        draw(st.lists(st.integers(0, pair.array.shape[axis] - 1), min_size=1, max_size=4))
    )
    indices = s.builder.constant(chosen.astype(np.int32))
    s.add(s.builder.gather(pair.value, indices, axis), np.take(pair.array, chosen, axis))


def _iota(draw: Any, s: Sample) -> None:
    pair = _pick(draw, s)
    if pair.array.ndim:
        made = s.builder.iota(pair.value.shape, 0, "float64")
        ramp = np.arange(pair.array.shape[0], dtype=float)
        s.add(
            made, np.broadcast_to(ramp.reshape(-1, *[1] * (pair.array.ndim - 1)), pair.array.shape)
        )


STEPS = [
    *(_unary, _unary, _binary, _binary, _two_results, _reduce, _reduce, _centre),
    *(_transpose, _slice, _concat, _pad, _flatten, _expand, _gather, _iota),
]


def scheduled(sample: Sample) -> Schedule:
    """The schedule of a sample's program."""
    rewrite(sample.program, sample.scope)
    return schedule(fuse(sample.program))


def run_slowly(sample: Sample, plan: Schedule) -> list[np.ndarray]:
    """Executes a schedule with the plain-Python meaning of its kernels."""
    memory = Memory(sample)
    for step in plan.steps:
        found = step.nest
        run_kernel(
            found.kernel,
            [memory.flat(v) for v in found.buffers],
            [memory.number(n) for n in found.sizes],
            [memory.number(n) for n in found.params],
        )
    return [
        memory.flat(v).reshape([memory.number(n) for n in v.shape]) for v in sample.program.fetches
    ]


class Memory:
    """An array for every value that has memory."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.arrays: dict[tensor_ir.Value, np.ndarray] = {}

    def number(self, size: Any) -> int:
        """A size at the sample's symbols."""
        text = sizes.expression(size)
        return sizes.compile_function(self.sample.scope.examples, text)(*self.sample.symbols)

    def flat(self, value: Any) -> np.ndarray:
        """The memory of a value."""
        value = tensor_ir.root(value)
        if value not in self.arrays:
            self.arrays[value] = self._new(value)
        return self.arrays[value]

    def _new(self, value: Any) -> np.ndarray:
        match value.node:
            case Feed() as node:
                return self.sample.arrays[node.number].ravel()
            case Constant() as node:
                return node.array.ravel()
            case Sizes() as node:
                return np.array([self.number(n) for n in node.items.flat])
        count = self.number(sizes.product(value.shape))
        return np.full(count, 99, numpy_dtype(value.dtype))
