# SPDX-License-Identifier: Apache-2.0
"""Inputs for any op of the registry, drawn from what its definition says of itself.

A definition's `test` facts: values (explicit inputs), shapes, broadcast, ranges, dtypes, attrs,
rtol, gradient, and needs (what arrays cannot give).
Without facts the inputs broadcast against each other and take every common dtype allowed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine.graph.build import OpFunction
from numbaflow.engine.graph.registry import Arg, OpDef

DTYPES = (
    "float32",
    "float64",
    "int32",
    "int64",
    "bool",
    "float16",
    "uint8",
    "complex64",
    "bfloat16",
)
RTOL = {"float16": 1e-2, "bfloat16": 5e-2, "float64": 1e-10, "complex128": 1e-10}


@dataclass
class Case:
    """Inputs (arrays, or lists of arrays for list inputs) and attributes for one call of an op."""

    inputs: list[Any]
    attrs: dict[str, Any]

    def arrays(self) -> list[np.ndarray]:
        """All inputs in one list."""
        flat: list[np.ndarray] = []
        for item in self.inputs:
            flat.extend(item if isinstance(item, list) else [item])
        return flat


def needs_more_than_arrays(definition: OpDef) -> str:
    """Why an op cannot be called on drawn arrays; empty when it can."""
    if definition.is_fed:
        return "is fed, never run"
    if definition.test.get("needs"):
        return f"needs {definition.test['needs']}"
    if definition.test.get("session_only"):
        return "works on what a session keeps"
    for arg in (*definition.inputs, *definition.outputs):
        if arg.dtype is not None and arg.dtype.name in ("resource", "variant"):
            return "works on handles"
        if arg.is_ref:
            return "works on variables"
    if definition.kernel is None:
        return "has no kernel"
    return ""


def allowed_dtypes(definition: OpDef, arg: Arg) -> list[str]:
    """The dtype names an input may have."""
    if arg.dtype is not None:
        return [arg.dtype.name]
    attr = definition.attr(arg.type_attr or arg.type_list_attr or "")
    names = definition.test.get("dtypes") or DTYPES
    if attr.allowed is None:
        return list(names)
    allowed = {dtype.name for dtype in attr.allowed}
    return [n for n in names if n in allowed]


@st.composite
def cases(draw: Any, definition: OpDef) -> Case:
    """One call of an op."""
    attrs = dict(draw(st.sampled_from(definition.test.get("attrs") or [{}])))
    if definition.test.get("values"):
        return Case(_copied(draw(st.sampled_from(definition.test["values"]))), attrs)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    chosen: dict[str, str] = {}
    count = sum(2 if arg.number_attr or arg.type_list_attr else 1 for arg in definition.inputs)
    shapes = draw(_shapes(definition, max(count, 1)))
    inputs: list[Any] = []
    position = 0
    for arg in definition.inputs:
        dtype = _dtype(draw, definition, arg, chosen)
        if arg.number_attr or arg.type_list_attr:
            number = attrs.get(arg.number_attr or "", 2)
            inputs.append(
                [
                    _array(random, definition, 0, shapes[(position + i) % len(shapes)], dtype)
                    for i in range(number)
                ]
            )
            position += number
        else:
            inputs.append(
                _array(random, definition, position, shapes[position % len(shapes)], dtype)
            )
            position += 1
    return Case(inputs, _usable(definition, attrs))


def _copied(values: Any) -> list[Any]:
    return [
        [np.asarray(v) for v in item] if isinstance(item, list) else np.asarray(item)
        for item in values
    ]


def _usable(definition: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    inferred = {
        name
        for arg in definition.inputs
        for name in (arg.number_attr, arg.type_attr, arg.type_list_attr)
    }
    return {key: value for key, value in attrs.items() if key not in inferred}


@st.composite
def _shapes(draw: Any, definition: OpDef, count: int) -> list[list[int]]:
    fixed = definition.test.get("shapes")
    if fixed:
        return draw(st.sampled_from(fixed))
    rank = draw(st.sampled_from([0, 1, 2, 2, 3, 5]))
    full = [draw(st.sampled_from([1, 2, 3, 0] if rank > 2 else [2, 3, 17, 0])) for _ in range(rank)]
    same = count == 1 or definition.test.get("broadcast") is False or draw(st.booleans())
    if same:
        return [full] * count
    ones = [[1 if draw(st.booleans()) else size for size in full] for _ in range(count - 1)]
    return [full, *(shape[draw(st.integers(0, len(shape))) :] for shape in ones)]


def _dtype(draw: Any, definition: OpDef, arg: Arg, chosen: dict[str, str]) -> str:
    key = arg.type_attr or arg.type_list_attr
    if key is None or key not in chosen:
        names = allowed_dtypes(definition, arg)
        name = draw(st.sampled_from(names)) if names else "float32"
        if key is None:
            return name
        chosen[key] = name
    return chosen[key]


def _array(
    random: np.random.Generator, definition: OpDef, place: int, shape: Any, dtype: str
) -> np.ndarray:
    ranges = definition.test.get("ranges") or [(-3, 3)]
    low, high = ranges[place % len(ranges)]
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype == "string":
        return np.array([b"a"] * int(np.prod(shape)), object).reshape(shape)
    kind = tf.as_dtype(dtype).as_numpy_dtype
    values = random.uniform(low, high, shape)
    if dtype.startswith("complex"):
        return np.asarray(values + 1j * random.uniform(low, high, shape), kind)
    if dtype.startswith(("int", "uint")):
        low = max(int(np.ceil(low)), 0 if dtype.startswith("uint") else -99)
        return random.integers(low, max(int(high), low) + 1, shape).astype(kind)
    return np.asarray(values, kind)


def call(
    definition: OpDef, case: Case, static: bool = False
) -> tuple[list[Any], dict[Any, np.ndarray]]:
    """Builds the op on placeholders (small integers: constants); its outputs, and the feeds.

    The placeholders have sizes only if `static`, here or among the definition's facts.
    """
    static = static or definition.test.get("static", False)
    feeds: dict[Any, np.ndarray] = {}
    arrays = case.arrays()
    lone = sum(_is_data(array) for array in arrays) == 0

    def symbol(array: np.ndarray) -> Any:
        kind = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
        if _is_data(array) or (lone and not feeds):
            tensor = tf.placeholder(kind, array.shape if static else [None] * array.ndim)
            feeds[tensor] = array
            return tensor
        return tf.constant(array, kind)

    inputs = [
        [symbol(a) for a in item] if isinstance(item, list) else symbol(item)
        for item in case.inputs
    ]
    result = OpFunction(definition.name)(*inputs, **case.attrs)
    return list(_flat(result)), feeds


def _is_data(array: np.ndarray) -> bool:
    return array.dtype.kind in "fcb" or array.dtype.name == "bfloat16" or array.size > 8


def _flat(result: Any) -> Iterator[Any]:
    if isinstance(result, (list, tuple)):
        for item in result:
            yield from _flat(item)
    elif isinstance(result, tf.Tensor):
        yield result


def seed_of(name: str) -> int:
    """A number that belongs to an op's name."""
    return zlib.crc32(name.encode())
