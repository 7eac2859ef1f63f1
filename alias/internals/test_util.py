# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.framework.test_util`: decorators of tests, and what looks into graphs."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ... import transpose
from ...engine.graph.tensor import Tensor
from ...engine.interface.test_modes import (
    run_all_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes,
)
from ...engine.interface.test_modes import (
    run_in_graph_and_eager_modes as run_in_graph_and_eager_modes,
)
from ...engine.interface.testing import CapturedWrites as CapturedWrites
from ...engine.interface.testing import TestCase, is_gpu_available
from ...engine.interface.testing import assert_equal_graph_def as assert_equal_graph_def
from ...engine.interface.testing import gpu_device_name as gpu_device_name
from ...ops.flow import util

TensorFlowTestCase = TestCase
assert_equal_graph_def_v1 = assert_equal_graph_def
Decorator = Callable[[Any], Any]


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
assert_no_new_tensors = _as_it_is
assert_no_new_pyobjects_executing_eagerly = _as_it_is
assert_no_garbage_created = _as_it_is
# What they switch is not here: graphs are compiled one way, whose results are the same each time.
enable_c_shapes = _as_it_is
enable_output_all_intermediates = _as_it_is
enable_tf_xla_constant_folding = _as_it_is
no_xla_auto_jit = _as_it_is
use_deterministic_cudnn = _as_it_is
with_c_shapes = _as_it_is
xla_allow_fallback = _as_it_is


def enable_control_flow_v2(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: within the function branches and loops are nodes that call functions."""

    @functools.wraps(function)
    def enabled(*args: Any, **kwargs: Any) -> Any:
        before = util.ENABLE_CONTROL_FLOW_V2
        util.ENABLE_CONTROL_FLOW_V2 = True
        try:
            return function(*args, **kwargs)
        finally:
            util.ENABLE_CONTROL_FLOW_V2 = before

    return enabled


def disable_control_flow_v2(reason: str) -> Decorator:
    """A decorator of test methods of which `with_control_flow_v2` makes no further one."""
    del reason

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        function._disable_control_flow_v2 = True  # type: ignore[attr-defined]
        return function

    return decorated


def with_control_flow_v2(cls: type) -> type:
    """A decorator of classes: each test is also run with nodes that call functions."""
    for name, value in dict(vars(cls)).items():
        if (
            callable(value)
            and name.startswith("test")
            and not getattr(value, "_disable_control_flow_v2", False)
        ):
            setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(value))
    return cls


@contextlib.contextmanager
def use_gpu() -> Iterator[None]:
    """Runs on the processor."""
    yield


force_gpu = force_cpu = device = use_gpu


def _skipped_unless(is_there: Callable[[], bool], why: str) -> Callable[..., Any]:
    """A decorator of test methods that are skipped where something is missing."""

    def decorated(function: Callable[..., Any] | None = None) -> Any:
        if function is None:
            return decorated

        @functools.wraps(function)
        def test(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_there():
                self.skipTest(why)
            return function(self, *args, **kwargs)

        return test

    return decorated


run_v2_only = _skipped_unless(lambda: False, "Test is only compatible with v2")
run_gpu_only = _skipped_unless(is_gpu_available, "Test requires GPU")
run_cuda_only = _skipped_unless(is_gpu_available, "Test requires CUDA GPU")


def skip_if(condition: bool | Callable[[], bool]) -> Decorator:
    """A decorator of functions that do nothing if a condition, or what a callable says, holds."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def unless(*args: Any, **kwargs: Any) -> Any:
            skip = condition() if callable(condition) else condition
            return None if skip else function(*args, **kwargs)

        return unless

    return decorated


def for_all_test_methods(decorator: Callable[..., Decorator], *args: Any, **kwargs: Any) -> Any:
    """A decorator of a class that decorates its test methods with `decorator(*args, **kwargs)`."""

    def decorated(cls: type) -> type:
        for name in dir(cls):
            method = getattr(cls, name)
            if name.startswith("test") and name != "test_session" and callable(method):
                setattr(cls, name, decorator(*args, **kwargs)(method))
        return cls

    return decorated


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Every combination of the options, each a list or one thing, with a name for absl's tests."""
    options = {k: v if isinstance(v, list) else [v] for k, v in sorted(kwargs.items())}
    found = []
    for values in itertools.product(*options.values()):
        one = dict(zip(options, values))
        parts = [f"_{_letters(key)}_{_letters(value)}" for key, value in one.items()]
        found.append({**one, "testcase_name": "_test{}".format("".join(parts))})
    return found


def _letters(value: object) -> str:
    return "".join(filter(str.isalnum, str(value)))


def is_xla_enabled() -> bool:
    """False: graphs are compiled without XLA."""
    return False


IsMklEnabled = IsBuiltWithROCm = is_xla_enabled
IsGoogleCudaEnabled = GpuSupportsHalfMatMulAndConv = is_gpu_available


def InstallStackTraceHandler() -> None:  # noqa: N802 - TensorFlow's name
    """Shows where all threads are if the process crashes."""
    import faulthandler

    faulthandler.enable()


def _reordered(value: Any, orders: dict[int, Sequence[int]]) -> Any:
    if isinstance(value, Tensor):
        return transpose(value, orders[len(value.shape)])
    return [value[axis] for axis in orders[len(value)]]


def NHWCToNCHW(input_tensor: Any) -> Any:  # noqa: N802
    """A tensor, or a list of its sizes, with channels first instead of last."""
    return _reordered(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:  # noqa: N802
    """A tensor, or a list of its sizes, with channels last instead of first."""
    return _reordered(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The NodeDef of a name in a GraphDef, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Any], list[Any]]:
    """Servers of a cluster in this process: those of the workers, and the parameter servers."""
    from ... import test

    return test.create_local_cluster(num_workers, num_ps, protocol, worker_config, ps_config)


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
