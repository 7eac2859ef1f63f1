# SPDX-License-Identifier: Apache-2.0
"""Is an object file one that may be linked into this process?

LLVM's linker trusts its input: an offset or a name that leads nowhere ends the process.  So what
comes from a file is looked through first, and must be what the compiler makes: code and constants
of one function, which refers to functions of the C library alone.  What the instructions do cannot
be told; a cache is code, and is trusted as such.  ELF is checked to the last relocation; of Mach-O
and COFF the header, and that sections and symbols lie in the file.  Imports no compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from struct import Struct

from ..target import architecture as architecture_of

ELF_HEADER = Struct("<16sHHIQQQIHHHHHH")
ELF_IDENTITY = b"\x7fELF\2\1\1"  # 64 bits, little-endian, version 1
SECTION = Struct("<IIQQQQIIQQ")
SYMBOL = Struct("<IBBHQQ")
RELOCATION = Struct("<QQq")
_NULL, _CODE, _SYMBOLS, _STRINGS, _RELOCATIONS = range(5)
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_NUMBER = 0xFFF1  # the "section" of symbols that are in none
_FLAGS = 0x10000077  # these, mergeable, strings, "info", and x86's "large"
_MOST_SECTIONS = 64
_MOST_ALIGNMENT = 4096
_SECTION_NAME = re.compile(
    rb"(\.rela)?(\.l?(text|rodata|data\.rel\.ro)(\..*)?)|\.(note\.GNU-stack|symtab|strtab|shstrtab)"
)
# Of each machine: its number in ELF files, and the types of relocations with the bytes they change.
# Code that is linked far from what it refers to needs few of them: absolute addresses, and calls
# that the linker makes stubs for.
_MACHINES: dict[str, tuple[int, dict[int, int]]] = {
    "x86_64": (62, {1: 8, 24: 8}),
    "aarch64": (183, {257: 8, 260: 8, 261: 4, 282: 4, 283: 4, **dict.fromkeys(range(263, 270), 4)}),
}
_MACH_TYPES = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
_COFF_MACHINES = {"x86_64": 0x8664, "aarch64": 0xAA64}

# What machine code may refer to: the C library's mathematics, with an f for float32, its memory
# functions, what threads of a kernel wait with, and what compilers put in place of instructions.
_MATHEMATICS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 "
    "expm1 fabs floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 logb modf "
    "nearbyint nextafter pow remainder rint round roundeven scalbn sin sincos sinh sqrt tan tanh "
    "tgamma trunc"
)
_OTHERS = "memcpy memmove memset memcmp bcmp bzero syscall clock_gettime sched_yield __chkstk"
_NAMES = frozenset(
    name.encode()
    for name in (*_OTHERS.split(), *(n + f for n in _MATHEMATICS.split() for f in ("", "f")))
)
_HELPERS = re.compile(rb"__(\w+[hsdtx]f[hsdtx]?f?\d|\w+[dt]i\d|sincosf?_stret|\w*chkstk\w*)")


class _Wrong(Exception):
    """An object file is not what the compiler makes."""


def problem(
    code: bytes, symbol: str, triple: str, is_known: Callable[[str], bool] | None = None
) -> str:
    """What is wrong with an object file that should define `symbol`, for a machine of LLVM's
    name; nothing if all is well.

    is_known tells whether this process has a function that the file refers to.
    """
    try:
        check = _mach_o if _is_apple(triple) else _coff if _is_windows(triple) else _elf
        for name in check(code, symbol.encode(), architecture_of(triple)):
            if name not in _NAMES and not _HELPERS.fullmatch(name):
                raise _Wrong(f"it refers to {name.decode(errors='replace')!r}")
            if is_known is not None and not is_known(name.decode()):
                raise _Wrong(f"this system has no function {name.decode()}")
    except _Wrong as error:
        return f"its object file is none of this compiler's: {error}"
    return ""


def _is_apple(triple: str) -> bool:
    return any(word in triple for word in ("apple", "darwin", "macos")) and "-elf" not in triple


def _is_windows(triple: str) -> bool:
    return "windows" in triple and "-elf" not in triple


def _must(condition: bool, what: str) -> None:
    if not condition:
        raise _Wrong(what)


# ELF

# name, type, flags, address, offset, size, link, info, alignment, entry size
_Section = tuple[int, int, int, int, int, int, int, int, int, int]


def _elf(code: bytes, symbol: bytes, architecture: str) -> list[bytes]:
    """Checks an ELF file; the names of the functions that it refers to."""
    machine, relocations = _MACHINES.get(architecture, (None, None))
    sections, names = _elf_sections(code, machine)
    table = None
    for section in sections[1:]:
        name = _string(names, section[0])
        if _SECTION_NAME.fullmatch(name) is None:
            raise _Wrong(f"it has a section {name.decode(errors='replace')!r}")
        if section[1] == _SYMBOLS:
            _must(table is None, "it has two tables of symbols")
            table = section
    if table is None:
        raise _Wrong("it has no symbols")
    wanted, usable = _elf_symbols(code, sections, table, symbol)
    for section in sections:
        if section[1] == _RELOCATIONS:
            _elf_relocations(code, sections, section, usable, relocations)
    return wanted


def _elf_sections(code: bytes, machine: int | None) -> tuple[list[_Section], bytes]:
    """The sections, each within the file, and the text that their names are in."""
    if len(code) < ELF_HEADER.size or not code.startswith(ELF_IDENTITY):
        raise _Wrong("it is no ELF file of 64 bits")
    header = ELF_HEADER.unpack_from(code)
    _, kind, found, _, _, programs, start, *_, size, number, names = header
    _must(kind == 1 and programs == 0, "it is no relocatable file")
    _must(machine is None or found == machine, f"it is for machine {found}, not {machine}")
    end = start + SECTION.size * number
    fits = size == SECTION.size and start % 8 == 0 and start >= ELF_HEADER.size
    _must(fits and 0 < number <= _MOST_SECTIONS and end <= len(code), "its table of sections")
    sections = list(SECTION.iter_unpack(code[start:end]))
    _must(not any(sections[0]), "its first section")
    for section in sections[1:]:
        _check_section(section, number, len(code))
    # This bounds what linking allocates: sections that overlap could ask for far more than the file
    # has.
    _must(sum(section[5] for section in sections) <= len(code), "its sections' sizes")
    _must(0 < names < number and sections[names][1] == _STRINGS, "its names of sections")
    return sections, _content(code, sections[names])


def _check_section(section: _Section, number: int, end: int) -> None:
    _, kind, flags, address, offset, size, link, _, alignment, entry = section
    _must(_CODE <= kind <= _RELOCATIONS, f"a section has type {kind:#x}")
    _must(flags & ~_FLAGS == 0 and address == 0, f"a section has flags {flags:#x}")
    _must(offset + size <= end and link < number, "a section is not in the file")
    well = alignment & (alignment - 1) == 0 and alignment <= _MOST_ALIGNMENT
    _must(well, f"a section is aligned to {alignment}")
    sizes = {_SYMBOLS: SYMBOL.size, _RELOCATIONS: RELOCATION.size}
    if kind in sizes:
        fits = entry == sizes[kind] and size % entry == 0 and offset % 8 == 0
        _must(fits and flags & _ALLOC == 0, "a table's size")
    elif kind == _CODE:
        _must(entry == 0 or (entry <= 4096 and size % entry == 0), "the size of constants")
        _must(flags & (_WRITE | _EXECUTE) != _WRITE | _EXECUTE, "its code can be written")


def _content(code: bytes, section: _Section) -> bytes:
    text = code[section[4] : section[4] + section[5]]
    _must(section[1] == _STRINGS and text[-1:] == b"\0", "its names have no end")
    return text


def _string(text: bytes, start: int) -> bytes:
    _must(start < len(text), "a name is not in the file")
    return text[start : text.index(b"\0", start)]


def _elf_symbols(
    code: bytes, sections: list[_Section], table: _Section, symbol: bytes
) -> tuple[list[bytes], list[bool]]:
    """Names that are wanted of others, and which symbols stand for a place in memory.

    Only `symbol` is defined for others.
    """
    offset, size = table[4], table[5]
    names = _content(code, sections[table[6]])
    symbols = list(SYMBOL.iter_unpack(code[offset : offset + size]))
    _must(bool(symbols) and not any(symbols[0]), "its first symbol")
    wanted, defined = [], []
    for number, (start, info, other, place, value, length) in enumerate(symbols[1:], 1):
        name, kind, binding = _string(names, start), info & 15, info >> 4
        # ELF has local symbols first; `info` of the table says where the others begin.
        _must(binding == (number >= table[7]), "the order of its symbols")
        _must(other & 0x7C == 0 and kind <= 4, f"a symbol has type {kind}")
        if place == 0 and binding:
            _must(kind == 0 and value == 0, "a symbol without a place")
            wanted.append(name)
        elif place == _NUMBER:
            _must(kind == 4 and not binding and value == 0, "a symbol that is a number")
        else:
            _must(0 < place < len(sections) and kind <= 3, "a symbol without a section")
            section = sections[place]
            _must(section[1] == _CODE and value + length <= section[5], "a symbol's place")
            if binding:
                _must(kind == 2 and bool(section[2] & _EXECUTE), "what it defines is no function")
                _must(length > 0, "its function is empty")
                defined.append(name)
    # One more might be found in place of a function that others refer to.
    _must(defined == [symbol], f"it does not define {symbol.decode()!r} alone")
    return wanted, [False, *(each[3] != _NUMBER for each in symbols[1:])]


def _elf_relocations(
    code: bytes,
    sections: list[_Section],
    table: _Section,
    usable: list[bool],
    types: dict[int, int] | None,
) -> None:
    """Every relocation is of a known type, changes bytes of its section and names a symbol."""
    offset, size, link, target = table[4], table[5], table[6], table[7]
    _must(sections[link][1] == _SYMBOLS and target < len(sections), "what relocations refer to")
    _must(sections[target][1] == _CODE, "relocations of what is no code")
    end = sections[target][5]
    for place, info, addend in RELOCATION.iter_unpack(code[offset : offset + size]):
        width = 8 if types is None else types.get(info & 0xFFFFFFFF)
        symbol = info >> 32
        # A place outside of its section is what ends a process: the linker writes there.
        fits = width is not None and place + width <= end and abs(addend) <= len(code)
        if not fits or symbol >= len(usable) or not usable[symbol]:
            raise _Wrong(f"a relocation of type {info & 0xFFFFFFFF} at {place:#x}")


# Mach-O and COFF

_MACH_HEADER = Struct("<IiiIIIII")
_SEGMENT = Struct("<II16sQQQQiiII")
_MACH_SECTION = Struct("<16s16sQQIIIIIIII")
_MACH_SYMTAB = Struct("<IIIIII")
_COFF_HEADER = Struct("<HHIIIHH")
_COFF_SECTION = Struct("<8sIIIIIIHHI")


def _mach_o(code: bytes, symbol: bytes, architecture: str) -> list[bytes]:
    """Checks the structure of a Mach-O object file."""
    _must(len(code) >= _MACH_HEADER.size, "it is no Mach-O file")
    magic, machine, _, kind, count, size, *_ = _MACH_HEADER.unpack_from(code)
    _must(magic == 0xFEEDFACF and kind == 1, "it is no relocatable Mach-O file of 64 bits")
    _must(machine == _MACH_TYPES.get(architecture, machine), f"it is for machine {machine:#x}")
    _must(_MACH_HEADER.size + size <= len(code), "its commands are not in the file")
    at, end = _MACH_HEADER.size, _MACH_HEADER.size + size
    for _ in range(count):
        _must(at + 8 <= end, "its commands are not in the file")
        command, length = (int.from_bytes(code[p : p + 4], "little") for p in (at, at + 4))
        _must(length >= 8 and length % 8 == 0 and at + length <= end, "a command's size")
        for start, bytes_ in _mach_extents(code, command, at, length):
            _must(start + bytes_ <= len(code), "a section is not in the file")
        at += length
    _must(b"\0_" + symbol + b"\0" in code, f"it does not define {symbol.decode()!r}")
    return []


def _mach_extents(code: bytes, command: int, at: int, length: int) -> Iterator[tuple[int, int]]:
    """Where a command says that things are in the file: offset and size."""
    if command == 0x19:
        _must(length >= _SEGMENT.size, "a segment's size")
        *_, offset, size, _, _, count, _ = _SEGMENT.unpack_from(code, at)
        yield offset, size
        _must(_SEGMENT.size + count * _MACH_SECTION.size <= length, "a segment's size")
        for number in range(count):
            place = at + _SEGMENT.size + number * _MACH_SECTION.size
            section = _MACH_SECTION.unpack_from(code, place)
            yield section[4], section[3]
            yield section[6], 8 * section[7]
    elif command == 2:
        _must(length >= _MACH_SYMTAB.size, "the size of its symbols")
        _, _, symbols, count, strings, size = _MACH_SYMTAB.unpack_from(code, at)
        yield symbols, 16 * count
        yield strings, size


def _coff(code: bytes, symbol: bytes, architecture: str) -> list[bytes]:
    """Checks the structure of a COFF object file."""
    _must(len(code) >= _COFF_HEADER.size, "it is no COFF file")
    machine, count, _, symbols, number, optional, _ = _COFF_HEADER.unpack_from(code)
    _must(machine == _COFF_MACHINES.get(architecture, machine), f"it is for machine {machine:#x}")
    _must(optional == 0 and 0 < count <= _MOST_SECTIONS, "it is no COFF object file")
    _must(_COFF_HEADER.size + count * _COFF_SECTION.size <= len(code), "its table of sections")
    _must(symbols + 18 * number + 4 <= len(code), "its symbols are not in the file")
    for index in range(count):
        place = _COFF_HEADER.size + index * _COFF_SECTION.size
        _, _, _, size, start, relocations, _, many, _, _ = _COFF_SECTION.unpack_from(code, place)
        _must(start == 0 or start + size <= len(code), "a section is not in the file")
        _must(relocations + 10 * many <= len(code), "relocations are not in the file")
    _must(symbol + b"\0" in code, f"it does not define {symbol.decode()!r}")
    return []
