# SPDX-License-Identifier: Apache-2.0
"""Every op of the registry that takes complex numbers: the same compiled as by reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import numbaflow as tf
from numbaflow.engine.graph import registry

from ..drawing import examples
from .samples import Case, cases
from .test_registry import CALLABLE, run, same

WIDTHS = ("complex64", "complex128")
few = examples(4, deep=20)


def _takes_complex(name: str) -> str:
    """The type attribute by which an op takes complex numbers; empty for none."""
    definition = registry.lookup(name)
    for arg in definition.inputs:
        if arg.type_attr:
            allowed = definition.attr(arg.type_attr).allowed
            if allowed is None or {tf.complex64, tf.complex128} <= set(allowed):
                return arg.type_attr
    return ""


COMPLEX = [name for name in CALLABLE if _takes_complex(name)]


def _with_angles(definition: Any, case: Case, dtype: str) -> Case:
    """The case with what the type attribute is of in complex numbers."""
    attr = _takes_complex(definition.name)

    def turned(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in "fiuc" and array.dtype.name != "bfloat16":
            return array
        places = np.arange(array.size).reshape(array.shape)
        return (array.astype(dtype) * (1 + 0.25j * (places % 5))).astype(dtype)

    inputs = [
        item
        if arg.type_attr != attr
        else [turned(a) for a in item]
        if isinstance(item, list)
        else turned(item)
        for arg, item in zip(definition.inputs, case.inputs, strict=True)
    ]
    attrs = {k: v for k, v in case.attrs.items() if not isinstance(v, str) or "loat" not in v}
    return Case(inputs, attrs)


def _outcome(definition: Any, case: Case, mode: str) -> Any:
    try:
        return run(definition, case, mode)
    # What complex numbers, or these, are refused for is refused either way.
    except (tf.errors.OpError, TypeError, ValueError) as error:
        return type(error)


@pytest.mark.cpu
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_compiled_equal_reference(name: str) -> None:
    definition = registry.lookup(name)

    @few
    @given(cases(definition))
    def check(case: Case) -> None:
        for dtype in WIDTHS:
            changed = _with_angles(definition, case, dtype)
            want, got = (_outcome(definition, changed, mode) for mode in ("never", "always"))
            if isinstance(want, type):
                assert got is want
                continue
            for expected, actual in zip(want, got, strict=True):
                same(expected, actual, definition)

    check()
