# SPDX-License-Identifier: Apache-2.0
"""Calls of one op, drawn from its definition: what `enrol` tries an op on.

The definition's `test` facts, where it has any, say what arrays it takes: `values` (inputs to
choose from), `shapes`, `ranges`, `dtypes`, `attrs`; else inputs broadcast, of any usual type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..gradients.autodiff_sums import public
from ..graph.build import OpFunction
from ..graph.registry import Arg, OpDef
from ..graph.tensor import Tensor
from ..record_class import record
from ..types import dtypes
from ..types.dtypes import DType
from . import strategies
from .functions import Array

_USUAL = ("float64", "float32", "int32", "int64", "complex128", "bool")


@record(frozen=True, repr=False)
class Call:
    """Inputs, arrays or lists of them, and attributes."""

    op: OpDef
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]

    @property
    def arrays(self) -> list[Array]:
        """All inputs in one list."""
        return [x for item in self.inputs for x in (item if isinstance(item, list) else [item])]

    def with_arrays(self, arrays: Sequence[Array]) -> Call:
        """The same call of other arrays."""
        left = iter(arrays)
        inputs = tuple(
            [next(left) for _ in item] if isinstance(item, list) else next(left)
            for item in self.inputs
        )
        return replace(self, inputs=inputs)

    def build(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Adds the op for tensors in place of the arrays; its outputs."""
        left = iter(tensors)
        inputs = [
            [next(left) for _ in item] if isinstance(item, list) else next(left)
            for item in self.inputs
        ]
        return list(OpFunction(self.op.name).build(*inputs, **self.attrs).outputs)

    def __repr__(self) -> str:
        given = [repr(item) for item in self.inputs]
        given += [f"{name}={value!r}" for name, value in self.attrs.items()]
        return f"{self.op.name}({', '.join(given)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints of it."""
        del cycle
        printer.text(repr(self))

    def on_placeholders(self, partial: Sequence[Any] = ()) -> tuple[list[Tensor], dict[Any, Array]]:
        """The op's outputs on placeholders for floats and constants for others; and the feeds.

        The placeholders know their shapes, or what `partial` says of them.
        """
        feeds: dict[Any, Array] = {}
        tensors = []
        for k, x in enumerate(self.arrays):
            if x.dtype.kind in "fc" or x.dtype.name == "bfloat16":
                shape = partial[k] if partial else x.shape
                place = public("placeholder")(dtypes.as_dtype(x.dtype), shape)
                feeds[place] = x
                tensors.append(place)
            else:
                tensors.append(public("constant")(x, dtypes.as_dtype(x.dtype)))
        return self.build(tensors), feeds


@st.composite
def calls(draw: st.DrawFn, op: OpDef, min_side: int = 1, special: bool = False) -> Call:
    """One call of an op."""
    attrs = dict(draw(st.sampled_from(op.test.get("attrs") or [{}])))
    if op.test.get("values"):
        chosen = draw(st.sampled_from(op.test["values"]))
        return Call(op, tuple(map(_as_arrays, chosen)), _given(op, attrs))
    count = sum(_number(arg, attrs) for arg in op.inputs)
    found = iter(draw(_shapes(op, count, min_side)))
    kinds: dict[str, DType] = {}
    ranges = op.test.get("ranges") or [(-3, 3)]
    inputs: list[Any] = []
    for k, arg in enumerate(op.inputs):
        kind = draw(_dtype(op, arg, kinds))
        low, high = ranges[k % len(ranges)]
        drawn = [
            draw(strategies.arrays(kind, tuple(next(found)), special, low, high))
            for _ in range(_number(arg, attrs))
        ]
        inputs.append(drawn if arg.number_attr or arg.type_list_attr else drawn[0])
    return Call(op, tuple(inputs), _given(op, attrs))


def _as_arrays(item: Any) -> Any:
    return [np.asarray(x) for x in item] if isinstance(item, list) else np.asarray(item)


def _number(arg: Arg, attrs: dict[str, Any]) -> int:
    if arg.number_attr or arg.type_list_attr:
        return int(attrs.get(arg.number_attr or "", 2))
    return 1


def _given(op: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    """Attributes that do not follow from the inputs."""
    follow = {
        name for arg in op.inputs for name in (arg.number_attr, arg.type_attr, arg.type_list_attr)
    }
    return {name: value for name, value in attrs.items() if name not in follow}


def _shapes(op: OpDef, count: int, min_side: int) -> st.SearchStrategy[Any]:
    if op.test.get("shapes"):
        return st.sampled_from(op.test["shapes"]).map(lambda some: [*some] * max(count, 1))
    if op.test.get("broadcast") is False or count < 2:
        return strategies.shapes(min_side=min_side).map(lambda shape: [shape] * max(count, 1))
    return strategies.broadcastable_shapes(count, min_side=min_side)


def _dtype(op: OpDef, arg: Arg, kinds: dict[str, DType]) -> st.SearchStrategy[DType]:
    if arg.dtype is not None:
        return st.just(arg.dtype)
    key = arg.type_attr or arg.type_list_attr or ""
    if key in kinds:
        return st.just(kinds[key])
    allowed = op.attr(key).allowed
    usual = [dtypes.as_dtype(name) for name in op.test.get("dtypes") or _USUAL]
    names = [kind for kind in usual if allowed is None or kind in allowed]

    def keep(kind: DType) -> DType:
        kinds[key] = kind
        return kind

    return st.sampled_from(names or list(allowed or usual)).map(keep)


def reason_against(op: OpDef) -> str:
    """Why an op cannot be called on drawn arrays; empty when it can."""
    if op.kernel is None:
        return "has no kernel"
    if op.is_fed:
        return "is fed, never run"
    for fact in ("session_only", "needs"):
        if op.test.get(fact):
            return f"its facts say {fact}"
    for arg in _all_args(op):
        if arg.is_ref or arg.dtype in (dtypes.resource, dtypes.variant, dtypes.string):
            return "works on variables, handles or texts"
    return "takes nothing" if not op.inputs else ""


def _all_args(op: OpDef) -> Iterator[Arg]:
    yield from op.inputs
    yield from op.outputs
