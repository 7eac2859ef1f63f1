# SPDX-License-Identifier: Apache-2.0
"""Many small tensors of a bundle at once: what its index says of them, and their bytes.

Keys are numbers of elements and components, as caches of datasets have them.  Only the usual form
is read: whoever meets another reads tensor by tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from .. import target
from . import bundles_kernels
from .bundles_kernels import LONGEST_KEY, MOST, SIZES, WIDTH
from .library_kernel import LibraryKernel
from .template import specialise

__all__ = ["LONGEST_KEY", "MOST", "SIZES", "WIDTH", "closed", "entries", "numbers", "texts"]


@cache
def entries() -> LibraryKernel:
    """Reads the entries of a block of an index."""
    kernel = specialise("bundle_entries", bundles_kernels.entries)
    return kernel.over(["uint8", "uint8", "int64", "int64"])


@cache
def _checked(name: str, aim: target.Target) -> LibraryKernel:
    function: Callable[..., None] = getattr(bundles_kernels, name)
    kernel = specialise(f"bundle_{name}", function, HARDWARE=aim.has_checksums)
    middle = ["int64"] * (2 if name == "numbers" else 4)
    last = ["uint8", "int64"] if name == "numbers" else ["int64"]
    return kernel.over(["uint8", "int64", *middle, *last])


def numbers() -> LibraryKernel:
    """Puts tensors of one size one behind the other, held against their checksums."""
    return _checked("numbers", target.current())


def texts() -> LibraryKernel:
    """Finds the texts of tensors that have as many each, held against their checksums."""
    return _checked("texts", target.current())


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels, which know no dtypes of programs."""
    yield entries()
    yield numbers()
    yield texts()
