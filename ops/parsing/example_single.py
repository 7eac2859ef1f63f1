# SPDX-License-Identifier: Apache-2.0
"""Serialized Examples one by one: what is asked for is looked at once, and then only read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ..strings.files import text_array
from .example_store import Dense, Sparse, parse_message, parse_single, values_of

# The type of a feature's values -> the kind of the feature.
_KINDS = {
    dtypes.string: "bytes_list",
    dtypes.float32: "float_list",
    dtypes.int64: "int64_list",
}
# From so many numbers on a list is read from its bytes.
_MANY = 64
_Make = Callable[[Any, Any], np.ndarray]
_Step = tuple[str, str, int, _Make]


class SingleParser:
    """Reads features of Examples; like `parse_single`, of which it has all but the usual case.

    Usual is a dense feature of a fixed shape that is there, with as many values as it should have.
    """

    def __init__(self, sparse: Sequence[Sparse], dense: Sequence[Dense]) -> None:
        self._asked = sparse, dense
        is_usual = not sparse and not any(one.has_rows for one in dense)
        self._plan = [_step(one) for one in dense] if is_usual else None
        self._message: Any = None

    def __call__(self, serialized: bytes) -> list[np.ndarray]:
        """The features of one Example; InvalidArgumentError for what is not as asked."""
        if self._message is None:
            from ...io import protos

            self._message = protos.Example
        if self._plan is not None:
            message = parse_message(self._message, serialized)
            found = None if message is None else self._usual(message.features.feature, self._plan)
            if found is not None:
                return found
        return parse_single(serialized, *self._asked)

    def _usual(self, features: Any, plan: Sequence[_Step]) -> list[np.ndarray] | None:
        """The values where all of them are as usual."""
        found = []
        get = features.get
        for key, kind, size, make in plan:
            feature = get(key)
            if feature is None or feature.WhichOneof("kind") != kind:
                return None
            values = getattr(feature, kind).value
            if len(values) != size:
                return None
            found.append(make(feature, values))
        return found


def _step(asked: Dense) -> _Step:
    """Of a feature: its key, its kind, how many values it has and what makes an array of them."""
    size = math.prod(asked.row)
    return asked.key, _KINDS[asked.dtype], size, _maker(asked.dtype, asked.row, size)


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
    found = np.empty((), object)
    found[()] = values[0]
    return found
