# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.framework.test_util`: decorators of tests, for graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...engine.interface.test_modes import (
    run_all_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes,
)
from ...engine.interface.test_modes import (
    run_in_graph_and_eager_modes as run_in_graph_and_eager_modes,
)
from ...engine.interface.testing import *  # noqa: F403
from ...engine.interface.testing import TestCase

TensorFlowTestCase = TestCase


def _as_it_is(description: Any = None, **unused: Any) -> Any:
    """A decorator, with or without arguments, of what runs in graphs alone."""
    del unused
    return description if callable(description) else lambda thing: thing


run_all_in_deprecated_graph_mode_only = _as_it_is
run_deprecated_v1 = _as_it_is
run_v1_only = _as_it_is
deprecated_graph_mode_only = _as_it_is
disable_xla = _as_it_is
disable_all_xla = _as_it_is
disable_mlir_bridge = _as_it_is
build_as_function_and_v1_graph = _as_it_is
enable_control_flow_v2 = _as_it_is
assert_no_new_tensors = _as_it_is
assert_no_new_pyobjects_executing_eagerly = _as_it_is
assert_no_garbage_created = _as_it_is


@contextlib.contextmanager
def use_gpu() -> Iterator[None]:
    """Runs on the processor."""
    yield


force_gpu = force_cpu = device = use_gpu


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """Looks for nodes by name and type.

    Returns:
        The nodes by name.

    Raises:
        ValueError: one is not there, or of another type.
    """
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, kind in expected_ops.items():
        if name not in found:
            raise ValueError(f"{name} not found in graph")
        if found[name].op != kind:
            raise ValueError(
                f"Expected op for node {name} is different. {found[name].op} vs {kind}"
            )
    return found
