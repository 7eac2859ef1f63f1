# SPDX-License-Identifier: Apache-2.0
"""Inputs of about a million elements for every op type that can be called on arrays.

Elementwise ops get theirs from their definition's test facts: ranges, dtypes, shapes, attributes.
Where sizes mean something (windows, indices, sorted values) `benchmarks/op_inputs.py` states them.
What cannot be called on arrays or variables has no sample, and `absent` says why.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import op_inputs

# Inputs by names that optimizers give them: scalars with these values, and indices of rows.
_SCALARS = {
    "lr": 0.01,
    "alpha": 0.01,
    "l1": 0.001,
    "l2": 0.001,
    "momentum": 0.9,
    "rho": 0.9,
    "epsilon": 1e-5,
    "beta1": 0.9,
    "beta2": 0.999,
    "beta1_power": 0.5,
    "beta2_power": 0.5,
    "beta": 0.9,
    "sign_decay": 0.5,
    "logbase": 1.0,
    "l2_shrinkage": 0.001,
    "lr_power": -0.5,
    "global_step": 3,
}
_ROWS, _WIDTH = 10000, 100
_MOST = 1 << 20
# Of dtypes that an op allows, the first of these.
_DTYPES = ("float32", "float64", "int32", "int64", "bool", "complex64", "uint8", "string")


@dataclass
class Sample:
    """Inputs (arrays, or lists of arrays) and plain attributes for one call of an op.

    variables: the numbers of the inputs that are variables with these contents; fed: of those that
    are fed though they are small integers, as seeds are.
    """

    inputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    variables: tuple[int, ...] = ()
    fed: tuple[int, ...] = ()


def sample(definition: Any) -> Sample | None:
    """A large call of an op, the same in every run; None where there is none."""
    random = np.random.default_rng(zlib.crc32(definition.name.encode()))
    stated = op_inputs.TABLE.get(definition.name)
    if stated is not None:
        inputs, attrs, *variables = stated(random)
        seeds = tuple(i for i, arg in enumerate(definition.inputs) if arg.name == "seed")
        return Sample(inputs, attrs, *(variables or [()]), fed=seeds)
    if absent(definition):
        return None
    if _variables(definition):
        return _of_variables(definition, random)
    facts = definition.test
    attrs = {key: _plain(value) for key, value in (facts.get("attrs") or [{}])[0].items()}
    if facts.get("values") or not definition.inputs:
        return None
    kinds = _dtypes(definition)
    count = sum(2 if arg.number_attr or arg.type_list_attr else 1 for arg in definition.inputs)
    shapes = _shapes(facts, count)
    inputs: list[Any] = []
    place = 0
    for arg in definition.inputs:
        key = arg.type_attr or arg.type_list_attr
        dtype = arg.dtype.name if arg.dtype is not None else kinds[key or ""]
        number = 2 if arg.number_attr or arg.type_list_attr else 1
        made = [
            _array(random, facts, place + i, shapes[(place + i) % len(shapes)], dtype)
            for i in range(number)
        ]
        inputs.append(made if arg.number_attr or arg.type_list_attr else made[0])
        place += number
    inferred = {a for arg in definition.inputs for a in (arg.number_attr, arg.type_attr)}
    return Sample(inputs, {key: value for key, value in attrs.items() if key not in inferred})


def absent(definition: Any) -> str:
    """Why an op has no sample; empty when it has one."""
    facts = definition.test
    if definition.name in op_inputs.TABLE:
        return ""
    if definition.touches:
        return "touches files, streams or Python"
    if definition.kernel is None:
        return "only stands in graphs"
    if _variables(definition):
        return ""
    for arg in (*definition.inputs, *definition.outputs):
        if arg.dtype is not None and arg.dtype.name in ("resource", "variant"):
            return "works on handles"
        if arg.is_ref:
            return "works on variables"
    if definition.is_fed or facts.get("session_only"):
        return "is fed" if definition.is_fed else "works on what a session keeps"
    if facts.get("needs"):
        return f"needs {facts['needs']}"
    if not definition.inputs:
        return "moves no data"
    return "has small samples only" if facts.get("values") else ""


def _variables(definition: Any) -> tuple[int, ...]:
    """The inputs that are variables, of ops that train, assign to or scatter into variables."""
    changes = *("Apply", "SparseApply", "Assign"), *(f"Scatter{letter}" for letter in "UASMD")
    if not definition.name.removeprefix("Resource").startswith(changes) or not definition.inputs:
        return ()
    return tuple(
        i
        for i, arg in enumerate(definition.inputs)
        if arg.is_ref or (arg.dtype is not None and arg.dtype.name == "resource")
    )


def _of_variables(definition: Any, random: np.random.Generator) -> Sample:
    variables = _variables(definition)
    names = [arg.name for arg in definition.inputs]
    is_sparse = "indices" in names
    inputs: list[Any] = []
    for i, arg in enumerate(definition.inputs):
        if i in variables:
            inputs.append(random.uniform(0.5, 1.5, (_ROWS, _WIDTH)).astype(np.float32))
        elif arg.name in _SCALARS:
            kind = np.int64 if arg.name == "global_step" else np.float32
            inputs.append(np.array(_SCALARS[arg.name], kind))
        elif arg.name == "indices":
            inputs.append(random.permutation(_ROWS)[: _ROWS // 2].astype(np.int32))
        else:
            rows = _ROWS // 2 if is_sparse else _ROWS
            inputs.append(random.uniform(0.5, 1.5, (rows, _WIDTH)).astype(np.float32))
    return Sample(inputs, {}, variables)


def _dtypes(definition: Any) -> dict[str, str]:
    """What each type attribute is."""
    found: dict[str, str] = {}
    for arg in definition.inputs:
        key = arg.type_attr or arg.type_list_attr
        if key is None or key in found:
            continue
        allowed = definition.attr(key).allowed
        names = [kind.name for kind in allowed] if allowed is not None else list(_DTYPES)
        wanted = definition.test.get("dtypes") or _DTYPES
        names = [name for name in names if name in wanted] or names
        found[key] = min(names, key=lambda n: _DTYPES.index(n) if n in _DTYPES else len(_DTYPES))
    return found


def _shapes(facts: dict[str, Any], count: int) -> list[list[int]]:
    """The shapes of the facts, the leading dimension of the largest grown to a million elements."""
    if not facts.get("shapes"):
        return [[1000, 1000]] * count
    shapes = [list(shape) for shape in facts["shapes"][0]]
    largest = max(shapes, key=lambda shape: int(np.prod(shape, dtype=np.int64)))
    if not largest:
        return shapes
    lead, size = largest[0], int(np.prod(largest, dtype=np.int64))
    factor = _MOST // max(size, 1)
    return [
        [lead * factor, *shape[1:]] if len(shape) == len(largest) and shape[0] == lead else shape
        for shape in shapes
    ]


def _array(
    random: np.random.Generator, facts: dict[str, Any], place: int, shape: list[int], dtype: str
) -> np.ndarray:
    ranges = facts.get("ranges") or [(-3, 3)]
    low, high = ranges[place % len(ranges)]
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype == "string":
        return op_inputs.words(random, shape)
    values = random.uniform(low, high, shape)
    if dtype.startswith("complex"):
        return np.asarray(values + 1j * random.uniform(low, high, shape), dtype)
    if dtype.startswith(("int", "uint")):
        low = max(int(np.ceil(low)), 0 if dtype.startswith("uint") else -99)
        return random.integers(low, max(int(high), low) + 1, shape).astype(dtype)
    return np.asarray(values, {"half": "float16"}.get(dtype, dtype))


def _plain(value: Any) -> Any:
    """An attribute without classes of the package; see op_worker for what comes of it."""
    if hasattr(value, "as_numpy_dtype"):
        return {"type": value.name}
    if hasattr(value, "as_list"):
        return {"shape": None if value.ndims is None else value.as_list()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
