# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache warm` and `cache export-library`: kernels that are there before programs are.

Exit codes as for the other commands on the cache.  What is compiled say jit/runtime/warming.py and
cli/everyday.py.
Imports typer and rich.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..engine import settings
from ..engine.printable import say
from ..engine.record_class import record
from ..jit import host, target, threads
from ..jit.cache import shipped, store
from ..jit.kernel.ir import Kernel
from ..jit.library.library_kernel import LibraryKernel
from ..jit.library.vectors import BYTES
from ..jit.report.plan_text import counted, size_text
from .cache import JSON, app, fail, print_json

DTYPES = typer.Option(
    ["float32", "float64"],
    "--dtype",
    metavar="DTYPE",
    help=f"Numbers: {', '.join(BYTES)}; may be repeated.",
)
JOBS = typer.Option(0, "--jobs", "-j", min=0, help="Processes that compile; 0: one for each core.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print nothing if all goes well.")
NATIVE = "native"
_LEVELS = ", ".join(target.LEVELS)


@record(frozen=True, slots=True)
class Warmed:
    """What was done for one target: kernels compiled, with the bytes of their object files, and
    those that were there."""

    target: str
    compiled: int
    known: int
    bytes: int
    seconds: float


@app.command("warm")
def warm(
    targets: list[str] = typer.Option(
        [],
        "--target",
        metavar="PROCESSOR",
        help=f"Compile for another processor: {_LEVELS}, another name of LLVM's, or what "
        "`numbaflow info --target` prints there; may be repeated.",
    ),
    dtypes: list[str] = DTYPES,
    jobs: int = JOBS,
    quiet: bool = QUIET,
    as_json: bool = JSON,
) -> None:
    """Compile the library and what everyday programs need, so that programs compile little."""
    from ..jit.runtime import warming

    _check_dtypes(dtypes)
    done = []
    for text in targets or [""]:
        with _aimed_at(text):
            done.append(_warm(text, dtypes, jobs, quiet or as_json)[0])
            if "float32" in dtypes:
                warming.note_done()
            if not quiet and not as_json:
                say(_report(done[-1]))
    if as_json:
        print_json([asdict(each) for each in done])


@app.command("export-library")
def export_library(
    folder: Path = typer.Argument(help="Where files are written, one for each target."),
    targets: list[str] = typer.Option(
        ["x86-64-v3", "x86-64-v4", "aarch64"],
        "--target",
        metavar="LEVEL",
        help=f"Of {_LEVELS}, or native: that of this processor; may be repeated.",
    ),
    dtypes: list[str] = DTYPES,
    jobs: int = JOBS,
    quiet: bool = QUIET,
    as_json: bool = JSON,
) -> None:
    """Write the library's machine code to files that packages carry (`make wheel`)."""
    from ..jit.codegen import assembly
    from ..jit.codegen import compile as compiler
    from ..jit.runtime import driver

    _check_dtypes(dtypes)
    is_here = NATIVE in targets
    targets = [_native() if text == NATIVE else text for text in targets]
    unknown = [text for text in targets if text not in target.LEVELS]
    if unknown:
        fail(f"{unknown[0]!r} is no level of processors; there are {_LEVELS}", 2)
    files: dict[str, int] = {}
    for level in targets:
        with _aimed_at(level):
            _, every = _warm(level, dtypes, jobs, quiet or as_json, is_for_others=True)
            path = shipped.path_of(target.current().system, level, folder)
            files[str(path)] = compiler.pack(path, every, assembly.packed(driver.texts()))
            if not quiet and not as_json:
                size = size_text(path.stat().st_size)
                say(f"wrote {counted(files[str(path)], 'kernel')} to {path}, {size}")
    if is_here:
        host.write(folder)
    if as_json:
        print_json([{"file": file, "kernels": count} for file, count in files.items()])


def _native() -> str:
    """The level of the target of the settings."""
    found = target.levels(target.current())
    if not found:
        fail(f"{target.current()} has no level; there are {_LEVELS}: use `numbaflow cache warm`")
    return found[0][0]


def _check_dtypes(dtypes: Sequence[str]) -> None:
    unknown = [name for name in dtypes if name not in BYTES]
    if unknown:
        fail(f"the library is not for {unknown[0]!r}, only for {', '.join(BYTES)}", 2)


@contextmanager
def _aimed_at(text: str) -> Iterator[None]:
    """Compiles for a processor meanwhile."""
    with settings.override(target=text or settings.get("target")):
        aim = target.current()
        try:
            complaints = target.complaints(aim)
        except RuntimeError as error:  # no code generator for such machines
            complaints = str(error)
        if complaints:
            fail(f"LLVM says of the target {text or aim.cpu}: {complaints}", 2)
        yield


def _warm(
    name: str, dtypes: Sequence[str], jobs: int, quiet: bool, is_for_others: bool = False
) -> tuple[Warmed, list[Kernel | LibraryKernel]]:
    """Compiles what is missing for the target of the settings, of such a name; what was done, and
    all kernels.

    Processes compile what has been found while the rest is found: that takes a third as long.
    """
    from ..jit.codegen import compile as compiler

    start = time.perf_counter()
    root = store.folder()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    store.check_owner(root)
    every: dict[str, Kernel | LibraryKernel] = {}
    missing: list[Kernel | LibraryKernel] = []
    sizes: list[int] = []
    with _progress(quiet) as (found, step):

        def wanted() -> Iterator[Kernel | LibraryKernel]:
            for kernel in _kernels(dtypes):
                content = compiler.content_of(kernel)
                # What a kernel calls makes no difference to its own code.
                if content not in every:
                    every[content] = kernel
                    if compiler.absent([kernel], even_shipped=is_for_others):
                        missing.append(kernel)
                        found(len(missing))
                        yield kernel

        def tell(entry: store.Entry, name: str, seconds: float) -> None:
            sizes.append(len(entry.object_code))
            step(f"{name}, {size_text(len(entry.object_code))} in {seconds * 1e3:.0f} ms")

        compiler.store_found(wanted(), tell, (jobs or threads.cores()) - 1)
    left = compiler.absent(missing, even_shipped=is_for_others)
    if left:
        fail(f"{counted(len(left), 'kernel')} could not be kept in {root}")
    seconds = time.perf_counter() - start
    name, known = name or target.current().cpu, len(every) - len(missing)
    return Warmed(name, len(missing), known, sum(sizes), seconds), list(every.values())


def _kernels(dtypes: Sequence[str]) -> Iterator[Kernel | LibraryKernel]:
    """The library, and what everyday programs, which are of float32, have beside it."""
    from ..jit.runtime import warming
    from . import everyday

    yield from warming.all_kernels(dtypes)
    if "float32" in dtypes:
        yield from everyday.kernels()


def _report(done: Warmed) -> str:
    return (
        f"{done.target}: {counted(done.compiled, 'kernel')} compiled in {done.seconds:.1f} s, "
        f"{size_text(done.bytes)}; {done.known} known"
    )


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Shows how far something is: a bar on a terminal, else a line for each part.

    Gives what is told how many parts have been found, and what is told of each that is done.
    """
    console = Console(stderr=True)
    if quiet:
        yield (lambda count: None), (lambda text: None)
    elif not console.is_terminal:
        yield (lambda count: None), (lambda text: typer.echo(text, err=True))
    else:
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        words = TextColumn("{task.description}")
        with Progress(*columns, words, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield (
                lambda count: bar.update(task, total=count),
                lambda text: bar.update(task, advance=1, description=text),
            )
