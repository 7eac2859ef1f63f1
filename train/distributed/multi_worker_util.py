# SPDX-License-Identifier: Apache-2.0
"""What a task of a cluster is among the others: the chief, which number, who leads, how many."""

from __future__ import annotations

from typing import Any

from ...io import protos
from .cluster import ClusterSpec

_TASK_TYPES = ("chief", "worker", "evaluator", "ps")
_ALONE = ("chief", "evaluator")


def normalize_cluster_spec(cluster_spec: object) -> ClusterSpec:
    """A cluster as a ClusterSpec: a dict of jobs, a ClusterDef, or one already."""
    if isinstance(cluster_spec, (dict, protos.ClusterDef)):
        return ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, ClusterSpec):
        raise ValueError(
            "`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` "
            f"object, not {cluster_spec!r}"
        )
    return cluster_spec


def _jobs(cluster_spec: object, task_type: str | None, task_id: int | None) -> dict[str, Any]:
    """The addresses of each job's tasks; ValueError if there is no such task."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in _TASK_TYPES:
        raise ValueError(
            f"Unrecognized task_type: {task_type!r}, valid task types are: "
            '"chief", "worker", "evaluator" and "ps".'
        )
    if task_type not in jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    for job in _ALONE:
        if len(jobs.get(job, [])) > 1:
            raise ValueError(f"There must be at most one {job!r} job.")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return jobs


def is_chief(
    cluster_spec: object = None, task_type: str | None = None, task_id: int | None = None
) -> bool:
    """Whether a task is the chief: without one the first worker; an evaluator is its own."""
    jobs = _jobs(cluster_spec, task_type, task_id)
    return task_type in _ALONE or ("chief" not in jobs and (task_type, task_id) == ("worker", 0))


def collective_leader(cluster_spec: object, task_type: str, task_id: int) -> str:
    """The device name of the task that leads collective ops; "" where one task is alone."""
    if not normalize_cluster_spec(cluster_spec).as_dict():
        return ""
    jobs = _jobs(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    leader = "chief" if "chief" in jobs else "worker"
    if leader not in jobs:
        raise ValueError(f"Nobody leads: the cluster has neither a chief nor workers: {jobs}")
    return f"/job:{leader}/replica:0/task:0"


def worker_count(cluster_spec: object, task_type: str) -> int:
    """How many tasks work together with those of a type: the chief is a worker, too."""
    jobs = _jobs(cluster_spec, task_type, 0)
    if task_type == "evaluator":
        return len(jobs["evaluator"])
    if task_type == "ps":
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    return len(jobs.get("chief", [])) + len(jobs.get("worker", []))


def id_in_cluster(cluster_spec: object, task_type: str, task_id: int) -> int:
    """A task's number among the tasks that `worker_count` counts; the chief has 0."""
    jobs = _jobs(cluster_spec, task_type, task_id)
    if task_type == "ps":
        raise ValueError(f"There is no id for task_type {task_type!r}")
    return task_id + (len(jobs.get("chief", [])) if task_type == "worker" else 0)


def has_worker_context() -> bool:
    """Whether a process coordinates others in this one; none here does."""
    return False
