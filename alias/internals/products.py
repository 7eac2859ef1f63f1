# SPDX-License-Identifier: Apache-2.0
"""What graphs ask of TensorFlow's other products: TPUs, strategies, the debugger, the profiler."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .absent import absent

_DEBUGGER = "; NUMBAFLOW_DEBUG and session.explain show what a run does"


class _TpuContext:
    """What there is to know of TPUs: no shards."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Notes a number."""
        self.number_of_shards = number_of_shards


_TPU = _TpuContext()


def get_tpu_context() -> Any:
    """What is known of TPUs."""
    return _TPU


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Within it, losses are those of so many shards."""
    before = _TPU.number_of_shards
    _TPU.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _TPU.set_number_of_shards(before)


LocalCLIDebugWrapperSession = absent("tfdbg's LocalCLIDebugWrapperSession", _DEBUGGER)
TensorBoardDebugWrapperSession = absent("tfdbg's TensorBoardDebugWrapperSession", _DEBUGGER)
DumpingDebugWrapperSession = absent("tfdbg's DumpingDebugWrapperSession", _DEBUGGER)
GrpcDebugWrapperSession = absent("tfdbg's GrpcDebugWrapperSession", _DEBUGGER)
LocalCLIDebugHook = absent("tfdbg's LocalCLIDebugHook", _DEBUGGER)
DumpingDebugHook = absent("tfdbg's DumpingDebugHook", _DEBUGGER)
TensorBoardDebugHook = absent("tfdbg's TensorBoardDebugHook", _DEBUGGER)
GrpcDebugHook = absent("tfdbg's GrpcDebugHook", _DEBUGGER)
DebugDumpDir = absent("tfdbg's DebugDumpDir", _DEBUGGER)
GradientsDebugger = absent("tfdbg's GradientsDebugger", _DEBUGGER)
watch_graph = absent("tfdbg's watch_graph", _DEBUGGER)
add_debug_tensor_watch = watch_graph
watch_graph_with_blacklists = watch_graph


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether an array holds an infinity or NaN.

    Args:
        datum: what it belongs to; not looked at.
        tensor: the array.

    Returns:
        The answer; False for what holds no floats.
    """
    del datum
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


def has_strategy() -> bool:
    """Whether a strategy distributes the graph: none does."""
    return False


def in_cross_replica_context() -> bool:
    """Whether this is outside of replicas: there is one of them, and this is it."""
    return False


def get_replica_context() -> Any:
    """The one replica."""
    return _REPLICA


class _Replica:
    """The one replica, in which functions are called as they are."""

    num_replicas_in_sync = 1
    replica_id_in_sync_group = 0

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function with the strategy first."""
        return merge_fn(None, *args, **(kwargs or {}))


_REPLICA = _Replica()


get_strategy = absent("tf.distribute.get_strategy", ": a graph runs in one place")


def experimental_set_strategy(strategy: Any) -> None:
    """Refuses strategies."""
    absent("tf.distribute.experimental_set_strategy")()


profile = absent("tf.profiler.profile", "; session.explain lists kernels with their times")
advise = absent("tf.profiler.advise", "; session.explain lists kernels with their times")
Profiler = absent("tf.profiler.Profiler", "; session.explain lists kernels with their times")
ProfileOptionBuilder = absent("tf.profiler.ProfileOptionBuilder")
convert = absent("tf.autograph")
Strategy = absent("tf.distribute.Strategy")
DistributedVariable = absent("tf.distribute's DistributedVariable")


class ReduceOp:
    """How values of replicas are put together."""

    SUM = "SUM"
    MEAN = "MEAN"
