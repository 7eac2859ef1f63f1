# SPDX-License-Identifier: Apache-2.0
"""Checksums by the instruction that processors have for them.  Imports llvmlite alone."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .. import target
from .numbers import word
from .words import WORD, Kind, Unfit, Word, function

_INSTRUCTION = "llvm.x86.sse42.crc32.64.64"


def _crc_of_word(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> Any:
    if not target.current().has_checksums:
        raise Unfit("crc_of_word: the processor has no instruction for it")
    given = [word(b, kind, value) for kind, value in zip(kinds, values, strict=True)]
    return b.call(function(b, _INSTRUCTION, WORD, [WORD, WORD]), given)


WORDS = (Word("crc_of_word", 2, lambda *kinds: "int64", _crc_of_word),)
