# SPDX-License-Identifier: Apache-2.0
"""Is what the cache has of a GPU's kernel something that its driver may be given?

It is machine code of NVIDIA's (an ELF file), or PTX, its assembly language, which the driver
compiles; or it says why there is no such kernel.  Imports no compiler.
"""

from __future__ import annotations

from struct import Struct

TRIPLE = "nvptx64-nvidia-cuda"
# How the note begins that a kernel needs what a GPU has not.
NO_KERNEL = b"no kernel of a GPU: "

_HEADER = Struct("<16sHHIQQQIHHHHHH")
_IDENTITY = b"\x7fELF\2\1\1"  # 64 bits, little-endian, version 1
_SECTION = Struct("<IIQQQQIIQQ")
_MACHINE = 190  # NVIDIA's GPUs
_EMPTY = 8  # the type of sections that have no bytes in the file
_MOST_SECTIONS = 256


class _Wrong(Exception):
    """It is not what is kept of a kernel."""


def is_of_gpu(triple: str) -> bool:
    """Whether a machine of LLVM's name is a GPU."""
    return triple.startswith("nvptx")


def is_machine_code(code: bytes) -> bool:
    """Whether it is no text."""
    return code.startswith(_IDENTITY)


def problem(code: bytes, symbol: str) -> str:
    """What is wrong with the code of a kernel that should define `symbol`; nothing if all is
    well."""
    if code.startswith(NO_KERNEL):
        return ""
    try:
        if is_machine_code(code):
            names = _section_names(code)
            if b".text." + symbol.encode() not in names:
                raise _Wrong(f"it has no kernel {symbol}")
        elif f".entry {symbol}(" not in code.decode("ascii"):
            raise _Wrong(f"it has no entry {symbol}")
    except (_Wrong, UnicodeDecodeError) as error:
        return f"its code is none of a GPU's: {error}"
    return ""


def _section_names(code: bytes) -> list[bytes]:
    """The names of an ELF file's sections, all of which lie in it."""
    if len(code) < _HEADER.size:
        raise _Wrong("it ends early")
    fields = _HEADER.unpack_from(code)
    machine, start, size, count, names = fields[2], fields[6], *fields[11:14]
    if machine != _MACHINE or size != _SECTION.size or not 0 < count <= _MOST_SECTIONS:
        raise _Wrong("its header is another")
    if names >= count or start + count * size > len(code):
        raise _Wrong("its sections lie elsewhere")
    sections = [_SECTION.unpack_from(code, start + n * size) for n in range(count)]
    if any(s[1] != _EMPTY and s[4] + s[5] > len(code) for s in sections):
        raise _Wrong("its sections lie elsewhere")
    text = code[sections[names][4] :][: sections[names][5]]
    return [text[section[0] :].partition(b"\0")[0] for section in sections]
