# SPDX-License-Identifier: Apache-2.0
"""From kernels to addresses of machine code: emit, compile or take from the cache, load.

Numba types and lowers the generated source; LLVM, with passes chosen here, makes one object file of
it, which is cached and loaded with llvmlite alone.  A process that finds every kernel in the cache
never imports Numba.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache as memoize
from typing import Any

from ...engine import gc_pause, stopping
from .. import settings, target
from ..cache import link_journal, object_file, store
from ..kernel.ir import Kernel, digest
from ..kernel.module_source import installed_version, module_source
from ..library.library_kernel import LibraryKernel, namespace
from . import compile_workers, emit, progress


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel in memory; `seconds` is what it took to compile, 0 from the cache.

    `reason` says why it was compiled, where NUMBAFLOW_DEBUG has timing; `made` is when it came into
    this process, by time.perf_counter.
    """

    address: int
    name: str
    key: str
    seconds: float
    from_cache: bool
    source: str
    reason: str = ""
    made: float = 0.0


@dataclass
class Stats:
    """What this process has compiled and taken from the cache so far."""

    compiles: int = 0
    hits: int = 0
    seconds: float = 0.0
    names: list[str] = field(default_factory=list)


STATS = Stats()
# The modules whose text decides what machine code a kernel becomes; a test holds the list against
# what they import.
EMITTER = (
    *("kernel/scalar", "kernel/reference", "target", "library/library_kernel", "library/vectors"),
    *(
        f"codegen/{name}"
        for name in (
            *("emit", "writer", "reductions", "words", "reader", "intrinsics", "addresses"),
            *("llvm_scalar", "transcendental", "coefficients", "numba_target", "library_code"),
            *("llvm", "compile"),
            *("vocabulary", "atomics", "clock", "register_tiles", "sparse_tiles"),
            "window_tiles",
        )
    ),
)
_LOCK = threading.Lock()  # LLVM's objects are not shared
_MAKING = threading.Lock()
_DONE: dict[tuple[str, str], Compiled] = {}
# Tells where a kernel comes from; asked when it is compiled.  Its name and seconds are left empty.
Origin = Callable[[], store.Facts]
Wanted = tuple[Kernel | LibraryKernel, Origin | None]


def compile_kernel(kernel: Kernel | LibraryKernel, origin: Origin | None = None) -> Compiled:
    """The machine code of a kernel; equal kernels are compiled once, by one thread."""
    return compile_kernels([(kernel, origin)])[0]


def compile_kernels(wanted: Sequence[Wanted]) -> list[Compiled]:
    """The machine code of several kernels; many new ones are compiled by several processes."""
    aim = repr(target.current())
    keys = [(_digest(kernel), aim) for kernel, _ in wanted]
    if not all(key in _DONE for key in keys):
        stopping.await_release(_LOCK)
        with _LOCK:
            new = {key: item for key, item in zip(keys, wanted) if key not in _DONE}
            _obtain(new)
    return [_DONE[key] for key in keys]


def source_of(kernel: Kernel | LibraryKernel) -> str:
    """The Python source that is compiled for a kernel."""
    return kernel.text if isinstance(kernel, LibraryKernel) else emit.emit(kernel)


_DIGESTS: dict[Kernel | LibraryKernel, str] = {}


def _digest(kernel: Kernel | LibraryKernel) -> str:
    known = _DIGESTS.get(kernel)
    if known is None:
        if isinstance(kernel, LibraryKernel):
            text = f"{kernel.name}\0{kernel.text}"
            known = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        else:
            known = digest(kernel)
        _DIGESTS[kernel] = known
    return known


def _obtain(wanted: dict[tuple[str, str], Wanted]) -> None:
    """Loads kernels from the cache, or compiles them and puts them there."""
    missing = {}
    root = store.trusted_folder()
    if root is not None:
        link_journal.examine(root, _judge)
    with link_journal.noted(root) as note:
        for key, (kernel, origin) in wanted.items():
            stopping.check()
            labels = labels_of(key[0])
            known = _from_cache(kernel.name, labels, note)
            if known is None:
                missing[_job(kernel, labels)] = key, kernel, labels, origin
            else:
                STATS.hits += 1
                _DONE[key] = known
    for job, code, seconds in _compile(list(missing)):
        stopping.check()
        key, kernel, labels, origin = missing[job]
        facts = origin() if origin else store.Facts()
        facts = replace(facts, name=kernel.name, seconds=seconds, code_bytes=_code_bytes(code))
        source = _header(kernel, facts, target.current().cpu) + job.source
        entry = store.Entry(job.symbol, source, code)
        STATS.compiles += 1
        STATS.seconds += seconds
        STATS.names.append(facts.name)
        reason = _why(labels, entry, facts.name) if "timing" in settings.get("debug") else ""
        problem = _problem(code, job.symbol)
        if problem:
            store.warn_once(f"kernel {facts.name} is not cached: {problem}")
        else:
            store.save(labels, entry, facts)
        _DONE[key] = _loaded(facts.name, labels, entry, seconds, reason)


def _from_cache(name: str, labels: store.Labels, note: Callable[[str], None]) -> Compiled | None:
    """A stored kernel, linked; None if there is none that can be."""
    entry, key = store.load(labels), store.key_of(labels)
    if entry is None:
        return None
    problem = _problem(entry.object_code, entry.symbol, _symbol(key))
    if not problem:
        note(key)
        try:
            return _loaded(name, labels, entry, 0.0)
        except RuntimeError as error:
            problem = f"it cannot be linked: {error}"
    store.reject(key, problem)
    return None


def _symbol(key: str) -> str:
    """The name of the function that the object file of a key defines."""
    return f"kernel_{key}"


def _problem(code: bytes, symbol: str, wanted: str = "") -> str:
    """Why an object file cannot be linked; nothing if it can."""
    if wanted and symbol != wanted:
        return "its manifest names another function"
    return object_file.problem(code, symbol, target.current().triple, _is_function)


@memoize
def _is_function(name: str) -> bool:
    """Whether something in this process has that name."""
    import llvmlite.binding as binding

    _engine()  # making one is what lets LLVM look for names in this process
    return bool(binding.address_of_symbol(name))


def _judge(key: str) -> None:
    """Removes an entry that a process has died of, if another would as well."""
    if store.is_key(key):
        try:
            code = store.read_file(store.folder() / key / "kernel.o")
        except (OSError, ValueError, store.Untrusted):
            return  # gone, or never loaded
        if not link_journal.is_harmless(code, _symbol(key)):
            store.reject(key, "a process died when it was linked")


def _loaded(
    name: str, labels: store.Labels, entry: store.Entry, seconds: float, reason: str = ""
) -> Compiled:
    address = link_object(entry.object_code, entry.symbol)
    key, made = store.key_of(labels), time.perf_counter()
    return Compiled(address, name, key, seconds, seconds == 0.0, entry.source, reason, made)


def _job(kernel: Kernel | LibraryKernel, labels: store.Labels) -> compile_workers.Job:
    source = source_of(kernel)
    if "source" in settings.get("debug"):
        print(source)
    return compile_workers.Job(
        source, _symbol(store.key_of(labels)), isinstance(kernel, LibraryKernel)
    )


def _why(labels: store.Labels, entry: store.Entry, name: str) -> str:
    from ..cache import admin

    return admin.why(labels, entry.source, name)


def _code_bytes(code: bytes) -> int:
    """The bytes of instructions in an object file; the rest links them."""
    import llvmlite.binding as binding

    sections = binding.ObjectFileRef.from_data(code).sections()
    return sum(section.size() for section in sections if section.is_text())


def _header(kernel: Kernel | LibraryKernel, facts: store.Facts, cpu: str) -> str:
    from ..cache.kernel_text import header

    return header(kernel if isinstance(kernel, Kernel) else None, facts, cpu)


def labels_of(content: str) -> store.Labels:
    """The key of a kernel, label by label, given the hash of its content."""
    aim = target.current()
    return (
        ("format", store.FORMAT),
        ("kernel", content),
        ("emitter", _emitter_version()),
        *_versions(),
        ("triple", aim.triple),
        ("cpu", aim.cpu),
        ("features", aim.features),
    )


@memoize
def _versions() -> tuple[tuple[str, str], ...]:
    return tuple((package, installed_version(package)) for package in ("numba", "llvmlite"))


@memoize
def _emitter_version() -> str:
    """A hash of the modules whose text decides what machine code a kernel becomes."""
    text = hashlib.blake2b(digest_size=8)
    jit = __name__.removesuffix(".codegen.compile")
    for name in EMITTER:
        text.update(module_source(f"{jit}.{name.replace('/', '.')}").encode())
    return text.hexdigest()


def _compile(jobs: Sequence[compile_workers.Job]) -> Iterator[compile_workers.Made]:
    if not jobs:
        return
    from . import llvm

    def compile_one(job: compile_workers.Job) -> bytes:
        aim = target.current()
        names = namespace() if job.is_library else None
        return llvm.object_code(llvm.lowered(job.source, job.symbol, aim, names), aim)

    with gc_pause.held_up(), closing(compile_workers.compile_all(jobs, compile_one)) as made:
        yield from progress.shown(made, len(jobs))


def assembly(name: str, source: str, labels: Mapping[str, str]) -> str:
    """The machine code of a stored source in readable form, for the target of its labels."""
    from ..cache.kernel_text import split_header
    from . import llvm

    text = f"{labels['cpu']}:{labels['features']}"
    with settings.override(target=text):
        is_generated = bool(split_header(source)[0])
        names = None if is_generated else namespace()
        aim = target.current()
        return llvm.assembly(llvm.lowered(source, f"kernel_{name}", aim, names), aim)


_ENGINE: list[object] = []


def _engine() -> Any:
    """What links object files into this process, for whoever holds the lock."""
    import llvmlite.binding as binding

    with _MAKING:
        if not _ENGINE:
            machine = target.machine(target.current(), opt=0)
            _ENGINE.append(binding.create_mcjit_compiler(binding.parse_assembly(""), machine))
        return _ENGINE[0]


def load_object(code: bytes, symbol: str) -> int:
    """Links an object file into this process and returns the address of a symbol."""
    with _LOCK:
        return link_object(code, symbol)


def link_object(code: bytes, symbol: str) -> int:
    """As `load_object`, for callers that hold the lock."""
    import llvmlite.binding as binding

    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise RuntimeError(f"the object file has no function {symbol}")
    return int(address)


def load_assembly(text: str, symbol: str) -> int:
    """Compiles a text of LLVM assembly and links it into this process."""
    import llvmlite.binding as binding

    with _LOCK:
        machine = target.machine(target.current(), opt=2)
        module = binding.parse_assembly(text)
        module.triple = target.current().triple
        return link_object(machine.emit_object(module), symbol)
