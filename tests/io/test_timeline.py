# SPDX-License-Identifier: Apache-2.0
"""Step statistics of a run, and their Chrome trace."""

from __future__ import annotations

import json

import pytest

from numbaflow.engine.types import dtypes
from numbaflow.io.step_stats import CPU, Event, step_stats
from numbaflow.io.timeline import Timeline

pytestmark = pytest.mark.pure

US = 1000  # nanoseconds
FLOATS = ((dtypes.float32, (4, 2)),)
EVENTS = (
    Event("b", "Neg", ("a",), 20 * US, 50 * US, FLOATS),
    Event("a", "Const", (), 10 * US, 15 * US, FLOATS),
    Event("c", "Add", ("b", "a"), 30 * US, 70 * US, FLOATS),
)


def trace(**options: bool) -> list[dict]:
    text = Timeline(step_stats(EVENTS)).generate_chrome_trace_format(**options)
    return json.loads(text)["traceEvents"]


def test_step_stats_are_in_order_of_time() -> None:
    stats = step_stats(EVENTS)
    (device,) = stats.dev_stats
    assert device.device == CPU
    assert [node.node_name for node in device.node_stats] == ["a", "b", "c"]
    last = device.node_stats[2]
    assert last.timeline_label == "c = Add(b, a)"
    assert (last.all_start_micros, last.all_end_rel_micros) == (30, 40)
    assert last.all_end_rel_nanos == 40 * US
    description = last.output[0].tensor_description
    assert [dim.size for dim in description.shape.dim] == [4, 2]
    assert description.allocation_description.requested_bytes == 32


def test_a_region_for_each_node_and_lanes_for_those_that_overlap() -> None:
    regions = {event["args"]["name"]: event for event in trace() if event["ph"] == "X"}
    assert list(regions) == ["a", "b", "c"]
    assert regions["b"] == {
        "ph": "X",
        "cat": "Op",
        "name": "Neg",
        "pid": 1,
        "tid": 0,
        "ts": 20,
        "dur": 30,
        "args": {"name": "b", "op": "Neg", "input0": "a"},
    }
    assert regions["c"]["tid"] == 1


def test_arrows_join_lanes_and_can_be_left_out() -> None:
    arrows = [(event["ph"], event["name"]) for event in trace() if event["ph"] in "st"]
    assert arrows == [("s", "b"), ("t", "b"), ("s", "a"), ("t", "a")]
    assert not [event for event in trace(show_dataflow=False) if event["ph"] in "st"]


def test_memory_counters_reach_the_sum_and_return_to_zero() -> None:
    counters = [event["args"]["cpu"] for event in trace(show_memory=True) if event["ph"] == "C"]
    assert max(counters) == 96
    assert counters[-1] == 0


def test_processes_are_named() -> None:
    names = [event["args"]["name"] for event in trace() if event["ph"] == "M"]
    assert names == ["Allocators", f"{CPU} Compute", f"{CPU} Tensors"]


def test_nodes_are_listed_under_the_device_that_ran_them() -> None:
    events = [EVENTS[0]._replace(device=device) for device in ("/cpu:1", "/device:GPU:0", "")]
    assert [stats.device for stats in step_stats(events).dev_stats] == [CPU[:-1] + "1", CPU]
