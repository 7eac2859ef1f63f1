# SPDX-License-Identifier: Apache-2.0
"""Kernels as texts, and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel.ir_text import parsed, text_of

from ...drawing import examples
from ..codegen.test_emit import problems

pytestmark = pytest.mark.cpu


@examples(40)
@given(problems())
def test_a_text_is_the_kernel_again(problem) -> None:
    kernel = problem[0]
    assert parsed(text_of(kernel)) is kernel


@pytest.mark.parametrize("value", (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, True, 1, -1))
def test_literals_keep_their_kind_and_all_their_digits(value) -> None:
    store = ir.Store(0, ir.Index((1,)), ir.Const(value, "float64"))
    kernel = ir.Kernel("map", (ir.Buffer("float64", "w"),), (ir.Axis("map"),), (), (store,), 0)
    assert parsed(text_of(kernel)) is kernel


@pytest.mark.parametrize("text", ("", "[]", "[[]]", '[["Axis","map",null,null,null]]', '[["os"]]'))
def test_what_is_no_kernel_is_refused(text) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        parsed(text)
