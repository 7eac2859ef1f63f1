# SPDX-License-Identifier: Apache-2.0
"""Hashes of many texts at once: TensorFlow's Hash64, SipHash-2-4 and FarmHash's Fingerprint64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import hashes_kernels
from .hashes_kernels import LONGEST
from .library_kernel import LibraryKernel
from .template import specialise

__all__ = ["LONGEST", "closed", "fingerprints", "murmurs", "sips"]

# Of texts their bytes and places; hashes, and how many are left.
_BUFFERS = ["uint8", "int64", "int64", "int64"]


@cache
def murmurs() -> LibraryKernel:
    """TensorFlow's Hash64."""
    return specialise("hash_murmur", hashes_kernels.murmurs).over(_BUFFERS)


@cache
def sips() -> LibraryKernel:
    """SipHash-2-4 under a key."""
    return specialise("hash_sip", hashes_kernels.sips).over(_BUFFERS)


@cache
def fingerprints() -> LibraryKernel:
    """FarmHash's Fingerprint64."""
    kernel = specialise("hash_farm", hashes_kernels.fingerprints)
    return kernel.over(_BUFFERS)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels, which know no dtypes of programs."""
    yield from (murmurs(), sips(), fingerprints())
