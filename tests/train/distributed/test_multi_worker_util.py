# SPDX-License-Identifier: Apache-2.0
"""What the tasks of a cluster are to each other."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.distributed import multi_worker_util as tasks

pytestmark = pytest.mark.pure

WITH_CHIEF = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"], "evaluator": ["e:1"]}
WITHOUT = {"worker": ["b:1", "c:1"], "ps": ["d:1"]}


@pytest.mark.parametrize(
    "made", [dict, tf.train.ClusterSpec, lambda x: tf.train.ClusterSpec(x).as_cluster_def()]
)
def test_clusters_are_given_in_three_ways(made: Any) -> None:
    assert tasks.normalize_cluster_spec(made(WITHOUT)).as_dict() == WITHOUT
    with pytest.raises(ValueError, match="should be dict or a `tf.train.ClusterSpec`"):
        tasks.normalize_cluster_spec(["b:1"])


@pytest.mark.parametrize(
    ("cluster", "task", "chief", "leader", "count", "number"),
    [
        (WITH_CHIEF, ("chief", 0), True, "/job:chief/replica:0/task:0", 3, 0),
        (WITH_CHIEF, ("worker", 0), False, "/job:chief/replica:0/task:0", 3, 1),
        (WITH_CHIEF, ("evaluator", 0), True, "", 1, 0),
        (WITHOUT, ("worker", 0), True, "/job:worker/replica:0/task:0", 2, 0),
        (WITHOUT, ("worker", 1), False, "/job:worker/replica:0/task:0", 2, 1),
    ],
)
def test_tasks(cluster: Any, task: Any, chief: bool, leader: str, count: int, number: int) -> None:
    assert tasks.is_chief(cluster, *task) is chief
    assert tasks.collective_leader(cluster, *task) == leader
    assert tasks.worker_count(cluster, task[0]) == count
    assert tasks.id_in_cluster(cluster, *task) == number


def test_parameter_servers_are_not_counted() -> None:
    assert not tasks.is_chief(WITHOUT, "ps", 0)
    with pytest.raises(ValueError, match="Unexpected `task_type` 'ps'"):
        tasks.worker_count(WITHOUT, "ps")
    with pytest.raises(ValueError, match="There is no id for task_type 'ps'"):
        tasks.id_in_cluster(WITHOUT, "ps", 0)
    assert tasks.collective_leader({}, "", 0) == ""


@pytest.mark.parametrize(
    ("cluster", "task", "text"),
    [
        (None, ("worker", 0), "None of `cluster_spec`"),
        (WITHOUT, ("boss", 0), "Unrecognized task_type: 'boss'"),
        (WITHOUT, ("chief", 0), "`task_type` 'chief' not found"),
        ({"chief": ["a:1", "b:1"]}, ("chief", 0), "at most one 'chief' job"),
        (WITHOUT, ("worker", 2), "exceeds the maximum id of worker"),
    ],
)
def test_tasks_that_there_are_not(cluster: Any, task: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tasks.is_chief(cluster, *task)
