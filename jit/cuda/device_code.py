# SPDX-License-Identifier: Apache-2.0
"""Machine code of CUDA kernels: taken from the cache, or written, assembled and put there.

The key is a kernel's text and the card's capability.  What a kernel is kept as is what the driver
made for such a card, or PTX where it could not; of one that needs what a GPU has not, a note.  LLVM
is imported when something has to be written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache
from typing import Any, NamedTuple

from ...engine import gc_pause, stopping
from ..cache import device_file, store
from ..cache.device_file import NO_KERNEL
from ..codegen import compile as compiler
from ..codegen import compile_workers, progress
from ..kernel.module_source import module_source
from .cuda_kernel import LIBRARY, Capability, KernelText

# The modules of this folder that decide what PTX a text becomes.
_WRITERS = "device_words", "launching", "own_functions", "ptx"


class Code(NamedTuple):
    """What there is of a kernel, its key in the cache, and the seconds it took (0: from there)."""

    image: bytes
    key: str
    seconds: float

    @property
    def is_none(self) -> bool:
        """Whether the kernel needs what a GPU has not."""
        return self.image.startswith(NO_KERNEL)


def labels_of(kernel: KernelText, capability: Capability) -> store.Labels:
    """The key of a kernel for a card, label by label."""
    content = hashlib.blake2b(f"{kernel.symbol}\0{kernel.source}".encode(), digest_size=16)
    return (
        *compiler.common_labels(content.hexdigest()),
        ("triple", device_file.TRIPLE),
        ("cpu", capability.name),
        ("features", ""),
        ("cuda", version()),
        ("form", kernel.form),
    )


@cache
def version() -> str:
    """A hash of the modules that write PTX; what they import is part of the compiler's."""
    text = hashlib.blake2b(digest_size=8)
    for name in _WRITERS:
        text.update(module_source(f"{__package__}.{name}").encode())
    return text.hexdigest()


def find(kernel: KernelText, capability: Capability) -> Code | None:
    """What the cache has of a kernel; None if nothing that is sound."""
    labels = labels_of(kernel, capability)
    entry, key = store.load(labels), store.key_of(labels)
    if entry is None:
        return None
    problem = device_file.problem(entry.object_code, kernel.symbol)
    if problem:
        store.reject(key, problem)
        return None
    return Code(entry.object_code, key, 0.0)


def written(
    kernels: Iterable[KernelText], capability: Capability
) -> Iterator[tuple[KernelText, bytes, float]]:
    """Kernels with their PTX, or why they have none, and seconds; several threads take part."""
    jobs = {
        compile_workers.Job(k.source, k.symbol, k.form == LIBRARY, capability.name): k
        for k in kernels
    }
    if not jobs:
        return
    made = compile_workers.here().compile_all(list(jobs), write)
    with compiler.alone(), gc_pause.held_up(), closing(made):
        for job, code, seconds in progress.shown(made, len(jobs)):
            stopping.check()
            compiler.STATS.compiles += 1
            compiler.STATS.seconds += seconds
            compiler.STATS.names.append(job.symbol)
            yield jobs[job], code, seconds


def write(job: Any) -> bytes:
    """The PTX of a job of compile_workers, or why there is none."""
    from ..codegen.words import Unfit
    from . import ptx

    form = LIBRARY if job.is_library else ""
    major, minor = job.card.removeprefix("sm_")[:-1], job.card[-1]
    try:
        text = ptx.ptx(KernelText(job.symbol, job.source, form), Capability(int(major), int(minor)))
    except Unfit as error:
        return NO_KERNEL + str(error).encode()
    return text.encode()


def kept(
    kernel: KernelText,
    capability: Capability,
    code: bytes,
    seconds: float,
    assemble: Callable[[bytes], bytes],
) -> Code:
    """Makes what the card takes of PTX, and puts it into the cache.

    assemble: gives machine code for the card, or PTX again.
    """
    labels = labels_of(kernel, capability)
    image = code if code.startswith(NO_KERNEL) else assemble(code)
    facts = store.Facts(name=kernel.form, seconds=seconds, code_bytes=len(image))
    source = compiler.header_of(None, facts, capability.name) + kernel.source
    problem = device_file.problem(image, kernel.symbol)
    if problem:
        store.warn_once(f"kernel {kernel.symbol} is not cached: {problem}")
    else:
        store.save(labels, store.Entry(kernel.symbol, source, image), facts)
    return Code(image, store.key_of(labels), seconds)


def assembly(symbol: str, source: str, labels: dict[str, str]) -> str:
    """The PTX of a stored source."""
    from ..cache.kernel_text import split_header

    text = split_header(source)[1]
    job = compile_workers.Job(text, symbol, labels["form"] == LIBRARY, labels["cpu"])
    return write(job).decode()
