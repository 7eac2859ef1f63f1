# SPDX-License-Identifier: Apache-2.0
"""Rounding as C has it, for kernels and lowerings."""

from __future__ import annotations

from typing import Any

from ...jit.kernel import scalar as k


def half_away(x: Any) -> Any:
    """The nearest integer, halves away from zero: a scalar body."""
    whole = k.trunc(x)
    return k.select(k.ge(k.abs(k.sub(x, whole)), 0.5), k.add(whole, k.sign(x)), whole)
