# SPDX-License-Identifier: Apache-2.0
"""The machine that runs kernels which are not compiled yet, and its instructions beside functions.

See jit/codegen/bytecode.py, which writes its programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import bytecode_kernels, instruction_kernels
from .library_kernel import LibraryKernel
from .template import specialise

# What elements are moved as, by their bytes.
MOVED = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}
_FORMS = ("map", "row", "column")
_MOVES = {"load": instruction_kernels.load, "store": instruction_kernels.store}
# Numbers that programs reduce as a rule.
_WHOLE = ("int32", "int64")


@cache
def machine(form: str) -> LibraryKernel:
    """What runs programs of kernels of a form."""
    is_map, is_row = form == "map", form == "row"
    return specialise(f"run_{form}", bytecode_kernels.run, IS_MAP=is_map, IS_ROW=is_row)


@cache
def move(name: str, size: int) -> LibraryKernel:
    """`load` or `store`, of elements of so many bytes."""
    return specialise(name, _MOVES[name], DTYPE=MOVED[size])


@cache
def positions() -> LibraryKernel:
    """Puts positions on an axis into a register."""
    return specialise("positions", instruction_kernels.positions)


@cache
def reduction(fn: str, dtype: str) -> LibraryKernel:
    """Takes rows of values into a total, or a place, of each column."""
    if fn.startswith("arg"):
        return specialise("find_down", instruction_kernels.find_down, FN=fn, DTYPE=dtype)
    stored = "uint8" if dtype == "bool" else dtype
    return specialise("reduce_down", instruction_kernels.reduce_down, FN=fn, DTYPE=stored)


@cache
def lanes(fn: str, dtype: str) -> LibraryKernel:
    """Takes values of a line into a total, in the order that rows have."""
    return specialise("reduce_lanes", instruction_kernels.reduce_lanes, FN=fn, DTYPE=dtype)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of the machine for numbers of these dtypes."""
    yield from map(machine, _FORMS)
    yield from (move(name, size) for name in _MOVES for size in MOVED)
    yield positions()
    yield from (reduction(fn, "bool") for fn in ("any", "all"))
    for dtype in (*dtypes, *_WHOLE):
        yield from (reduction(fn, dtype) for fn in ("sum", "prod", "max", "min"))
        yield from (reduction(fn, dtype) for fn in ("argmax", "argmin"))
    yield from (lanes(fn, dtype) for dtype in dtypes for fn in ("sum", "prod"))
