# SPDX-License-Identifier: Apache-2.0
"""A graph's outputs as a function of arrays: what numeric derivatives are taken of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from .. import errors, settings
from ..gradients.autodiff_sums import public
from ..graph.tensor import Tensor
from ..record_class import record
from ..types import dtypes
from ..types.shape import TensorShape
from . import cones
from .derivatives import Derivative, by_complex_step, by_differences

Array = np.ndarray[Any, Any]
Feeds = dict[Tensor, Any]


@record(frozen=True, slots=True)
class Input:
    """Something that is moved.

    `key` is what gradients are taken by, `fed` the tensors that get its value; a variable whose
    value cannot be fed is given it by `load`.
    """

    name: str
    key: Any
    fed: tuple[Tensor, ...]
    value: Array
    load: Callable[[Array, Any], None] | None = None


@record(frozen=True, slots=True)
class Runner:
    """A session, how it runs, and what is fed whatever moves."""

    session: Any
    feeds: Feeds
    jit: str | None = None

    def run(self, fetches: Any, feeds: Feeds) -> Any:
        """The values of fetches."""
        mode = nullcontext() if self.jit is None else settings.override(jit=self.jit)
        with mode:
            return self.session.run(fetches, {**self.feeds, **feeds})


def at(inputs: Sequence[Input], values: Sequence[Array]) -> Feeds:
    """What is fed for inputs to have values."""
    return {
        tensor: value.astype(tensor.dtype.as_numpy_dtype, copy=False)
        for x, value in zip(inputs, values, strict=True)
        for tensor in x.fed
    }


@contextmanager
def loaded(runner: Runner, inputs: Sequence[Input], values: Sequence[Array]) -> Iterator[None]:
    """Gives values to the variables that are not fed, and their own back afterwards."""
    moved = [(x, value) for x, value in zip(inputs, values, strict=True) if x.load is not None]
    try:
        for x, value in moved:
            x.load(value.astype(x.value.dtype), runner.session)  # type: ignore[misc]
        yield
    finally:
        for x, _ in moved:
            x.load(x.value, runner.session)  # type: ignore[misc]


@record(frozen=True, slots=True)
class Precision:
    """One way to compute a function: the tensors that are fed and fetched."""

    inputs: tuple[Input, ...]
    ys: tuple[Tensor, ...]
    eps: float


class Function:
    """ys as a function of inputs, computed in the best precisions that their ops have."""

    def __init__(self, runner: Runner, inputs: Sequence[Input], ys: Sequence[Tensor]) -> None:
        self._runner = runner
        self._inputs = tuple(inputs)
        seeds = [x for item in inputs for x in item.fed]
        self._ops = cones.between(seeds, ys, runner.feeds)
        self.eps = max([0.0, *map(_eps, self._kinds(seeds, ys))])
        own = Precision(self._inputs, tuple(ys), self.eps)
        real = not any(kind.is_complex for kind in self._kinds(seeds, ys))
        twin = self._twin(ys, cones.double) if self.eps > 1e-15 else None
        self._best = twin or own
        self._complex = self._twin(ys, cones.complex_) if real else None

    def _kinds(self, seeds: Sequence[Tensor], ys: Sequence[Tensor]) -> set[dtypes.DType]:
        tensors = {*seeds, *ys, *(y for op in self._ops for y in op.outputs)}
        tensors -= cones.flows(self._ops)
        return {tensor.dtype.base_dtype for tensor in tensors}

    def _twin(self, ys: Sequence[Tensor], kinds: cones.TypeMap) -> Precision | None:
        if any(x.load is not None for x in self._inputs) or not ys:
            return None
        graph = ys[0].graph
        seeds: dict[Tensor, Tensor] = {}
        moved = []
        with graph.as_default(), graph.control_dependencies(None):
            for x in self._inputs:
                kind = kinds(dtypes.as_dtype(x.value.dtype))
                shape = TensorShape(x.value.shape)
                place = public("placeholder")(kind, shape, name="check_gradients/moved")
                seeds.update(dict.fromkeys(x.fed, place))
                moved.append(replace(x, fed=(place,)))
        try:
            copies = cones.twin(graph, seeds, ys, kinds, self._ops)
        except cones.CannotCopy:
            return None
        return Precision(tuple(moved), tuple(copies), 2.3e-16)

    def values(self, values: Sequence[Array], way: Precision | None = None) -> list[Array]:
        """The outputs where the inputs have values."""
        way = self._best if way is None else way
        base = [x.value for x in self._inputs]
        feeds = {**at(self._inputs, base), **at(way.inputs, values)}
        with loaded(self._runner, way.inputs, values):
            return [np.asarray(y) for y in self._runner.run(list(way.ys), feeds)]

    def derivative(
        self,
        base: Sequence[Array],
        direction: Sequence[Array],
        weights: Sequence[Array],
        size: float,
    ) -> Derivative:
        """The derivative along a direction of the outputs' sum, weighted.

        `size` is how much rounding of the inputs matters: the sum of |gradient * value|.
        """
        start = self._wide(self.values(base))
        scale = np.sqrt(sum(float(np.sum(np.abs(w * y) ** 2)) for w, y in zip(weights, start)))
        noise = 4 * self._best.eps * (float(scale) + size)

        def change(t: float) -> float:
            moved = self._wide(self.values(self._moved(base, direction, t)))
            return sum(_dot(w, y - y0) for w, y, y0 in zip(weights, moved, start))

        found = by_differences(change, noise if np.isfinite(noise) else 0.0, self._best.eps)
        found = replace(found, scale=float(scale) if np.isfinite(scale) else 0.0)
        if self._complex is None or not found.is_known:
            return found
        try:
            exact = self._by_complex_step(base, direction, weights)
        except errors.OpError:  # a kernel that knows no complex numbers, whatever the op allows
            self._complex = None
            return found
        # What claims to be analytic must agree with the differences as far as they go.
        far = 10 * found.error + 1e-6 * abs(found.value) + 10 * noise
        agree = abs(exact.value - found.value) <= far
        return replace(exact, scale=found.scale) if agree else found

    def _by_complex_step(
        self, base: Sequence[Array], direction: Sequence[Array], weights: Sequence[Array]
    ) -> Derivative:
        def value(t: complex) -> complex:
            moved = self.values(self._moved(base, direction, t), self._complex)
            return complex(sum(np.sum(w * y) for w, y in zip(weights, moved)))

        return by_complex_step(value)

    def _moved(self, base: Sequence[Array], direction: Sequence[Array], t: complex) -> list[Array]:
        return [_wide(x) + t * v for x, v in zip(base, direction, strict=True)]

    def _wide(self, values: Sequence[Array]) -> list[Array]:
        return [_wide(value) for value in values]


def _wide(value: Array) -> Array:
    kind = np.complex128 if value.dtype.kind == "c" else np.float64
    return value.astype(kind, copy=False)


def _dot(weights: Array, values: Array) -> float:
    return float(np.sum(np.conj(weights) * values).real)


def _eps(kind: dtypes.DType) -> float:
    """The spacing of numbers of a type at 1; 0 of what is no number."""
    if kind.is_complex:
        kind = kind.real_dtype
    if not kind.is_floating:
        return 0.0
    bits = {dtypes.float16: 10, dtypes.bfloat16: 7, dtypes.float32: 23, dtypes.float64: 52}
    return 2.0 ** -bits[kind]
