# SPDX-License-Identifier: Apache-2.0
"""Checks that are off in production are on in tests: kernels obey the rules of their IR."""

from __future__ import annotations

import os

import pytest

from numbaflow.jit.kernel import verify_kernel

verify_kernel.enabled = True
# Runs any tests with kernels among guards, see jit/runtime/guards.py: "bytes" or "pages".
verify_kernel.guards = os.environ.get("NUMBAFLOW_TEST_GUARDS", "")
# Whoever reads a failing test wants to see our frames.
os.environ.setdefault("NUMBAFLOW_TRACEBACK", "full")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--deep` runs what takes minutes, too."""
    parser.addoption("--deep", action="store_true", help="also run tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves deep tests out unless they are asked for."""
    if config.getoption("--deep"):
        return
    deep = [item for item in items if item.get_closest_marker("deep")]
    config.hook.pytest_deselected(items=deep)
    items[:] = [item for item in items if not item.get_closest_marker("deep")]
