# SPDX-License-Identifier: Apache-2.0
"""Classes that stand for all others in a loss over very many: drawn after some law.

They are those of the reference kernels, which are TensorFlow's, to the last places of exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import candidates_kernels as kernels
from .library_kernel import LibraryKernel
from .random import PhiloxReservation
from .template import specialise

_OPERATIONS = 200  # of a draw
# By law: what draws, and the dtype of its table, if it has one.
_LAWS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "uniform": (kernels.uniform, ()),
    "log_uniform": (kernels.log_uniform, ("float64",)),
}


def drawn_classes(
    b: Any,
    op: Any,
    law: str,
    tables: Sequence[Any],
    count: int,
    size: int,
    skewed: int,
    unique: bool,
    stream: Any,
) -> tuple[Any, Any]:
    """So many of `size` classes (int64), and how many draws that took (an int64 vector of one).

    tables: values, as the law's docstring says.  skewed: numbers below do not count.  unique: no
    class twice.  stream: of a kernel context, as for philox_uniform.
    """
    bits = (2 * count - 1).bit_length() if unique else 0
    found, tries = b.call(
        _kernel(law),
        list(tables),
        [((count,), "int64"), ((1,), "int64")],
        [count, bits, size, skewed],
        scratch=8 << bits if bits else 0,
        reserve=PhiloxReservation(op, stream, count),
        operations=_OPERATIONS * count,
    )
    return found, tries


def _kernel(law: str) -> LibraryKernel:
    draw, tables = _LAWS[law]
    out = len(tables)
    return specialise(f"candidates_{law}", kernels.draw, SAMPLE=draw, OUT=out, TRIES=out + 1)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """One kernel for each law."""
    for law, (_, tables) in _LAWS.items():
        yield _kernel(law).over([*tables, "int64", "int64"])
