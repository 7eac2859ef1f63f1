# SPDX-License-Identifier: Apache-2.0
"""Texts of the library's kernels compiled by the reader and by Numba: the same bits."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import library_reader, llvm, words
from numbaflow.jit.library.library_kernel import LibraryKernel
from numbaflow.jit.runtime import warming

from ..library.test_closed_set import FAMILIES, Run, randoms, running

pytestmark = pytest.mark.cpu

DTYPES = ("float32", "float64")
HEAD = "BUFFERS = ('float32', 'int32')\nHALF = 0.5\n\n\n"
SIGNATURE = "def kernel(args, r0, r1, c0, c1, worker):\n"


def by_reader(source: str, symbol: str) -> str:
    library_reader.module(source, symbol)  # an error where Numba would read it instead
    return llvm.lowered(source, symbol, target.current(), is_library=True)


def by_numba(source: str, symbol: str) -> str:
    from numbaflow.jit.codegen import library_code

    return llvm.finished(library_code.module(source, symbol), target.current())


def others() -> list[LibraryKernel]:
    """All kernels that do not come in hundreds."""
    return [kernel for kernel in warming.kernels(DTYPES) if not kernel.name.endswith("tiles")]


def tiles() -> list[LibraryKernel]:
    """Those that do."""
    return [kernel for kernel in warming.kernels(DTYPES) if kernel.name.endswith("tiles")]


# What the reader has no words for: 64 bits without a sign beside numbers with one.
BY_NUMBA = {"records", "texts_write"}


def read(kernels: list[LibraryKernel]) -> int:
    """How many of some kernels the reader reads."""
    found = 0
    for kernel in kernels:
        try:
            library_reader.module(kernel.text, "k")
        except words.Unfit as error:
            print(kernel.name, error)
        else:
            found += 1
    return found


def test_the_library_is_read() -> None:
    """Numba is imported for few of its kernels."""
    every = others() + tiles()[::40]
    kernels = [kernel for kernel in every if kernel.name not in BY_NUMBA]
    assert len(kernels) > 120 and read(kernels) == len(kernels)
    assert not read([kernel for kernel in every if kernel.name in BY_NUMBA])


@pytest.mark.deep
def test_all_tiles_are_read() -> None:
    assert read(tiles()) == len(tiles()) > 500


@pytest.mark.parametrize(
    "line, message",
    [
        ("x = r0 if r1 > 0 else place", "place: it is assigned nowhere before"),
        ("x = 1\n    x = HALF", "x of int64, float64: a name has one kind"),
        ("x = r0 and r1 > 0", "and, or of int64: they are of truth values"),
        ("x = r0 @ r1", "MatMult of int64, int64: texts of kernels do without"),
        ("x, y = r0, r1, c0", "(int64, int64, int64) to 2 names: as many of both"),
        ("x = r0[0]", "element of int64: pointers and the argument block have any"),
        ("args[0] = r0", "element of arguments: those with buffers are read only"),
        ("x = middle(r0, r1)", "middle of 2 arguments: there is no such word"),
        ("for x in args: pass", "For is no part"),
        ("x = uint64(r0) < r1", "uint64 or int64: these have no kind in common"),
        ("return r0", "kernel: it gives nothing"),
    ],
)
def test_what_is_left_to_numba(line: str, message: str) -> None:
    with pytest.raises(words.Unfit, match=re.escape(message)):
        library_reader.module(f"{HEAD}{SIGNATURE}    {line}\n", "k")


def test_functions_that_call_themselves_are_left_to_numba() -> None:
    text = f"def down(n):\n    return down(n - 1)\n\n\n{SIGNATURE}    down(r0)\n"
    with pytest.raises(words.Unfit, match="down calls itself"):
        library_reader.module(text, "k")


def test_arithmetic() -> None:
    """Of whole numbers, where quotients are rounded down, ranges go down, and choices are made."""
    lines = (
        "out = pointer(args[0])",
        "out[0], out[1] = r0 // r1, r0 % r1",
        "out[2] = (r0 >> 1) ^ (r0 << 2) | abs(r0) & 12",
        "for i in range(r1, -r1, -c0): out[3] += i * 3 - 1",
        "while True:",
        "    r0 += 2",
        "    if not r0 < 9 or r0 == r1: break",
        "    if r0 < 0 and r0 != -3: continue",
        "    out[4] += r0",
        "out[5] = int64(uint64(r0) >> uint64(60)) if r0 > 8 else -r1",
        "several = r0, r1, c0",
        "for i in range(3): out[6 + i] = several[2 - i]",
        "out[9] = int64(float64(r0) / r1 * HALF)",
    )
    body = "\n".join(f"    {line}" for line in lines)
    head = "BUFFERS = ('int64',)\nHALF = 0.5\n\n\n"
    found: list[list[bytes]] = []
    for run in both(f"{head}{SIGNATURE}{body}\n", "arithmetic"):
        found.append([])
        for x, step in itertools.product((-99, -7, -6, -1, 0, 1, 5, 6), (4, -3, 1)):
            out = np.zeros(10, np.int64)
            block = np.array([out.ctypes.data], np.int64)
            run(block.ctypes.data, x, step, 2, 0, 0)
            found[-1].append(out.tobytes())
    assert found[0] == found[1] and len(set(found[0])) > 20


def called(text: str, symbol: str) -> Callable[..., None]:
    """The machine code of a text, as a function of an argument block and its tile."""
    address = compiler.load_object(llvm.object_code(text, target.current()), symbol)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)(address)


def both(source: str, name: str) -> list[Callable[..., None]]:
    return [
        called(front(source, name + end), name + end)
        for front, end in ((by_reader, "_read"), (by_numba, "_numba"))
    ]


def operands(kernel: LibraryKernel) -> tuple[list[Any], list[int]]:
    """A block of numbers and places that are in memory, whatever a tile makes of them."""
    dtype = "float64" if "DTYPE = 'float64'" in kernel.text else "float32"
    rng = np.random.default_rng(len(kernel.text))
    x, w, out, bias = (rng.standard_normal(40_000).astype(dtype) for _ in range(4))
    lists = [np.full(8, 5, np.int64), np.arange(64, dtype=dtype), np.arange(64, dtype=np.int32)]
    if kernel.name == "tiles":
        block = np.full(64, 3, np.int64)
        place = {m[1]: int(m[2]) for m in re.finditer(r"^([A-Z_]+) = (\d+)$", kernel.text, re.M)}
        for name in ("BIAS", "BASE"):
            if name in place:
                block[place[name]] = bias.ctypes.data
        return [x, w, out, bias, block], [x.ctypes.data, w.ctypes.data, out.ctypes.data, 15, 2]
    block = np.array([*(part.ctypes.data for part in lists), 2, 8, 70, 400, 900], np.int64)
    return [x, out, *lists, block], [x.ctypes.data, out.ctypes.data, 0, 0, 0]


def compare(kernel: LibraryKernel, number: int) -> None:
    results = []
    for run in both(kernel.text, f"tile_{number}"):
        arrays, rest = operands(kernel)
        run(arrays[-1].ctypes.data, *rest)
        results.append([array.tobytes() for array in arrays[:-1]])
    assert results[0] == results[1], kernel.text
    changed = [array.tobytes() for array in operands(kernel)[0][:-1]]
    assert results[0] != changed, "it did nothing"


def test_tiles_alone_are_vectors_already() -> None:
    """Kernels whose loops LLVM is to vectorise have all of its passes."""
    aim = target.current()
    kernels = warming.kernels(("float32",))
    texts = {k.name: llvm.lowered(k.text, "k", aim, is_library=True) for k in kernels[::-40]}
    assert {name for name in texts if llvm._IN_VECTORS in texts[name]} == {"tiles"} < set(texts)


def test_some_tiles() -> None:
    for number, kernel in enumerate(tiles()[::90]):
        compare(kernel, number)


@pytest.mark.deep
def test_tiles() -> None:
    for number, kernel in enumerate(tiles()):
        compare(kernel, number)


def results(build: Callable[[str], Run], dtype: str, folder: Path) -> list[bytes]:
    with settings.override(cache=folder, jit="always"), tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        fetches, feeds = build(dtype)
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            values = session.run([f for f in fetches if f is not None], feeds)
    parts = [p for value in values for p in (value if isinstance(value, tuple) else (value,))]
    return [np.asarray(part).tobytes() for part in parts]


def same(
    build: Callable[[str], Run], dtype: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a program that has its kernels from Numba gives the same."""
    found = []
    for front in (by_reader, by_numba):
        monkeypatch.setattr(compiler, "_DONE", {})
        monkeypatch.setattr(llvm, "_of_library", FRONT_ENDS[front])
        found.append(results(build, dtype, folder / front.__name__))
    assert found[0] == found[1]


def _numba(source: str, symbol: str) -> str:
    from numbaflow.jit.codegen import library_code

    return library_code.module(source, symbol)


FRONT_ENDS = {by_reader: llvm._of_library, by_numba: _numba}


@pytest.mark.parametrize("build", (randoms, running))
def test_some_programs(
    build: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same(build, "float32", tmp_path, monkeypatch)


@pytest.mark.deep
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("build", FAMILIES)
def test_programs(
    build: Callable[[str], Run], dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same(build, dtype, tmp_path, monkeypatch)
