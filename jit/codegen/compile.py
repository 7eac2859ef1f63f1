# SPDX-License-Identifier: Apache-2.0
"""From kernels to addresses of machine code: emit, compile or take from the cache, load.

Readers of a simple part of Python, or else Numba, type and lower sources; LLVM, with passes chosen
here, makes one object file of each, which is cached and loaded with llvmlite alone.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field, replace
from functools import cache as memoize
from pathlib import Path
from typing import TypeVar

from ...engine import gc_pause, settings, stopping
from ...engine.record_class import record
from .. import isolated, target
from ..cache import link_journal, object_file, shipped, store
from ..kernel.ir import Kernel
from ..kernel.ir_text import digest
from ..kernel.module_source import installed_version, module_source
from ..library import template
from ..library.library_kernel import LibraryKernel
from . import compile_processes, compile_workers, emit, linking, progress


@record(frozen=True, slots=True)
class Compiled:
    """A kernel in memory; `seconds` is what it took to compile, 0 from the cache.

    `written` is its source, or what that is written from once somebody asks; `reason` says why it
    was compiled, where NUMBAFLOW_DEBUG has timing; `made` is when it came into this process, by
    time.perf_counter.
    """

    address: int
    name: str
    key: str
    seconds: float
    from_cache: bool
    written: str | Kernel | LibraryKernel
    reason: str = ""
    made: float = 0.0

    @property
    def source(self) -> str:
        """The Python text that was compiled; nothing of one that was only loaded."""
        return self.written if isinstance(self.written, str) else source_of(self.written)


@record
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
    *("kernel/scalar", "kernel/grain", "kernel/reference", "target"),
    *("library/library_kernel", "library/vectors"),
    *(
        f"codegen/{name}"
        for name in (
            *("emit", "writer", "squares", "reductions", "words", "reader", "intrinsics"),
            *("addresses", "numbers", "library_reader"),
            *("llvm_scalar", "transcendental", "coefficients", "numba_target", "library_code"),
            *("double_angles", "double_logarithm", "two_parts"),
            *("llvm", "llvm_calls", "compile"),
            *("vocabulary", "atomics", "checksums", "clock", "register_tiles", "sparse_tiles"),
            *("window_tiles", "channel_tiles", "fourier_tiles", "row_order"),
        )
    ),
)
_LOCK = threading.Lock()  # LLVM's objects are not shared
_DONE: dict[tuple[str, str], Compiled] = {}
# Of fewer kernels none is worth the time that it takes to start a process.
_FEW = 16
# Tells where a kernel comes from; asked when it is compiled.  Its name and seconds are left empty.
Origin = Callable[[], store.Facts]
Wanted = tuple[Kernel | LibraryKernel, Origin | None]
AnyKernel = TypeVar("AnyKernel", bound=Kernel | LibraryKernel)


def compile_kernel(kernel: Kernel | LibraryKernel, origin: Origin | None = None) -> Compiled:
    """The machine code of a kernel; equal kernels are compiled once, by one thread."""
    return compile_kernels([(kernel, origin)])[0]


def compile_kernels(wanted: Sequence[Wanted]) -> list[Compiled]:
    """The machine code of several kernels; many new ones are compiled by several threads."""
    if not wanted:
        return []
    aim = repr(target.current())
    # The target belongs to the key, as settings may name another one in the middle of a process.
    keys = [(content_of(kernel), aim) for kernel, _ in wanted]
    parts = dict.fromkeys(part for kernel, _ in wanted for part in parts_of(kernel))
    every = [*zip(keys, wanted), *(((content_of(part), aim), (part, None)) for part in parts)]
    # Looked up without the lock first: a plan whose kernels are all there does not wait for another
    # thread's compiling.
    if not all(key in _DONE for key, _ in every):
        with alone():
            _obtain({key: item for key, item in every if key not in _DONE})
    return [_sourced(key, kernel) for key, (kernel, _) in zip(keys, wanted)]


def _sourced(key: tuple[str, str], kernel: Kernel | LibraryKernel) -> Compiled:
    """A kernel that is there, with its source, which is not known of one that is only loaded."""
    known = _DONE[key]
    if not known.written:
        known = _DONE[key] = replace(known, written=kernel)
    return known


def stored_kernels(named: Sequence[tuple[str, str]]) -> list[Compiled | None]:
    """The kernels of these names and contents (`content_of`); None for those that are not in the
    cache and did not come with the package."""
    aim = repr(target.current())
    with alone(), _noting() as note:
        for name, content in named:
            stopping.check()
            if (content, aim) in _DONE:
                continue
            labels = labels_of(content)
            known = _from_package(name, content, None, labels) or _from_cache(name, labels, note)
            if known is not None:
                STATS.hits += 1
                _DONE[content, aim] = known
    return [_DONE.get((content, aim)) for _, content in named]


@contextmanager
def alone() -> Iterator[None]:
    """While it is open nothing else is compiled in this process."""
    stopping.await_release(_LOCK)
    with _LOCK:
        yield


def parts_of(kernel: Kernel | LibraryKernel) -> tuple[LibraryKernel, ...]:
    """The kernels that one calls."""
    return kernel.parts if isinstance(kernel, LibraryKernel) else ()


def compiled_parts(kernel: Kernel | LibraryKernel) -> list[Compiled]:
    """The kernels that one calls, once it has been compiled."""
    aim = repr(target.current())
    return [_DONE[content_of(part), aim] for part in parts_of(kernel)]


def source_of(kernel: Kernel | LibraryKernel) -> str:
    """The Python source that is compiled for a kernel."""
    return kernel.text if isinstance(kernel, LibraryKernel) else emit.emit(kernel)


_DIGESTS: dict[Kernel | LibraryKernel, str] = {}


def content_of(kernel: Kernel | LibraryKernel) -> str:
    """What tells kernels apart: a hash of all that decides on their machine code."""
    known = _DIGESTS.get(kernel)
    if known is None:
        if isinstance(kernel, LibraryKernel):
            known = _shipped_content(kernel) or _content_of_library(kernel)
        else:
            known = digest(kernel)
        _DIGESTS[kernel] = known
    return known


def _content_of_library(kernel: LibraryKernel) -> str:
    text = f"{kernel.name}\0{kernel.text}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _shipped_content(kernel: LibraryKernel) -> str | None:
    """The same of one that the package has brought, whose text need not be written to know it."""
    recipe = kernel.recipe
    for file in _brought() if recipe else ():
        content = file.content_of(f"{_library_version()} {recipe}")
        if content is not None:
            return content
    return None


def _obtain(wanted: dict[tuple[str, str], Wanted]) -> None:
    """Loads kernels from the cache, or compiles them and puts them there."""
    missing = {}
    with _noting() as note:
        for key, (kernel, origin) in wanted.items():
            stopping.check()
            labels = labels_of(key[0])
            known = _from_package(kernel.name, key[0], kernel, labels)
            known = known or _from_cache(kernel.name, labels, note)
            if known is None:
                missing[_job(kernel, labels)] = key, kernel, labels, origin
            else:
                STATS.hits += 1
                _DONE[key] = known
    for job, code, seconds in _compile(list(missing)):
        stopping.check()
        key, kernel, labels, origin = missing[job]
        entry, reason = _kept(kernel, labels, origin, (job, code, seconds))
        _DONE[key] = _loaded(kernel.name, labels, entry, seconds, reason)


@contextmanager
def _noting() -> Iterator[Callable[[str], None]]:
    """What notes the kernels that are linked: an object file of which a process dies is known to
    the next one (jit/cache/link_journal.py)."""
    root = store.trusted_folder()
    if root is not None:
        link_journal.examine(root, _judge)
    with link_journal.noted(root) as note:
        yield note


def _kept(
    kernel: Kernel | LibraryKernel,
    labels: store.Labels,
    origin: Origin | None,
    made: compile_workers.Made,
) -> tuple[store.Entry, str]:
    """Puts what was compiled into the cache; the entry, and why it was compiled."""
    job, code, seconds = made
    facts = origin() if origin else store.Facts()
    facts = replace(facts, name=kernel.name, seconds=seconds, code_bytes=_code_bytes(code))
    source = header_of(kernel, facts, target.current().cpu) + job.source
    entry = store.Entry(job.symbol, source, code)
    STATS.compiles += 1
    STATS.seconds += seconds
    STATS.names.append(facts.name)
    reason = _why(labels, entry, facts.name) if "timing" in settings.get("debug") else ""
    # Held to the rules that stored ones are held to: what would be refused when it is read is
    # better not written, and said once.
    problem = problem_of(code, job.symbol)
    if problem:
        store.warn_once(f"kernel {facts.name} is not cached: {problem}")
    else:
        store.save(labels, entry, facts)
    return entry, reason


# Told of every kernel that was compiled: its entry, its name, and the seconds that it took.
Tell = Callable[[store.Entry, str, float], None]


def absent(kernels: Iterable[AnyKernel], even_shipped: bool = False) -> list[AnyKernel]:
    """Those that a program would have to compile; with `even_shipped` those that are not in the
    cache, though the package may have brought them."""
    return [
        kernel
        for kernel in kernels
        # (Where the cache is asked last no file is looked for that is not needed.)
        if (even_shipped or brought(content_of(kernel)) is None)
        and not store.has(labels_of(content_of(kernel)))
    ]


def key_of(kernel: Kernel | LibraryKernel) -> str:
    """The name that a kernel has in the cache, for the target of the settings."""
    return store.key_of(labels_of(content_of(kernel)))


def compile_ahead(kernels: Iterable[Kernel]) -> None:
    """Has kernels compiled by threads while this one goes on, if there are cores for that."""
    jobs = [_job(kernel, labels_of(content_of(kernel))) for kernel in kernels]
    compile_workers.here().add(jobs, machine_code)


def keep_ahead(kernels: Iterable[Wanted]) -> None:
    """Puts those of some kernels into the cache that were compiled ahead and never asked for; no
    more are compiled until the process ends."""
    workers = compile_workers.here()
    workers.hold()
    with alone():
        for kernel, origin in kernels:
            labels = labels_of(content_of(kernel))
            made = workers.take(_symbol(store.key_of(labels)))
            if made is not None:
                _kept(kernel, labels, origin, made)


def symbol_of(kernel: Kernel | LibraryKernel) -> str:
    """The name of the function that a kernel's object file defines, for the target of the
    settings."""
    return _symbol(key_of(kernel))


def store_kernels(
    kernels: Iterable[Kernel | LibraryKernel],
    tell: Tell | None = None,
    threads: int | None = None,
) -> None:
    """Compiles kernels into the cache for the target of the settings, which need not be this
    machine's, without loading them."""
    known = [(kernel, labels_of(content_of(kernel))) for kernel in kernels]
    jobs = {_job(kernel, labels): (kernel, labels) for kernel, labels in known}
    with _LOCK:
        for made in _compile(list(jobs), threads):
            _tell_kept(*jobs[made[0]], made, tell)


def store_found(
    kernels: Iterable[Kernel | LibraryKernel], tell: Tell | None, processes: int
) -> None:
    """As `store_kernels`, of kernels that take time to be found: by so many processes meanwhile."""
    jobs: dict[compile_workers.Job, tuple[Kernel | LibraryKernel, store.Labels]] = {}
    new: list[compile_workers.Job] = []
    workers = compile_workers.Workers(processes if isolated.is_supported() else 0)
    with compile_processes.Processes() as others:
        for kernel in kernels:
            labels = labels_of(content_of(kernel))
            new.append(job := _job(kernel, labels))
            jobs[job] = kernel, labels
            if len(jobs) > _FEW:
                workers.add(new, others.machine_code)
                new.clear()
            for made in workers.done():
                _tell_kept(*jobs.pop(made[0]), made, tell)
        for made in workers.compile_all([*jobs], machine_code):
            _tell_kept(*jobs[made[0]], made, tell)


def _tell_kept(
    kernel: Kernel | LibraryKernel,
    labels: store.Labels,
    made: compile_workers.Made,
    tell: Tell | None,
) -> None:
    entry, _ = _kept(kernel, labels, None, made)
    if tell is not None:
        tell(entry, kernel.name, made[2])


def store_source(labels: store.Labels, head: str, source: str, facts: store.Facts) -> None:
    """Compiles a generated kernel of another process into the cache, for the target of the
    settings, given what `labels_of`, `header_of` and `source_of` say of it there."""
    symbol, start = _symbol(store.key_of(labels)), time.perf_counter()
    code = machine_code(compile_workers.Job(source, symbol, False))
    if not problem_of(code, symbol):
        seconds = time.perf_counter() - start
        facts = replace(facts, seconds=seconds, code_bytes=_code_bytes(code))
        store.save(labels, store.Entry(symbol, head + source, code), facts)


def pack(
    path: Path,
    kernels: Iterable[Kernel | LibraryKernel],
    others: Mapping[str, shipped.Object] | None = None,
) -> int:
    """Writes kernels that are in the cache, for the target of the settings, into one file that
    packages carry, and others beside them, by the hashes of their texts; returns how many kernels
    there are."""
    packed, recipes = {}, {}
    for kernel in kernels:
        content = content_of(kernel)
        if isinstance(kernel, LibraryKernel) and kernel.recipe:
            recipes[f"{_library_version()} {kernel.recipe}"] = content
        entry = store.load(labels_of(content))
        if entry is None:
            raise RuntimeError(f"kernel {kernel.name} is not in {store.folder()}")
        packed[content] = shipped.Object(kernel.name, entry.symbol, entry.object_code)
    stated = shipped.facts(_emitter_version(), target.current())
    shipped.write(path, stated, {**packed, **(others or {})}, recipes)
    return len(packed)


def is_shipped() -> bool:
    """Whether this package has brought machine code of the library for the target."""
    return any(True for _ in _brought())


def brought(content: str) -> shipped.Object | None:
    """A kernel's machine code as this package brought it, for a processor like the target."""
    for file in _brought():
        found = file.read(content)
        if found is not None:
            return found
    return None


def _brought() -> Iterator[shipped.Shipped]:
    """The files of the package for processors like the target."""
    for level, aim in target.levels(target.current()):
        file = shipped.opened(level, _emitter_version(), aim)
        if file is not None:
            yield file


def _from_package(
    name: str, content: str, kernel: Kernel | LibraryKernel | None, labels: store.Labels
) -> Compiled | None:
    """A kernel that came with the package, linked; None if there is none that can be."""
    found = brought(content)
    if found is None:
        return None
    problem = problem_of(found.code, found.symbol)
    if not problem:
        try:
            made = _loaded(name, labels, store.Entry(found.symbol, "", found.code))
            return made if kernel is None else replace(made, written=kernel)
        except RuntimeError as error:
            problem = f"it cannot be linked: {error}"
    store.warn_once(f"kernel {name} of the package is not used: {problem}")
    return None


def _from_cache(name: str, labels: store.Labels, note: Callable[[str], None]) -> Compiled | None:
    """A stored kernel, linked; None if there is none that can be."""
    entry, key = store.load(labels), store.key_of(labels)
    if entry is None:
        return None
    problem = problem_of(entry.object_code, entry.symbol, _symbol(key))
    if not problem:
        note(key)
        try:
            return _loaded(name, labels, entry)
        except RuntimeError as error:
            problem = f"it cannot be linked: {error}"
    store.reject(key, problem)
    return None


def _symbol(key: str) -> str:
    """The name of the function that the object file of a key defines."""
    return f"kernel_{key}"


def problem_of(code: bytes, symbol: str, wanted: str = "") -> str:
    """Why an object file cannot be linked; nothing if it can."""
    if wanted and symbol != wanted:
        return "its manifest names another function"
    return object_file.problem(code, symbol, target.current().triple, linking.is_function)


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
    name: str, labels: store.Labels, entry: store.Entry, seconds: float = 0.0, reason: str = ""
) -> Compiled:
    address = linking.link(entry.object_code, entry.symbol)
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


def header_of(kernel: Kernel | LibraryKernel | None, facts: store.Facts, cpu: str) -> str:
    """The comments above a kernel's source in the cache."""
    from ..cache.kernel_text import header

    return header(kernel if isinstance(kernel, Kernel) else None, facts, cpu)


def labels_of(content: str) -> store.Labels:
    """The key of a kernel, label by label, given the hash of its content."""
    return (*common_labels(content), *target_labels())


def target_labels() -> store.Labels:
    """Those labels that tell what is compiled for."""
    aim = target.current()
    return (("triple", aim.triple), ("cpu", aim.cpu), ("features", aim.features))


def common_labels(content: str) -> store.Labels:
    """Those labels that do not tell what the kernel is compiled for."""
    return (
        # Labels rather than one hash: they are stored beside the kernel, so that a miss can be
        # explained by the labels that differ (`numbaflow cache explain`).
        ("format", store.FORMAT),
        ("kernel", content),
        ("emitter", _emitter_version()),
        *_versions(),
    )


@memoize
def _versions() -> tuple[tuple[str, str], ...]:
    return tuple((package, installed_version(package)) for package in ("numba", "llvmlite"))


@memoize
def _emitter_version() -> str:
    """A hash of the modules whose text decides what machine code a kernel becomes."""
    return _hash_of(EMITTER)


@memoize
def _library_version() -> str:
    """The same of those whose text decides what a kernel of the library says."""
    return _hash_of([f"library/{name}" for name in template.modules()])


def _hash_of(modules: Iterable[str]) -> str:
    text = hashlib.blake2b(digest_size=8)
    jit = __name__.removesuffix(".codegen.compile")
    for name in modules:
        text.update(module_source(f"{jit}.{name.replace('/', '.')}").encode())
    return text.hexdigest()


def _compile(
    jobs: Sequence[compile_workers.Job], threads: int | None = None
) -> Iterator[compile_workers.Made]:
    """Object files of jobs; threads: so many compile, this one among them."""
    if not jobs:
        return
    workers = compile_workers.here() if threads is None else compile_workers.Workers(threads - 1)
    made = workers.compile_all(jobs, machine_code)
    with gc_pause.held_up(), closing(made):
        # Who says how many threads are to compile tells of it himself.
        yield from progress.shown(made, len(jobs)) if threads is None else made


def machine_code(job: compile_workers.Job) -> bytes:
    """The object file of a source, for the target of the settings."""
    from . import llvm

    aim = target.current()
    return llvm.object_code(llvm.lowered(job.source, job.symbol, aim, job.is_library), aim)


def load_object(code: bytes, symbol: str) -> int:
    """Links an object file into this process and returns the address of a symbol."""
    with _LOCK:
        return linking.link(code, symbol)
