# SPDX-License-Identifier: Apache-2.0
"""Which numbers in the text of an expression become inputs."""

from __future__ import annotations

from typing import Any

import pytest

from numbaflow.jit.kernel import scalar
from numbaflow.jit.kernel.ir import Expr
from numbaflow.jit.program.tensor_ir import Value, argument
from numbaflow.jit.trace.attributes import loading

pytestmark = pytest.mark.pure
FLOAT, WHOLE = argument(0, "float32"), argument(0, "int64")


def told(*exprs: Expr) -> tuple[tuple[Expr, ...], list[tuple[Any, str]]]:
    """The expressions, and the numbers that are inputs of theirs."""
    made: list[tuple[Any, str]] = []

    def constant(number: Any, dtype: str) -> Value:
        made.append((number, dtype))
        return None  # type: ignore[return-value]

    return loading(exprs, [], constant)[0], made


def test_an_epsilon_is_loaded_once() -> None:
    expr = scalar.add(FLOAT, 0.25)
    (one, other), made = told(expr, scalar.mul(expr, 0.25))
    assert made == [(0.25, "float32")]
    assert one == scalar.add(FLOAT, argument(0, "float32"))
    assert other == scalar.mul(one, argument(0, "float32"))


@pytest.mark.parametrize("number", [0.0, 1.0, -1.0, 0.5, 2.0, 3.4028234663852886e38, float("inf")])
def test_what_llvm_knows_stays(number: float) -> None:
    expr = scalar.maximum(FLOAT, number)
    assert told(expr) == ((expr,), [])


def test_limits_are_loaded_and_divisors_stay() -> None:
    """A division by a number that is known takes a fraction of the time."""
    quotient = scalar.truncatediv(WHOLE, 24)
    (found,), made = told(scalar.lt(quotient, 24))
    assert made == [(24, "int64")]
    assert found == scalar.lt(quotient, argument(0, "int64"))
