# SPDX-License-Identifier: Apache-2.0
"""The cases on which an op is held against TensorFlow, made from its definition alone.

Drawn ones (tests/ops/samples.py), every dtype, special values, infinities and NaN, nothing at all,
broadcasting up to five dimensions, and parameters that are out of range.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

import numbaflow as tf
from numbaflow.engine.graph.registry import Arg, OpDef
from numbaflow.engine.types.shape import TensorShape

from .samples import Case, cases
from .tensorflow_worker import is_fed

FLOATS = ("float32", "float64", "float16", "bfloat16")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *SIGNED, *UNSIGNED, "bool", "complex64", "complex128", "string")
FINITE = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 3.0, 1e-4, 30.0, -30.0]
HOSTILE = [np.inf, -np.inf, np.nan]
# Pairs of integers: nothing special, negative ones, zeros (which division refuses).
INTEGERS = [([7, 5, 0, 1], [1, 2, 3, 7]), ([7, -9, 0, -1], [-1, -2, 3]), ([4, 0], [0, 1])]
SHAPES = [
    [()],
    [(0,), (1,)],
    [(2, 0, 3), (3,), ()],
    [(2, 1, 3, 1, 2), (4, 1, 2, 1), (1, 1, 1, 2)],
    [(3, 2), (3,)],
]
# The seeds of a graph and of an op in it.
SEEDS = [(87654321, 42), (0, 5), (3, 0), (1, 2**40 + 9)]
# Parameters out of range end TensorFlow's process.
ABORTING = (
    "IRFFT",
    "IRFFT2D",
    "IRFFT3D",
    "RFFT",
    "RFFT2D",
    "RFFT3D",
    "AvgPoolGrad",
    "CropAndResizeGradBoxes",
    "CropAndResizeGradImage",
    "KmeansPlusPlusInitialization",
    "MaxPoolGradWithArgmax",
    "NearestNeighbors",
    "BlockLSTM",
    "BlockLSTMV2",
    "BlockLSTMGrad",
    "BlockLSTMGradV2",
    "LSTMBlockCell",
    "LSTMBlockCellGrad",
)
# Inputs without elements, or with infinities, do.
FRAGILE = (
    "CTCLoss",
    "CropAndResizeGradImage",
    "CropAndResizeGradBoxes",
    "IRFFT",
    "IRFFT2D",
    "IRFFT3D",
    "RFFT",
    "RFFT2D",
    "RFFT3D",
    "ResizeBilinearGrad",
    "BlockLSTM",
    "BlockLSTMV2",
    "BlockLSTMGrad",
    "BlockLSTMGradV2",
)
DRAWN = 5

Record = dict[str, Any]


def records(definition: OpDef) -> list[Record]:
    """The cases of an op, each with a label."""
    found: list[Record] = []
    for i, (label, case) in enumerate(_cases(definition)):
        found.append(
            {
                "label": label,
                "inputs": case.inputs,
                "attrs": {key: _attr(definition, key, value) for key, value in case.attrs.items()},
                "lone": not any(is_fed(array) for array in case.arrays()),
                "static": bool(i % 2),
                "strided": i % 3 == 0,
                "gradient": not label.startswith("hostile"),
            }
        )
    return found


def _attr(definition: OpDef, key: str, value: Any) -> list[Any]:
    kind = definition.attr(key).type
    if kind == "type":
        return ["type", tf.as_dtype(value).name]
    if kind == "list(type)":
        return ["types", [tf.as_dtype(item).name for item in value]]
    if kind == "list(shape)":
        shapes = [tf.TensorShape(item) for item in value]
        return ["shapes", [None if s.ndims is None else s.as_list() for s in shapes]]
    if isinstance(value, TensorShape):
        return ["shape", None if value.ndims is None else value.as_list()]
    return ["value", value]


def _cases(definition: OpDef) -> Iterator[tuple[str, Case]]:
    drawn = _drawn(definition)
    for i, case in enumerate(drawn):
        kinds = dict.fromkeys(array.dtype.name for array in case.arrays())
        yield f"drawn/{i}/{'+'.join(kinds)}", case
    if drawn and "seed2" in {attr.name for attr in definition.attrs}:
        for seeds in SEEDS:
            given_seeds = dict(zip(("seed", "seed2"), seeds, strict=True))
            yield f"seeds/{seeds}", Case(drawn[0].inputs, {**drawn[0].attrs, **given_seeds})
    # Random numbers follow from seeds; and a rejecting sampler may never end on other inputs.
    if definition.stateful or not definition.inputs or not drawn:
        return
    if "values" not in definition.test and "shapes" not in definition.test:
        yield from _special(definition, drawn[0].attrs)
        yield from _shaped(definition, drawn[0].attrs)
        return
    yield from _retyped(definition, drawn)
    if definition.name not in FRAGILE:
        yield from _emptied(drawn[0])
        yield from _hostile(drawn[0])
    if definition.name not in ABORTING:
        yield from _out_of_range(definition, drawn[0])


def _drawn(definition: OpDef) -> list[Case]:
    found: list[Case] = []

    @settings(
        max_examples=DRAWN,
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
    return found


def type_names(definition: OpDef) -> tuple[str | None, list[str]]:
    """The attribute that the data's dtype goes by, and what it may be."""
    key = next((a.type_attr or a.type_list_attr for a in definition.inputs), None)
    if key is None:
        return None, []
    allowed = definition.attr(key).allowed
    names = None if allowed is None else {dtype.name for dtype in allowed}
    return key, [name for name in DTYPES if names is None or name in names]


def _is_typed(arg: Arg, key: str | None) -> bool:
    return key is not None and key in (arg.type_attr, arg.type_list_attr)


@np.errstate(all="ignore")
def converted(array: np.ndarray, name: str) -> np.ndarray:
    """The values in another dtype."""
    if array.dtype == object:
        array = np.arange(array.size).reshape(array.shape)
    if name == "string":
        texts = np.empty(array.shape, object)
        for i, value in np.ndenumerate(array):
            texts[i] = str(value).encode()
        return texts
    real = array.real if array.dtype.kind == "c" else array
    if name == "bool":
        return np.asarray(real > 0)
    kind = tf.as_dtype(name).as_numpy_dtype
    if name.startswith("complex"):
        return np.asarray(real.astype(np.float64) * (1 + 0.5j), kind)
    if name.startswith(("int", "uint")) and real.dtype.kind not in "iub":
        real = np.rint(real.astype(np.float64))
    return np.asarray(np.abs(real) if name in UNSIGNED else real, dtype=kind)


def _retyped(definition: OpDef, drawn: list[Case]) -> Iterator[tuple[str, Case]]:
    key, names = type_names(definition)
    seen: set[Any] = set()
    for name in names:
        for i, case in enumerate(drawn):
            mark = (name, str(case.attrs), str([array.shape for array in case.arrays()]))
            if mark in seen or (i and name not in ("float32", "float64", "int32")):
                continue
            seen.add(mark)
            yield f"retyped/{name}/{i}", _mapped(definition, case, key, name)


def _mapped(definition: OpDef, case: Case, key: str | None, name: str) -> Case:
    inputs = []
    for arg, item in zip(definition.inputs, case.inputs, strict=True):
        if not _is_typed(arg, key):
            inputs.append(item)
        elif isinstance(item, list):
            inputs.append([converted(array, name) for array in item])
        else:
            inputs.append(converted(item, name))
    return Case(inputs, case.attrs)


def _special(definition: OpDef, attrs: Record) -> Iterator[tuple[str, Case]]:
    """All combinations of special values, for every dtype."""
    key, names = type_names(definition)
    for name in names or [None]:
        for i, columns in enumerate(_columns(name or "float32", len(definition.inputs))):
            grid = np.array(list(product(*columns)), object)
            inputs = [
                converted(grid[:, j].astype(np.float64), name or arg.dtype.name)
                for j, arg in enumerate(definition.inputs)
                if (arg.dtype or name)
            ]
            if len(inputs) == len(definition.inputs):
                inputs = _with_other_types(definition, key, inputs)
                yield f"special/{name}/{i}", Case(_listed(definition, inputs), attrs)


def _with_other_types(
    definition: OpDef, key: str | None, inputs: list[np.ndarray]
) -> list[np.ndarray]:
    """Inputs that have a dtype of their own take it (a condition, indices)."""
    return [
        converted(array, arg.dtype.name if arg.dtype else "int32")
        if not _is_typed(arg, key)
        else array
        for arg, array in zip(definition.inputs, inputs, strict=True)
    ]


def _listed(definition: OpDef, inputs: list[np.ndarray]) -> list[Any]:
    return [
        [array, array] if arg.number_attr or arg.type_list_attr else array
        for arg, array in zip(definition.inputs, inputs, strict=True)
    ]


def _columns(name: str, count: int) -> list[tuple[list[float], ...]]:
    if name in (*SIGNED, *UNSIGNED):
        return [(first, *[second] * (count - 1)) for first, second in INTEGERS]
    if name in FLOATS:
        values = FINITE + HOSTILE
        return [tuple([values if count < 3 else values[2::3]] * count)]
    return [tuple([[0.0, 1.0, -1.0, 0.5, -2.5]] * count)]


def _shaped(definition: OpDef, attrs: Record) -> Iterator[tuple[str, Case]]:
    """Broadcasting, scalars and empty tensors."""
    key, names = type_names(definition)
    name = next((n for n in names if n in definition.test.get("dtypes", [n])), "float32")
    for i, shapes in enumerate(SHAPES):
        same = definition.test.get("broadcast") is False
        inputs = []
        for j, arg in enumerate(definition.inputs):
            shape = shapes[0] if same else shapes[j % len(shapes)]
            values = (np.arange(1.0, np.prod(shape) + 1) * 0.25 + j).reshape(shape)
            inputs.append(converted(values, arg.dtype.name if arg.dtype else name))
        inputs = _with_other_types(definition, key, inputs)
        yield f"shaped/{i}", Case(_listed(definition, inputs), attrs)


def _changed(case: Case, index: int, value: Any) -> Case:
    return Case([value if i == index else item for i, item in enumerate(case.inputs)], case.attrs)


def _emptied(case: Case) -> Iterator[tuple[str, Case]]:
    """The first input without elements, along each of its axes."""
    first = case.inputs[0]
    arrays = first if isinstance(first, list) else [first]
    for axis in range(min(array.ndim for array in arrays) if arrays else 0):
        none = [np.take(array, [], axis) for array in arrays]
        yield f"emptied/{axis}", _changed(case, 0, none if isinstance(first, list) else none[0])


def _hostile(case: Case) -> Iterator[tuple[str, Case]]:
    """Infinities and NaN among the data."""
    for index, item in enumerate(case.inputs):
        if isinstance(item, list) or item.dtype.kind != "f" or not item.size:
            continue
        for value in HOSTILE:
            array = item.copy()
            array.flat[array.size // 2] = value
            yield f"hostile/{index}/{value}", _changed(case, index, array)


def _out_of_range(definition: OpDef, case: Case) -> Iterator[tuple[str, Case]]:
    """Parameters that are wrong, or that change what the op does."""
    for index, item in enumerate(case.inputs):
        if isinstance(item, list) or item.dtype.kind != "i" or not item.size:
            continue
        for value in (-1, 0, 1, 9):
            array = item.copy()
            array.flat[array.size - 1] = value
            yield f"parameter/{index}/{value}", _changed(case, index, array)
