# SPDX-License-Identifier: Apache-2.0
"""Every setting: one table, read from the environment, overridable in process.

`settings.get("jit")` reads; `with settings.override(jit="never"): …` changes it for the current
thread (another one begins with the environment's, unless it runs in a copy of this one's context).
Imports nothing from the package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .record_class import record


@record(frozen=True, slots=True)
class Setting:
    """One knob; `affects_code` says that generated code depends on it, so the cache key has it."""

    name: str
    variable: str
    default: str
    parse: Callable[[str], Any]
    help: str
    affects_code: bool = False


def _mode(text: str) -> str:
    if text not in ("auto", "always", "never"):
        raise ValueError(f"NUMBAFLOW_JIT is {text!r}; it must be auto, always or never")
    return text


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def _folder(text: str) -> Path:
    if text:
        return Path(text).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(base).expanduser() / "numbaflow"
    except RuntimeError:  # this user has no home
        import tempfile

        return Path(tempfile.gettempdir()) / f"numbaflow-{os.getuid()}"


def _count(text: str) -> int:
    count = int(text or 0)
    if count < 0:
        raise ValueError(f"NUMBAFLOW_THREADS is {count}; it must be 0 (all cores) or positive")
    return count


def _trust(text: str) -> str:
    if text not in ("all", "graph"):
        raise ValueError(f"NUMBAFLOW_TRUST is {text!r}; it must be all or graph")
    return text


def _traceback(text: str) -> str:
    if text not in ("short", "full"):
        raise ValueError(f"NUMBAFLOW_TRACEBACK is {text!r}; it must be short or full")
    return text


def _gpu(text: str) -> str:
    kind, _, count = text.partition(":")
    if kind not in ("auto", "none", "emulated") or (count and not count.isdigit()):
        raise ValueError(
            f"NUMBAFLOW_GPU is {text!r}; it must be auto, none, emulated or emulated:2"
        )
    return text


def _switch(text: str) -> bool:
    return text not in ("", "0")


TABLE: tuple[Setting, ...] = (
    Setting("jit", "NUMBAFLOW_JIT", "auto", _mode, "when graphs are compiled: auto, always, never"),
    Setting(
        "debug",
        "NUMBAFLOW_DEBUG",
        "",
        _words,
        "what to print: graph, ir, passes or their names, fused, schedule, source, timing",
    ),
    Setting("cache", "NUMBAFLOW_CACHE", "", _folder, "folder of compiled kernels"),
    Setting("threads", "NUMBAFLOW_THREADS", "0", _count, "threads of a large kernel; 0: all cores"),
    Setting(
        "target",
        "NUMBAFLOW_TARGET",
        "",
        str,
        "processor to compile for: a name of LLVM's, or name:+feature,-feature; empty: this one",
        affects_code=True,
    ),
    Setting(
        "gpu",
        "NUMBAFLOW_GPU",
        "auto",
        _gpu,
        "GPUs that sessions use: auto (those there are), none, or emulated, emulated:2 …",
    ),
    Setting(
        "tf32",
        "NUMBAFLOW_TF32",
        "0",
        _switch,
        "1: products of float32 on GPUs may round their factors to TF32, for speed",
    ),
    Setting(
        "warm",
        "NUMBAFLOW_WARM",
        "1",
        _switch,
        "1: a process in the background compiles the library, once, when a program has compiled",
    ),
    Setting(
        "trust",
        "NUMBAFLOW_TRUST",
        "all",
        _trust,
        "what imported graphs may do: all, or graph (compute, but touch no files and no Python)",
    ),
    Setting(
        "fsync",
        "NUMBAFLOW_FSYNC",
        "0",
        _switch,
        "1: files are forced to the disk before they get their names; 0: the system decides when",
    ),
    Setting(
        "traceback",
        "NUMBAFLOW_TRACEBACK",
        "short",
        _traceback,
        "what errors show: short, the program's own lines, or full, all frames",
    ),
    Setting(
        "cluster",
        "NUMBAFLOW_CLUSTER",
        "",
        str,
        "folder of the token and certificates that tasks of clusters show each other; empty: none",
    ),
)
_BY_NAME = {setting.name: setting for setting in TABLE}
_OVERRIDES: ContextVar[dict[str, Any]] = ContextVar("numbaflow_settings")
_PARSED: dict[tuple[str, str], Any] = {}


def get(name: str) -> Any:
    """The value of a setting: the innermost override, else the environment, else the default."""
    overrides = _OVERRIDES.get({})
    if name in overrides:
        return overrides[name]
    setting = _BY_NAME[name]
    text = os.environ.get(setting.variable, setting.default)
    key = (name, text)
    if key not in _PARSED:
        _PARSED[key] = setting.parse(text)
    return _PARSED[key]


@contextmanager
def override(**values: Any) -> Iterator[None]:
    """Replaces settings within a block; values as `get` returns them, or as text."""
    parsed = {
        name: _BY_NAME[name].parse(value) if isinstance(value, str) else value
        for name, value in values.items()
    }
    token = _OVERRIDES.set({**_OVERRIDES.get({}), **parsed})
    try:
        yield
    finally:
        _OVERRIDES.reset(token)


def mode(config: Any = None) -> str:
    """When to compile: a ConfigProto's global_jit_level (off: never, on: always), else `jit`."""
    if config is not None:
        level = int(config.graph_options.optimizer_options.global_jit_level)
        if level:
            return "never" if level < 0 else "always"
    return str(get("jit"))
