# SPDX-License-Identifier: Apache-2.0
"""Object files with changes in them, and a process that links them one after the other."""

from __future__ import annotations

import faulthandler
import os
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from numbaflow.jit import target
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import linking, llvm
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.library.matmul import product_kernel

_WORDS = (0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFF, 0xFFF1, 0xFFF2, 0xFFFF, 1 << 31, (1 << 64) - 1)


def objects() -> dict[str, bytes]:
    """Object files of kernels of several kinds, by the function that they define."""
    at = ir.Index((ir.Param(0), 1))
    buffers = ir.Buffer("float64", "r"), ir.Buffer("float64", "w")
    axes = ir.Axis("map"), ir.Axis("map")
    x = ir.Load(0, at, "float64")
    found = {}
    for name, value in (("plain", k.mul(x, 3.0)), ("calls", k.add(k.exp(x), k.lgamma(x)))):
        kernel = ir.Kernel("map", buffers, axes, (), (ir.Store(1, at, value),), 1)
        found[name] = compiled(compiler.source_of(kernel), name)
    product = product_kernel("float32", 64, False, False)[0].over(["float32"] * 3)
    return found | {"product": compiled(product.text, "product", is_library=True)}


def compiled(source: str, symbol: str, is_library: bool = False) -> bytes:
    """The object file of a source."""
    aim = target.current()
    return llvm.object_code(llvm.lowered(source, symbol, aim, is_library), aim)


def changed(code: bytes, rng: random.Random) -> bytes:
    """An object file with one to three changes, most of them in what describes it."""
    content = bytearray(code)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.random()
        start = 0 if kind < 0.15 else rng.choice(described(code)) if kind < 0.9 else None
        end = min(start + 64, len(content)) if start is not None else len(content)
        place = rng.randrange(start or 0, end)
        if rng.random() < 0.4:
            content[place] ^= 1 << rng.randrange(8)
        elif rng.random() < 0.95:
            width = rng.choice((1, 2, 4, 8))
            place -= place % width
            word = rng.choice((*_WORDS, rng.getrandbits(64), len(code), len(code) - 1))
            new = (word & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            content[place : place + width] = new
        else:
            del content[rng.randrange(len(content)) :]
            return bytes(content)
    return bytes(content)


def described(code: bytes) -> list[int]:
    """Where an ELF file's tables are: of sections, symbols, relocations and names."""
    start, count = struct.unpack_from("<Q", code, 40)[0], struct.unpack_from("<H", code, 60)[0]
    places = [start + 64 * number for number in range(count)]
    for place in tuple(places):
        (kind,) = struct.unpack_from("<I", code, place + 4)
        offset, size = struct.unpack_from("<QQ", code, place + 24)
        if kind in (2, 3, 4):
            places += range(offset, offset + size, 24)
    return [place for place in places if place < len(code)]


Link = Callable[[bytes, str], int]


def deadly(found: Sequence[tuple[str, bytes]], link: Link = linking.link) -> Iterator[int]:
    """The numbers of object files that end the process which links them."""
    first = 0
    while first < len(found):
        last, status = _linked_from(found, first, link)
        if status == 0:
            return
        yield last
        first = last + 1


def _linked_from(found: Sequence[tuple[str, bytes]], first: int, link: Link) -> tuple[int, int]:
    """Links object files in a child, from a number on; the last number and how the child ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            for number in range(first, len(found)):
                os.write(writer, number.to_bytes(4, "little"))
                symbol, code = found[number]
                linking._ENGINE.clear()
                try:
                    link(code, symbol)
                except RuntimeError:
                    pass  # noqa: SIM105 - said in words: that is well
        except BaseException:
            os._exit(3)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        numbers = file.read()
    _, status = os.waitpid(child, 0)
    return int.from_bytes(numbers[-4:], "little"), status


@cache
def function(symbol: str, triple: str) -> bytes:
    """A small object file that defines a function, for a system."""
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    text = """
    declare double @sin(double)
    @table = internal constant [4 x double] [double 1.0, double 2.0, double 3.0, double 4.0]
    define double @SYMBOL(double %x, i64 %i) nounwind {
      %y = call double @sin(double %x)
      %p = getelementptr [4 x double], ptr @table, i64 0, i64 %i
      %v = load double, ptr %p
      %z = fmul double %v, %y
      ret double %z
    }"""
    module = binding.parse_assembly(text.replace("SYMBOL", symbol))
    module.triple = triple
    kind = binding.Target.from_triple(triple)
    machine = kind.create_target_machine(reloc="static", codemodel="jitdefault", jit=True)
    return bytes(machine.emit_object(module))
