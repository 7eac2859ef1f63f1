# SPDX-License-Identifier: Apache-2.0
"""Vector widths and register counts of the target, for the lowerings that choose tile shapes."""

from __future__ import annotations

from typing import NamedTuple

from .. import target

BYTES = {"float32": 4, "float64": 8}


class Vectors(NamedTuple):
    """How many elements a vector register holds, and how many registers there are."""

    lanes: int
    registers: int


def vectors(dtype: str) -> Vectors:
    """The target's vectors of a float dtype."""
    aim = target.current()
    wide = aim.vector_bits == 512 or aim.machine == "aarch64"
    return Vectors(aim.lanes(BYTES[dtype]), 32 if wide else 16)
