# SPDX-License-Identifier: Apache-2.0
"""Every rewrite rule gives the same bits as what it replaces."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.jit.kernel import ir, scalar, scalar_rules
from numbaflow.jit.kernel.reference import numpy_dtype

pytestmark = pytest.mark.pure

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -3.25, 1e-40, -1e30, np.inf, -np.inf, np.nan]
CONDITIONS = {"c"}


def leaves(pattern, dtype, found):
    """Loads for the names of a pattern; conditions are bool."""
    for item in pattern[1:]:
        if isinstance(item, tuple):
            leaves(item, dtype, found)
        elif isinstance(item, str) and item not in found:
            logical = pattern[0].startswith("logical") or (pattern[0] == "select" and item == "c")
            found[item] = ir.Load(len(found), ir.Index(()), "bool" if logical else dtype)
    return found


def instantiate(pattern, dtype, found):
    args = []
    for item in pattern[1:]:
        if isinstance(item, tuple):
            args.append(instantiate(item, dtype, found))
        elif isinstance(item, str):
            args.append(found[item])
        else:
            args.append(scalar.const(item, dtype))
    return scalar.apply(pattern[0], *args)


def evaluate(expr, arrays):
    if isinstance(expr, ir.Load):
        return arrays[expr.buffer]
    if isinstance(expr, ir.Const):
        return np.asarray(expr.value, numpy_dtype(expr.dtype))
    if expr.fn == "cast":
        return scalar.cast(evaluate(expr.args[0], arrays), expr.dtype)
    return scalar.apply(expr.fn, *(evaluate(arg, arrays) for arg in expr.args))


def bits(array):
    """Contents to compare: NaN equal to NaN, zeros by sign."""
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    return (
        np.where(np.isnan(array), 0, array),
        np.signbit(array) & ~np.isnan(array),
        np.isnan(array),
    )


def _of_parts(rule, found):
    """A part of a complex number, as the maps of a program have it; there are no such kernels."""
    whole = ir.Apply("complex", (found["x"], found["y"]), "complex64")
    return ir.Apply(rule.pattern[0], (whole,), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("rule", scalar_rules.RULES, ids=lambda rule: rule.formula)
def test_rule(rule, dtype):
    found = leaves(rule.pattern, dtype, {})
    if "c" in found and found["c"].dtype != "bool":
        found["c"] = scalar.const(-0.25, dtype) if dtype != "int32" else found["c"]
    if rule.pattern[0] in ("real", "imag"):
        assert scalar_rules.simplify(_of_parts(rule, found)) is rule.build(**found)
        return
    try:
        before = instantiate(rule.pattern, dtype, found)
    except TypeError:
        pytest.skip(f"{rule.pattern[0]} has no {dtype} form")
    if rule.when is not None and not rule.when(**found):
        assert scalar_rules.simplify(before) is before
        return
    trace: list[str] = []
    after = scalar_rules.rewrite(before, trace)
    assert trace and rule.formula in trace and after is not before
    loads = [leaf for leaf in found.values() if isinstance(leaf, ir.Load)]
    special = {"bool": [False, True], "int32": [-7, -1, 0, 1, 2, 9]}
    kinds = ["bool" if leaf.dtype == "bool" else dtype for leaf in loads]
    values = [np.array(special.get(kind, SPECIAL), kind) for kind in kinds]
    grid = np.meshgrid(*values, indexing="ij")
    arrays = {leaf.buffer: array for leaf, array in zip(loads, grid)}
    with np.errstate(all="ignore"):
        want, got = bits(evaluate(before, arrays)), bits(evaluate(after, arrays))
    for a, b in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
        np.testing.assert_array_equal(a, b)


def test_literals_fold():
    two = scalar.const(2.0, "float32")
    assert scalar_rules.simplify(ir.Apply("add", (two, two), "float32")) is scalar.const(
        4.0, "float32"
    )


def test_what_does_not_fit_stays():
    x = ir.Load(0, ir.Index(()), "float32")
    plus_zero = scalar.add(x, 0.0)
    assert scalar_rules.simplify(plus_zero) is plus_zero, "-0 + 0 is +0: floats keep it"
