# SPDX-License-Identifier: Apache-2.0
"""`replica_device_setter`: variables to parameter servers in turn, all else to the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.graph.devices import DeviceSpec
from ...engine.interface import log
from .cluster import ClusterSpec

# What is kept on parameter servers.
STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


class _RoundRobinStrategy:
    """One task after the other."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, op: object) -> int:
        del op
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


class _ReplicaDeviceChooser:
    """The device function for one worker."""

    def __init__(
        self,
        ps_tasks: int,
        ps_device: str,
        worker_device: str,
        merge_devices: bool,
        ps_ops: Sequence[str],
        ps_strategy: Callable[[Any], int],
    ) -> None:
        self._ps_tasks, self._ps_device = ps_tasks, ps_device
        self._worker_device, self._merge_devices = worker_device, merge_devices
        self._ps_ops, self._ps_strategy = ps_ops, ps_strategy

    def device_function(self, op: Any) -> str:
        """The device of an operation (or NodeDef)."""
        if not self._merge_devices and op.device:
            return op.device
        present = DeviceSpec.from_string(op.device or "")
        kind = op.op if type(op).__name__ == "NodeDef" else op.type
        if self._ps_tasks and self._ps_device and kind in self._ps_ops:
            server = DeviceSpec.from_string(self._ps_device)
            # An op that asks for another job is none to spread over the servers.
            if server.job and present.job in (None, server.job):
                server = server.replace(task=self._ps_strategy(op))
            return server.make_merged_spec(present).to_string()
        worker = DeviceSpec.from_string(self._worker_device or "")
        return worker.make_merged_spec(present).to_string()


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: object = None,
    ps_ops: Any = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """A function for `tf.device` that spreads variables over the tasks of `ps_device`.

    The number of tasks is that of `cluster`, if given.  None without parameter servers.
    ps_strategy(op) chooses a task; in turn if None (tf.train.replica_device_setter).
    """
    if cluster is not None:
        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        jobs = spec.as_dict()
        job = DeviceSpec.from_string(ps_device).job
        if jobs.get(job) is None:
            return None
        ps_tasks = len(jobs[job])
    if ps_tasks == 0:
        return None
    if ps_ops is None:
        # Only ops that keep state between runs.
        ps_ops = list(STANDARD_PS_OPS)
    if not merge_devices:
        log.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    strategy = _RoundRobinStrategy(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    return _ReplicaDeviceChooser(
        ps_tasks, ps_device, worker_device, merge_devices, ps_ops, strategy
    ).device_function
