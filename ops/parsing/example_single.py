# SPDX-License-Identifier: Apache-2.0
"""Serialized Examples one by one: what is asked for is looked at once, and then only read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine.types import dtypes
from ...engine.types.dtypes import DType, boxed
from ..strings.files import text_array
from .example_store import (
    Dense,
    Sparse,
    columns,
    nothing,
    of_one,
    parse_message,
    parse_single,
    values_of,
)

# The type of a feature's values -> the kind of the feature.
_KINDS = {
    dtypes.string: "bytes_list",
    dtypes.float32: "float_list",
    dtypes.int64: "int64_list",
}
# From so many numbers on a list is read from its bytes.
_MANY = 64
_Make = Callable[[Any, Any], np.ndarray]


class _Step(NamedTuple):
    """How a feature is read: its key, its kind, and what makes an array of it.

    exact, stride: as many values as it has, or any number (-1) of them that is divided by stride.
    absent: what stands for one that is not there; None where that is not usual.
    """

    key: str
    kind: str
    exact: int
    stride: int
    make: _Make
    absent: np.ndarray | None


class SingleParser:
    """Reads features of Examples; like `parse_single`, of which it has all but the usual case.

    Usual is a feature of the type that is asked for with as many values as it should have, or one
    that is not there and need not be.
    """

    def __init__(self, sparse: Sequence[Sparse], dense: Sequence[Dense]) -> None:
        self._asked = sparse, dense
        self._plan = [*map(_sparse_step, sparse), *map(_step, dense)]
        self._message: Any = None

    def __call__(self, serialized: bytes) -> list[np.ndarray]:
        """The features of one Example; InvalidArgumentError for what is not as asked."""
        if self._message is None:
            from ...io import protos

            self._message = protos.Example
        message = parse_message(self._message, serialized)
        found = None if message is None else self._usual(message.features.feature)
        if found is None:
            return parse_single(serialized, *self._asked)
        count = len(self._asked[0])
        return [*columns([of_one(values) for values in found[:count]]), *found[count:]]

    def _usual(self, features: Any) -> list[np.ndarray] | None:
        """The values where all of them are as usual."""
        found = []
        get = features.get
        for key, kind, exact, stride, make, absent in self._plan:
            feature = get(key)
            if feature is None:
                if absent is None:
                    return None
                found.append(absent)
                continue
            if feature.WhichOneof("kind") != kind:
                return None
            values = getattr(feature, kind).value
            if len(values) != exact and (exact >= 0 or len(values) % stride):
                return None
            found.append(make(feature, values))
        return found


def _sparse_step(asked: Sparse) -> _Step:
    return _Step(
        *(asked.key, _KINDS[asked.dtype], -1, 1, _any_number(asked.dtype, ())),
        nothing(asked.dtype, (0,)),
    )


def _step(asked: Dense) -> _Step:
    kind, size = _KINDS[asked.dtype], math.prod(asked.row)
    if asked.has_rows:
        make, empty = _any_number(asked.dtype, asked.row), nothing(asked.dtype, (0, *asked.row))
        return _Step(asked.key, kind, -1, size or 1, make, empty)
    absent = asked.default if asked.default.size else None
    return _Step(asked.key, kind, size, 1, _maker(asked.dtype, asked.row, size), absent)


def _any_number(dtype: DType, row: tuple[int, ...]) -> _Make:
    """What makes rows of as many values as there are."""
    if not row:
        return lambda feature, _: values_of(feature, dtype)
    return lambda feature, _: values_of(feature, dtype).reshape(-1, *row)


def _maker(dtype: DType, shape: tuple[int, ...], size: int) -> _Make:
    if dtype == dtypes.string:
        return (lambda _, values: text_array(values).reshape(shape)) if shape else _text
    kind = dtype.np_dtype
    if not shape:
        return lambda _, values: np.array(values[0], kind)
    if size >= _MANY:
        return lambda feature, _: values_of(feature, dtype).reshape(shape)
    if len(shape) == 1:
        return lambda _, values: np.array(values[:], kind)
    return lambda _, values: np.array(values[:], kind).reshape(shape)


def _text(_: Any, values: Any) -> np.ndarray:
    """One text as a scalar."""
    return boxed(values[0])
