# SPDX-License-Identifier: Apache-2.0
"""Clusters of the tasks that Slurm, or mpirun below it, has started."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from ...engine.api import export
from .cluster import ClusterSpec
from .cluster_resolver import ClusterResolver, format_master_url


@export(
    "contrib.cluster_resolver.SlurmClusterResolver",
    "distribute.cluster_resolver.SlurmClusterResolver",
)
class SlurmClusterResolver(ClusterResolver):
    """The tasks of a Slurm allocation: node by node, so many on each, and jobs in order of names.

    The nodes are those that `scontrol show hostname` lists; which task this one is says
    SLURM_PROCID, or OMPI_COMM_WORLD_RANK where mpirun has started it.

    Args:
        jobs: how many tasks each job has, by its name.
        port_base: the port of a node's first task; the others have the next ones.
        gpus_per_node, gpus_per_task: how many GPUs a node has, and a task gets.
        tasks_per_node: how many tasks a node has; SLURM_NTASKS_PER_NODE says it if None.
        auto_set_gpu: whether `cluster_spec` sets CUDA_VISIBLE_DEVICES to this task's GPUs.
        rpc_layer: the protocol.

    Raises:
        RuntimeError: nobody says how many tasks a node has, a node has not as many GPUs, or the
            jobs have not as many tasks as there are.
    """

    def __init__(
        self,
        jobs: dict[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        rank, size = "SLURM_PROCID", "SLURM_NTASKS"
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            rank, size = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"
        self._rank, count = int(os.environ[rank]), int(os.environ[size])
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError(
                f"Requested more GPUs per node then available: {tasks_per_node} tasks of "
                f"{gpus_per_task} each, of {gpus_per_node}."
            )
        if sum(jobs.values()) != count:
            raise RuntimeError(
                f"Requested more tasks then assigned tasks: {sum(jobs.values())}, but there are "
                f"{count}."
            )
        self._jobs, self._port_base = dict(sorted(jobs.items())), port_base
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._tasks_per_node, self._auto_set_gpu = tasks_per_node, auto_set_gpu
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def _resolve_hostnames(self) -> list[str]:
        """The names of the allocation's nodes."""
        found = subprocess.check_output(["scontrol", "show", "hostname"], text=True)
        return found.strip().split("\n")

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec of the nodes that there are now; this task is known from then on."""
        places = [
            (host, k) for host in self._resolve_hostnames() for k in range(self._tasks_per_node)
        ]
        addresses = [f"{host}:{self._port_base + k}" for host, k in places]
        cluster, start = {}, 0
        for job, count in self._jobs.items():
            cluster[job] = addresses[start : start + count]
            if start <= self._rank < start + count:
                self.task_type, self.task_id = job, self._rank - start
            start += count
        if self._auto_set_gpu is True:
            first = places[self._rank][1] * self._gpus_per_task
            gpus = range(first, first + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """This task's job and number; None before `cluster_spec` was asked."""
        return self.task_type, self.task_id

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task, this one's if none is named; "" where it is not known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        address = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[Any, Any]:
        """How many GPUs a node has, as it was said."""
        del task_type, task_id, config_proto
        return {"GPU": self._gpus_per_node}
