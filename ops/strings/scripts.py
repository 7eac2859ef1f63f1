# SPDX-License-Identifier: Apache-2.0
"""The script that each Unicode character is of, as numbered by ICU: facts of Unicode 11.

scripts.txt has a line per script: its number, and the ranges of its characters, in hexadecimal.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import numpy as np

# Of a character that belongs to no script; of a number that is no character.
_UNKNOWN, _NO_CHARACTER = 103, -1
_CHARACTERS = 0x110000


@functools.cache
def _table() -> np.ndarray:
    """The script of every character."""
    table = np.full(_CHARACTERS, _UNKNOWN, np.uint8)
    for line in files(__package__).joinpath("scripts.txt").read_text().splitlines():
        script, _, ranges = line.partition(":")
        for text in ranges.split():
            first, _, last = text.partition("-")
            table[int(first, 16) : int(last or first, 16) + 1] = int(script)
    return table


def scripts_of(characters: np.ndarray) -> np.ndarray:
    """The number of the script of each character; -1 for what is none."""
    is_character = (characters >= 0) & (characters < _CHARACTERS)
    found = _table()[np.where(is_character, characters, 0)].astype(np.int32)
    return np.where(is_character, found, np.int32(_NO_CHARACTER))
