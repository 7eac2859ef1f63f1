# SPDX-License-Identifier: Apache-2.0
"""Inputs that ops should refuse, made from good ones: wrong ranks, sizes and integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings

import numbaflow as tf
from numbaflow.engine.graph.build import OpFunction
from numbaflow.engine.graph.registry import OpDef

from .samples import Case, cases

# How an input comes into the graph: fed without a shape, fed with a rank, fed with all sizes but
# the first, or (integers only) as a constant beside inputs that are fed without a shape.
FORMS = ("unknown", "rank", "partial", "constant")
_BESIDE = (-1, 0, 7)


def good_cases(definition: OpDef, count: int) -> list[Case]:
    """The first of the cases that the registry's tests draw for an op, all different."""
    found: list[Case] = []

    @hypothesis_settings(
        max_examples=2 * count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(definition))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    different: dict[str, Case] = {}
    for case in found:
        # Small ones first: what is wrong is wrong for small tensors too.
        different.setdefault(_looks(case), case)
    rich = sorted(different.values(), key=lambda c: -sum(a.size > 0 for a in c.arrays()))
    return rich[:count]


def _looks(case: Case) -> str:
    return repr([(a.shape, str(a.dtype)) for a in case.arrays()]) + repr(case.attrs)


_ALL: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("all inputs empty", lambda a: a[:0] if a.ndim else a),
    ("all of one rank less", lambda a: np.asarray(a[0]) if a.size and a.ndim else a),
    ("all of one rank more", lambda a: a[None]),
)


def bad_cases(case: Case) -> Iterator[tuple[str, Case]]:
    """Variations of a case, each with what was changed; ops may well accept some."""
    arrays = case.arrays()
    for place, array in enumerate(arrays):
        for what, changed in variations(array):
            yield f"input {place} {what}", _with(case, place, changed)
    if len(arrays) > 1:
        for what, change in _ALL:
            yield what, Case(_map(case, change), case.attrs)


def variations(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """One array, changed in one way."""
    yield "of one rank more", array[None]
    if array.ndim:
        yield "a scalar", np.array(array.flat[0] if array.size else 1).astype(array.dtype)
        yield "flat", array.reshape(-1)
    if array.ndim > 1 and array.shape[0]:
        yield "of one rank less", array[0]
    for axis, size in enumerate(array.shape):
        for other in {0, size - 1, size + 1} - {-1}:
            yield f"with {other} in dimension {axis}", _resized(array, axis, other)
    if array.dtype.kind in "iu" and array.size:
        for value in _BESIDE:
            if array.dtype.kind == "u" and value < 0:
                continue
            yield f"all {value}", np.full_like(array, value)
            last = array.copy()
            last.flat[-1] = value
            yield f"with {value} last", last


def _resized(array: np.ndarray, axis: int, size: int) -> np.ndarray:
    shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])
    if not array.size:
        return np.ones(shape).astype(array.dtype)
    return np.resize(array, shape)


def _with(case: Case, place: int, array: np.ndarray) -> Case:
    count = iter(range(len(case.arrays())))
    return Case(_map(case, lambda a: array if next(count) == place else a), case.attrs)


def _map(case: Case, function: Any) -> list[Any]:
    return [
        [function(a) for a in item] if isinstance(item, list) else function(item)
        for item in case.inputs
    ]


def build(
    definition: OpDef, good: Case, bad: Case, form: str
) -> tuple[list[Any], dict[Any, np.ndarray]]:
    """Builds the op on placeholders that know of the good case what the form says.

    What the graph itself refuses raises ValueError or TypeError.
    """
    feeds: dict[Any, np.ndarray] = {}
    known = iter(good.arrays())

    def symbol(array: np.ndarray) -> Any:
        like = next(known)
        kind = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
        if form == "constant" and array.dtype.kind in "iu":
            return tf.constant(array, kind)
        shape: Any = None
        if form == "rank":
            shape = [None] * array.ndim
        elif form == "partial":
            shape = [None, *like.shape[1:]] if like.ndim else []
        tensor = tf.placeholder(kind, shape)
        if not tensor.shape.is_compatible_with(array.shape):
            raise ValueError("the feed does not fit the placeholder")
        feeds[tensor] = array
        return tensor

    inputs = [
        [symbol(a) for a in item] if isinstance(item, list) else symbol(item) for item in bad.inputs
    ]
    result = OpFunction(definition.name)(*inputs, **bad.attrs)
    return list(_flat(result)), feeds


def _flat(result: Any) -> Iterator[Any]:
    if isinstance(result, (list, tuple)):
        for item in result:
            yield from _flat(item)
    elif isinstance(result, tf.Tensor):
        yield result
