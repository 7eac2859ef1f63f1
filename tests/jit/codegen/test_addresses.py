# SPDX-License-Identifier: Apache-2.0
"""A text that accesses memory in another width than was declared does not compile."""

from __future__ import annotations

import re

import pytest

from numbaflow.jit import target
from numbaflow.jit.codegen import llvm
from numbaflow.jit.kernel.ir import declaration

pytestmark = pytest.mark.cpu

DTYPES = ("float32", "int32", "float64", "uint8", "float32")
OWN = "memory is accessed in its own dtype"
TYPED = "memory is accessed by addresses with a dtype"
SUMS = "0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"  # flags, counts and strides
TILE = f"fma_tile(4, 1, 8, -1, 0, 0, {{}}, {{}}, {{}}, {{}}, {{}}, {SUMS}, args, 5)"
LIST = "gather_tile(1, 1, 8, args[0], args[4], {}, 1, args[0], 8, 8)"


def lowered(line: str, is_library: bool) -> str:
    """What a kernel of one line becomes."""
    signature = "def kernel(args, r0, r1, c0, c1, worker):"
    source = f"{declaration(DTYPES)}\n\n\n{signature}\n    {line}\n"
    return llvm.lowered(source, "k", target.current(), is_library)


GENERATED = [
    ("store(args[1], r0, load(args[0], r0))", f"store of float32 into int32: {OWN}"),
    ("store(args[1], r0, r0)", f"store of int64 into int32: {OWN}"),
    ("store(stack_int32(8), 0, r0)", f"store of int64 into int32: {OWN}"),
    ("store(stack_float64(8), 0, load(args[0], 0))", f"store of float32 into float64: {OWN}"),
    ("load(r0, 0)", f"load at int64: {TYPED}"),
    ("load(args[r0], 0)", f"load at int64: {TYPED}"),
    ("add(load(args[0], 0), load(args[2], 0))", "add of float32, float64: arguments are of one"),
    ("select(lt(r0, r1), load(args[0], 0), r0)", "select of float32, int64: arguments are of one"),
    ("accumulate_max(r0, load(args[1], 0))", "accumulate_max of int64, int32: arguments are of"),
]

LIBRARY = [
    ("copy(args[0], args[1], r0)", f"copy of float32 and int32: {OWN}"),
    ("copy(args[0], args[4] + r0, args[5])", ""),
    ("copy(as_bytes(args[0]), as_bytes(args[2]), 8)", ""),
    ("zero(args[5], r0)", f"zero at int64: {TYPED}"),
    ("pointer(args[5])[0] = r0", f"access at int64: {TYPED}"),
    ("pointer(region(args[5], 'int64'))[0] = r0", ""),
    ("region(args[0], 'int32')", "region at Address.float32.: what has a dtype keeps it"),
    ("transpose_tile(8, args[0], 8, args[2], 8)", f"transpose of float32 and float64: {OWN}"),
    ("transpose_tile(8, args[0], 8, args[4], 8)", ""),
    (TILE.format(*["args[0]"] * 4, "args[2]"), f"tile of float32 and float64: {OWN}"),
    (TILE.format(*["args[1]"] * 5), "tile of int32: tiles are of float32 or"),
    (TILE.format("args[0]", "args[4] + r0", *["args[0]"] * 3), ""),
    (LIST.format("region(args[5], 'int64')"), f"tile of float32 and int64: {OWN}"),
    (LIST.format("args[4]"), "offsets of float32: those of a list are int32"),
    (LIST.format("args[1]"), ""),
]


@pytest.mark.parametrize("line, message", GENERATED)
def test_generated_texts(line, message):
    with pytest.raises(llvm.Untyped, match=message) as raised:
        lowered(line, False)
    assert f"in line 5: {line}, in k" in str(raised.value)


@pytest.mark.parametrize("line, message", LIBRARY)
def test_texts_written_by_hand(line, message):
    if not message:
        assert "define" in lowered(line, True)
        return
    with pytest.raises(llvm.Untyped, match=message):
        lowered(line, True)


def test_an_offset_counts_elements_whatever_their_width():
    for number, size in enumerate((4, 4, 8, 1, 4)):
        text = lowered(f"pointer(args[{number}] + r0)[0] = pointer(args[{number}])[0]", True)
        assert re.search(rf"mul i64 %[^,]+, {size}\b", text)
