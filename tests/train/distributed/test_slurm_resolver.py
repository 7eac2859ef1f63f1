# SPDX-License-Identifier: Apache-2.0
"""Clusters of the tasks that Slurm has started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure
Resolver = tf.distribute.cluster_resolver.SlurmClusterResolver


@pytest.fixture(autouse=True)
def allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three nodes with two tasks each, of which this is the fourth."""
    for name in ("OMPI_COMM_WORLD_RANK", "SLURM_NTASKS_PER_NODE", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURM_PROCID", "3")
    monkeypatch.setenv("SLURM_NTASKS", "5")
    monkeypatch.setattr(Resolver, "_resolve_hostnames", lambda self: ["a", "b", "c"])


def resolver(**changes: Any) -> Any:
    options = {"tasks_per_node": 2, "gpus_per_node": 4, "gpus_per_task": 2, **changes}
    return Resolver({"worker": 3, "ps": 2}, **options)


def test_tasks_fill_nodes_in_order() -> None:
    found = resolver()
    assert found.get_task_info() == (None, None) and found.master() == ""
    assert found.cluster_spec().as_dict() == {
        "ps": ["a:8888", "a:8889"],
        "worker": ["b:8888", "b:8889", "c:8888"],
    }
    assert found.get_task_info() == ("worker", 1)
    assert found.master() == "grpc://b:8889"
    assert found.master("ps", 0, rpc_layer="x") == "x://a:8888"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert found.num_accelerators() == {"GPU": 4}


def test_mpirun_says_which_task_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "5")
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "2")
    found = resolver(tasks_per_node=None, auto_set_gpu=False, port_base=1)
    assert found.cluster_spec().task_address("ps", 1) == "a:2"
    assert found.get_task_info() == ("ps", 0)
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_nodes_are_those_that_scontrol_lists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.setenv("SLURM_NTASKS", "5")
    asked = []

    def output(command: list[str], text: bool) -> str:
        asked.append(command)
        return "n1\nn2\nn3\n"

    monkeypatch.setattr("subprocess.check_output", output)
    assert resolver(auto_set_gpu=False).cluster_spec().task_address("worker", 2) == "n3:8888"
    assert asked == [["scontrol", "show", "hostname"]]


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="SLURM_NTASKS_PER_NODE is set"):
        resolver(tasks_per_node=None)
    with pytest.raises(RuntimeError, match="more GPUs per node then available: 2 tasks of 3"):
        resolver(gpus_per_task=3)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    with pytest.raises(RuntimeError, match="5, but there are 4"):
        resolver()
