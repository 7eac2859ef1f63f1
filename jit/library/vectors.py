# SPDX-License-Identifier: Apache-2.0
"""Vector widths and register counts of the target, for the lowerings that choose tile shapes."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

BYTES = {"float32": 4, "float64": 8}


class Vectors(NamedTuple):
    """How many elements a vector register holds, and how many registers there are."""

    lanes: int
    registers: int


@cache
def _machine() -> tuple[int, int]:
    """Bytes per vector register and their number."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 32
    if features.get("avx2"):
        return 32, 16
    return 16, 32 if "neon" in features else 16


def vectors(dtype: str) -> Vectors:
    """The target's vectors of a float dtype."""
    size, registers = _machine()
    return Vectors(size // BYTES[dtype], registers)
