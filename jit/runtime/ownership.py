# SPDX-License-Identifier: Apache-2.0
"""Whether a value that a run holds is seen by nobody else, and may be handed on without a copy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..schedule.aligned import ALIGN


def is_alone(known: Any, key: object, more: int = 0) -> bool:
    """Does nothing but known[key], and `more` variables of the caller, refer to an array?

    Nor to its memory.  What nobody else can see is the caller's, whoever made it; so it is with
    batches that iterators and queues give.
    """
    return _references(known, key) == _ALONE + more and _fills_its_memory(known[key])


def _references(known: Any, key: object) -> int:
    """How often a value is referred to, counting references of this call."""
    value = known[key]
    return sys.getrefcount(value)


# So many are there where nothing but the dictionary refers to it.
_ALONE = _references({None: np.empty(0)}, None)


def _fills_its_memory(array: np.ndarray) -> bool:
    """Whether nothing else lies in an array's memory, nor refers to it."""
    memory = array.base
    if memory is None:
        return True
    is_filled = isinstance(memory, np.ndarray) and memory.nbytes - array.nbytes <= ALIGN
    del memory
    return is_filled and _references({None: array.base}, None) == _ALONE + 1
