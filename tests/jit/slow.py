# SPDX-License-Identifier: Apache-2.0
"""The meaning of kernel IR in plain Python: what compiled kernels are compared with."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numbaflow.jit.kernel import ir, scalar
from numbaflow.jit.kernel.reference import numpy_dtype

_START = {"sum": 0, "prod": 1, "any": False, "all": True}


def run_kernel(
    kernel: ir.Kernel, buffers: list[np.ndarray], sizes: list[int], params: list[int]
) -> None:
    """Executes a kernel on flat buffers, position by position."""
    outer = [i for i, axis in enumerate(kernel.axes) if axis.kind != "reduce"]
    inner = [i for i, axis in enumerate(kernel.axes) if axis.kind == "reduce"]
    for place in itertools.product(*(range(sizes[i]) for i in outer)):
        position = dict(zip(outer, place))
        ranges = [_range(kernel, i, sizes, params, position) for i in inner]
        done: list[Any] = []
        for reduction in kernel.reductions:
            done.append(_reduce(kernel, reduction, inner, ranges, buffers, params, position, done))
        rows = [s for s in kernel.stores if not _moves(kernel, s, inner)]
        for store in (s for s in kernel.stores if s not in rows):
            for spot in itertools.product(*ranges):
                _store(store, {**position, **dict(zip(inner, spot))}, buffers, params, done)
        for store in rows:
            _store(store, position, buffers, params, done)


def _range(
    kernel: ir.Kernel, axis: int, sizes: list[int], params: list[int], position: dict[int, int]
) -> range:
    for number, other in enumerate(kernel.axes):
        if other.kind == "chunk" and other.of == axis:
            length = params[other.length.slot]
            return range(
                position[number] * length, min((position[number] + 1) * length, sizes[axis])
            )
    return range(sizes[axis])


def _reduce(kernel, reduction, inner, ranges, buffers, params, position, done) -> Any:
    items, spots = [], []
    for spot in itertools.product(*ranges):
        here = {**position, **dict(zip(inner, spot))}
        items.append(_value(reduction.value, here, buffers, params, done))
        spots.append(spot)
    array = np.array(items)
    if reduction.fn.startswith("arg"):
        best = np.argmax(array) if reduction.fn == "argmax" else np.argmin(array)
        return np.int64(spots[best][0])
    dtype = numpy_dtype(reduction.dtype)
    if reduction.fn in ("max", "min") and len(items) == 0:
        info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        lowest = -np.inf if dtype.kind == "f" else info.min
        highest = np.inf if dtype.kind == "f" else info.max
        return dtype.type(lowest if reduction.fn == "max" else highest)
    array = array.astype(dtype)
    function = {
        "sum": np.sum,
        "prod": np.prod,
        "max": np.max,
        "min": np.min,
        "any": np.any,
        "all": np.all,
    }
    return dtype.type(function[reduction.fn](array))


def _moves(kernel: ir.Kernel, store: ir.Store, inner: list[int]) -> bool:
    return any(store.index.strides[i] != 0 for i in inner) or _depends(store.value, set(inner))


def _depends(expr: Any, inner: set[int]) -> bool:
    if isinstance(expr, ir.Load):
        if any(expr.index.strides[i] != 0 for i in inner):
            return True
        return expr.index.offset is not None and _depends(expr.index.offset, inner)
    if isinstance(expr, ir.AxisIndex):
        return expr.axis in inner
    return isinstance(expr, ir.Apply) and any(_depends(arg, inner) for arg in expr.args)


def _offset(index: ir.Index, position, buffers, params, done) -> int:
    total = 0
    for axis, stride in enumerate(index.strides):
        step = params[stride.slot] if isinstance(stride, ir.Param) else stride
        if step:
            total += step * position[axis]
    if index.offset is not None:
        total += int(_value(index.offset, position, buffers, params, done))
    return total


def _value(expr, position, buffers, params, done) -> Any:
    if isinstance(expr, ir.Const):
        return numpy_dtype(expr.dtype).type(expr.value)
    if isinstance(expr, ir.AxisIndex):
        return np.int64(position[expr.axis])
    if isinstance(expr, ir.Param):
        return np.int64(params[expr.slot])
    if isinstance(expr, ir.Reduced):
        return done[expr.reduction]
    if isinstance(expr, ir.Load):
        return buffers[expr.buffer][_offset(expr.index, position, buffers, params, done)]
    args = [np.asarray(_value(arg, position, buffers, params, done)) for arg in expr.args]
    if expr.fn == "cast":
        return scalar.cast(args[0], expr.dtype)[()]
    with np.errstate(all="ignore"):
        return np.asarray(scalar.apply(expr.fn, *args))[()]


def _store(store, position, buffers, params, done) -> None:
    place = _offset(store.index, position, buffers, params, done)
    buffers[store.buffer][place] = _value(store.value, position, buffers, params, done)
