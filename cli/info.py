# SPDX-License-Identifier: Apache-2.0
"""`numbaflow info`: versions, the processor that is compiled for, threads, the cache folder.

Imports typer.
"""

from __future__ import annotations

import typer

from ..engine.interface.public import NUMBAFLOW_VERSION
from .cache import print_facts, print_json


def info(
    target: bool = typer.Option(
        False, "--target", help="Print the processor only, as `compile --target` takes it."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show versions, the compile target, threads and the cache folder."""
    from ..jit.target import current

    if target:
        print(current().text)
    elif as_json:
        print_json(_facts() | {"target": current().text})
    else:
        print_facts(_facts())


def _facts() -> dict[str, str]:
    import platform

    # Field by field: for all of them, or platform.platform(), Python would run `uname`.
    system = platform.uname()
    name = f"{system.system}-{system.release}-{system.machine}"
    facts = {"python": platform.python_version(), "platform": name}
    for package in ("numbaflow", "numpy", "numba", "llvmlite", "scipy", "protobuf"):
        facts[package] = version_of(package)
    return facts | _compiler_facts()


def _compiler_facts() -> dict[str, str]:
    from ..engine import settings
    from ..jit import target, threads
    from ..jit.cache import store

    aim = target.current()
    try:
        kept = f"{len(store.entries())} kernels"
    except OSError as error:
        kept = f"cannot be read: {error.strerror}"
    return {
        "target": f"{aim.cpu} ({aim.triple}), {aim.vector_bits}-bit vectors",
        "threads": str(threads.count()),
        "jit": str(settings.get("jit")),
        "cache": f"{settings.get('cache')} ({kept})",
    }


def version_of(package: str) -> str:
    """The installed version of a package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return NUMBAFLOW_VERSION if package == "numbaflow" else "not installed"
