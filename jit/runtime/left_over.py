# SPDX-License-Identifier: Apache-2.0
"""What was bytecode to the end of a process, another one compiles when it has ended.

So the next process of the same program finds its kernels in the cache, as if this one had waited
for them.  It is one process, which takes what the processor has to spare, and only of the kernels
that began last.  Imports the compiler.
"""

from __future__ import annotations

import atexit
import base64
import json
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import IO, Any

from ...engine import settings
from .. import isolated, target
from ..cache import store
from ..codegen import compile as compiler
from ..kernel.ir import Kernel
from . import warming

# Kernels, and bytes of them packed together: what a pipe holds, so that nobody waits at the end.
_MOST, _MOST_BYTES = 64, 48_000
_LEFT: dict[Kernel, compiler.Origin | None] = {}


def note(kernels: Iterable[tuple[Kernel, compiler.Origin | None]]) -> None:
    """Remembers kernels that begin as bytecode."""
    if not _LEFT:
        atexit.register(hand_over)
    for kernel, origin in kernels:
        _LEFT.pop(kernel, None)
        _LEFT[kernel] = origin
    for kernel in list(_LEFT)[:-_MOST]:
        del _LEFT[kernel]


def hand_over() -> None:
    """Starts the process that compiles what is still missing, unless there is a reason not to."""
    compiler.keep_ahead((kernel, _LEFT[kernel]) for kernel in compiler.absent(_LEFT))
    missing = compiler.absent(_LEFT)
    if not missing or not warming.may_leave():
        return
    entries = [_entry(kernel, _LEFT[kernel]) for kernel in missing]
    packed = pack(entries)
    while len(packed) > _MOST_BYTES:
        entries = entries[len(entries) // 2 :]
        packed = pack(entries)
    with suppress(OSError):
        isolated.leave(_aside, str(store.folder()), settings.get("target"), packed)


def _entry(kernel: Kernel, origin: compiler.Origin | None) -> list[Any]:
    facts = replace(origin() if origin else store.Facts(), name=kernel.name)
    head = compiler.header_of(kernel, facts, target.current().cpu)
    labels = compiler.labels_of(compiler.content_of(kernel))
    return [labels, head, compiler.source_of(kernel), asdict(facts)]


def pack(entries: list[Any]) -> str:
    """Texts are alike, so little is left of many."""
    return base64.b64encode(zlib.compress(json.dumps(entries).encode())).decode()


def _aside(requests: IO[bytes], replies: IO[bytes]) -> None:
    """What the process in the background runs."""
    folder, wanted, packed = json.loads(requests.readline())
    warming.step_back()
    with settings.override(cache=folder, target=wanted):
        for labels, head, source, facts in json.loads(zlib.decompress(base64.b64decode(packed))):
            if not store.folder().is_dir():
                return
            found = tuple((label, value) for label, value in labels)
            if not store.has(found):
                facts["ops"] = tuple(facts["ops"])
                compiler.store_source(found, head, source, store.Facts(**facts))
