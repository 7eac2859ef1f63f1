# SPDX-License-Identifier: Apache-2.0
"""Object files linked into this process.

What the compiler makes refers to little: constants of its own, and functions of the C library, by
absolute addresses or 64-bit distances (System V ABI, AMD64 supplement, table 4.9).  So on Linux's
x86-64 it is linked here, and a process that compiles nothing does without LLVM, which takes longer
to load than a small program's kernels.  Elsewhere LLVM links.  Code pages are executable only once
nothing is written to them any more.  Files of a cache are looked through first
(jit/cache/object_file.py).  Imports llvmlite where LLVM links.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from .. import target
from ..cache.object_file import ELF_HEADER, ELF_IDENTITY, RELOCATION, SECTION, SYMBOL

_CODE, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_IS_IN_MEMORY = 2
_X86_64, _ABSOLUTE, _DISTANCE = 62, 1, 24
_READ_AND_EXECUTE = 1 | 4
_WORD = 1 << 64
_MAKING = threading.Lock()
_ENGINE: list[Any] = []


class _Object(NamedTuple):
    """Sections by number, as their offset in the file and size; where each lies in memory, how much
    memory that is; symbols as section, value and name; changes as section, place, type, symbol and
    addend."""

    sections: dict[int, tuple[int, int]]
    places: dict[int, int]
    size: int
    symbols: list[tuple[int, int, str]]
    changes: list[tuple[int, int, int, int, int]]


def link(code: bytes, symbol: str) -> int:
    """The address of a function that an object file defines, once that is in memory.

    RuntimeError where there is none, or something that it refers to is nowhere.
    """
    if _is_ours():
        try:
            return _linked(code, _read(code), symbol)
        except _Unfit:
            pass  # LLVM may know what this does not
        except (struct.error, ValueError, IndexError) as error:
            raise RuntimeError(f"the object file is damaged: {error}") from error
    return _by_llvm(code, symbol)


@cache
def is_function(name: str) -> bool:
    """Whether something in this process has that name."""
    if _address_of(name):
        return True
    import llvmlite.binding as binding

    engine()  # making one is what lets LLVM look for names in this process
    return bool(binding.address_of_symbol(name))


class _Unfit(Exception):
    """LLVM knows more of such a file, or of where things are."""


@cache
def _is_ours() -> bool:
    return (
        sys.platform == "linux"
        and platform.machine() == "x86_64"
        and ctypes.sizeof(ctypes.c_void_p) == 8
    )


def _read(code: bytes) -> _Object:
    """What is in an ELF file for this machine; raises _Unfit for other files."""
    if not code.startswith(ELF_IDENTITY):
        raise _Unfit
    header = ELF_HEADER.unpack_from(code)
    start, count = header[6], header[12]
    if header[2] != _X86_64:
        raise _Unfit
    table = list(SECTION.iter_unpack(code[start : start + SECTION.size * count]))
    sections, places, end = {}, {}, 0
    for number, (_, kind, flags, _, offset, size, _, _, alignment, _) in enumerate(table):
        if kind == _CODE and flags & _IS_IN_MEMORY:
            end += -end % max(alignment, 1)
            sections[number], places[number] = (offset, size), end
            end += size
    symbols: list[tuple[int, int, str]] = []
    for section in table:
        if section[1] == _SYMBOLS:
            symbols = list(_symbols(code, section, table[section[6]]))
    changes = [
        (section[7], place, info & 0xFFFFFFFF, info >> 32, addend)
        for section in table
        if section[1] == _RELOCATIONS and section[7] in places
        for place, info, addend in RELOCATION.iter_unpack(
            code[section[4] : section[4] + section[5]]
        )
    ]
    return _Object(sections, places, end, symbols, changes)


def _symbols(
    code: bytes, table: tuple[Any, ...], names: tuple[Any, ...]
) -> Iterator[tuple[int, int, str]]:
    texts = code[names[4] : names[4] + names[5]]
    for start, _, _, section, value, _ in SYMBOL.iter_unpack(code[table[4] : table[4] + table[5]]):
        yield section, value, texts[start : texts.index(b"\0", start)].decode()


def _linked(code: bytes, read: _Object, symbol: str) -> int:
    own = {name: (section, value) for section, value, name in read.symbols if section}
    if symbol not in own or own[symbol][0] not in read.places or not read.size:
        raise RuntimeError(f"the object file has no function {symbol}")
    pages = mmap.mmap(
        -1,
        read.size,
        flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
        prot=mmap.PROT_READ | mmap.PROT_WRITE,
    )
    base = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for number, (offset, size) in read.sections.items():
        place = read.places[number]
        pages[place : place + size] = code[offset : offset + size]
    for section, place, kind, number, addend in read.changes:
        found, value, name = read.symbols[number]
        if found in read.places:
            value += base + read.places[found]
        elif not found and name:
            value = _address_of(name)
        else:
            value = 0
        if not value or kind not in (_ABSOLUTE, _DISTANCE):
            raise _Unfit
        at = read.places[section] + place
        value += addend - (base + at if kind == _DISTANCE else 0)
        pages[at : at + 8] = (value % _WORD).to_bytes(8, "little")
    if _protect()(base, len(pages), _READ_AND_EXECUTE):
        # Of systems that let nobody make memory executable LLVM may know another way.
        raise _Unfit
    # Machine code stays for as long as the process: threads may be in it while modules are cleared.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))
    section, value = own[symbol]
    return base + read.places[section] + value


@cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def _protect() -> Callable[[int, int, int], int]:
    protect = _process().mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return protect


@cache
def _address_of(name: str) -> int:
    """Where this process has a function of the C library; 0 where it has none."""
    if not _is_ours():
        return 0
    try:
        function = getattr(_process(), name)
    except AttributeError:
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def engine() -> Any:
    """LLVM's own linker, for one caller at a time."""
    import llvmlite.binding as binding

    with _MAKING:
        if not _ENGINE:
            # It only links; what is compiled went through LLVM's passes before it became an object
            # file.
            machine = target.machine(target.current(), opt=0)
            _ENGINE.append(binding.create_mcjit_compiler(binding.parse_assembly(""), machine))
        return _ENGINE[0]


def _by_llvm(code: bytes, symbol: str) -> int:
    import llvmlite.binding as binding

    linker = engine()
    linker.add_object_file(binding.ObjectFileRef.from_data(code))
    # Makes the code's pages executable and no longer writable; an address before that is no use.
    linker.finalize_object()
    address = linker.get_function_address(symbol)
    if not address:
        raise RuntimeError(f"the object file has no function {symbol}")
    return int(address)
