# SPDX-License-Identifier: Apache-2.0
"""`ClusterSpec`: which tasks a cluster has, and where they are."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from ...io import protos


def _text(value: object, what: str) -> str:
    if not isinstance(value, (bytes, str)):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value.decode() if isinstance(value, bytes) else value


@export("train.ClusterSpec")
class ClusterSpec:
    """Jobs by name; each has tasks, by number, with their addresses."""

    def __init__(self, cluster: object) -> None:
        cluster_def = protos.ClusterDef
        if isinstance(cluster, dict):
            self._cluster_spec = {job: _tasks(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = self._message()
        elif isinstance(cluster, (cluster_def, ClusterSpec)):
            is_spec = isinstance(cluster, ClusterSpec)
            self._cluster_def = cluster.as_cluster_def() if is_spec else cluster
            self._cluster_spec = {job.name: dict(job.tasks) for job in self._cluster_def.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )

    def _message(self) -> Any:
        message = protos.ClusterDef()
        for name, tasks in sorted(self._cluster_spec.items()):
            job = message.job.add()
            job.name = _text(name, "Job name")
            for i, address in sorted(tasks.items()):
                job.tasks[i] = _text(address, "Task address")
        return message

    def __bool__(self) -> bool:
        return bool(self._cluster_spec)

    __nonzero__ = __bool__

    def __eq__(self, other: object) -> bool:
        return self._cluster_spec == other

    def __ne__(self, other: object) -> bool:
        return self._cluster_spec != other

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{k!r}: {jobs[k]!r}" for k in sorted(jobs)) + "})"

    def as_dict(self) -> dict[str, Any]:
        """Job names to lists of addresses, or to dictionaries where numbers are missing."""
        result: dict[str, Any] = {}
        for job in self.jobs:
            numbers = self.task_indices(job)
            # No number is missing when the last is one less than the count.
            is_dense = numbers and numbers[-1] + 1 == len(numbers)
            result[job] = self.job_tasks(job) if is_dense else dict(sorted(self._job(job).items()))
        return result

    def as_cluster_def(self) -> Any:
        """The ClusterDef message."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._cluster_spec)

    def _job(self, job_name: str) -> dict[int, str]:
        try:
            return self._cluster_spec[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None

    def num_tasks(self, job_name: str) -> int:
        """The number of tasks of a job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of the tasks of a job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks, None where a number is missing."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)]


def _tasks(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
    )
