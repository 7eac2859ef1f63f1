# SPDX-License-Identifier: Apache-2.0
"""Checks that are off in production are on in tests: kernels obey the rules of their IR."""

from __future__ import annotations

import gc
import itertools
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest

from numbaflow.jit.cache import shipped
from numbaflow.jit.kernel import verify_kernel

from . import drawing, purity
from .jit import checked

verify_kernel.enabled = True
# Runs any tests with kernels among guards, see jit/runtime/guards.py: "bytes" or "pages".
verify_kernel.guards = os.environ.get("NUMBAFLOW_TEST_GUARDS", "")
# Runs the bytecode of whatever kernels tests run, too, and compares: see checked.py.
if os.environ.get("NUMBAFLOW_TEST_EVALUATED"):
    checked.install()
# Whoever reads a failing test wants to see our frames.
os.environ.setdefault("NUMBAFLOW_TRACEBACK", "full")
# A checkout may have machine code of the library, or none: tests see what they compile.
shipped._FOLDER = Path(__file__) / "none"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--deep` runs what takes minutes, too."""
    parser.addoption("--deep", action="store_true", help="also run tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    """What tests draw is decided before they are imported."""
    drawing.load(config.getoption("--deep"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m pure` imports only files that have such tests: what the others begin with takes time."""
    named = any(".py" in argument for argument in config.args)
    if named or config.option.markexpr not in purity.NEEDS or collection_path.suffix != ".py":
        return None
    marked = f"mark.{config.option.markexpr}"
    return marked not in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves deep tests out unless they are asked for."""
    purity.distribute(items)
    if config.getoption("--deep"):
        return
    deep = [item for item in items if item.get_closest_marker("deep")]
    config.hook.pytest_deselected(items=deep)
    items[:] = [item for item in items if not item.get_closest_marker("deep")]


def pytest_collection_finish() -> None:
    """Modules and tests last as long as the session: the collector need not look at them again.

    Nor need it look as often as it does by default.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_sessionfinish() -> None:
    """One look for what nobody closed; pytest takes five, at all that there is."""
    gc.collect()
    gc.freeze()


_FOLDERS = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of the test's own; pytest's own fixture looks through all of them for a number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_FOLDERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Fixtures do no more than their test, and draw what they drew before."""
    drawing.begin(item.nodeid, item.config.getoption("--deep"))
    yield from _kept_quiet(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test does no more than its marker says."""
    yield from _kept_quiet(item)


def _kept_quiet(item: pytest.Item) -> Generator[None, None, None]:
    marker = next((name for name in purity.QUIET if item.get_closest_marker(name)), None)
    if marker is None:
        yield
        different, checked.DIFFERENT[:] = list(checked.DIFFERENT), []
        assert not different, different[0]
        return
    with purity.kept_quiet(item.nodeid, marker):
        yield
