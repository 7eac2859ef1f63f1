# SPDX-License-Identifier: Apache-2.0
"""Profiles of times and memory, from RunMetadata with known numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.io import protos

pytestmark = pytest.mark.programs

builder = tf.profiler.ProfileOptionBuilder
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
TIMES = builder.time_and_memory()


@pytest.fixture(autouse=True)
def network() -> Any:
    with tf.Graph().as_default():
        with tf.name_scope("net"):
            x = tf.zeros([2, 3], name="x")
            y = tf.matmul(x, tf.ones([3, 4], name="w"), name="y")
            z = tf.reduce_sum(tf.square(y, name="square"), name="loss")
        yield z


def metadata(*ran: tuple[str, int, int], device: str = CPU) -> Any:
    """RunMetadata of operations, microseconds and bytes, one after the other."""
    made = protos.RunMetadata()
    stats = made.step_stats.dev_stats.add(device=device)
    start = 1000
    for name, micros, size in ran:
        node = stats.node_stats.add(node_name=name, all_start_micros=start)
        node.op_end_rel_micros = node.all_end_rel_micros = micros
        described = node.output.add().tensor_description.allocation_description
        described.requested_bytes = size
        start += micros
    return made


RAN = (("net/x", 3, 24), ("net/w", 5, 48), ("net/y", 1200, 32), ("net/square", 0, 32))
_TIMES = "total execution time | accelerator execution time | cpu execution time"
SCOPES = f"""node name | requested bytes | {_TIMES}
_TFProfRoot (--/136B, --/1.21ms, --/0us, --/1.21ms)
  net (0B/136B, 0us/1.21ms, 0us/0us, 0us/1.21ms)
    net/y (32B/32B, 1.20ms/1.20ms, 0us/0us, 1.20ms/1.20ms)
    net/w (48B/48B, 5us/5us, 0us/0us, 5us/5us)
    net/x (24B/24B, 3us/3us, 0us/0us, 3us/3us)
    net/square (32B/32B, 1us/1us, 0us/0us, 1us/1us)
"""
FLOW = f"""node name | {_TIMES}
_TFProfRoot (--/1.21ms, --/0us, --/1.21ms)
  net/loss (0us/1.21ms, 0us/0us, 0us/1.21ms)
    net/square (1us/1.21ms, 0us/0us, 1us/1.21ms)
      net/y (1.20ms/1.21ms, 0us/0us, 1.20ms/1.21ms)
        net/w (5us/5us, 0us/0us, 5us/5us)
        net/x (3us/3us, 0us/0us, 3us/3us)
"""


def test_scopes_have_the_times_and_bytes_of_what_is_in_them(capsys: Any) -> None:
    found = tf.profiler.profile(run_meta=metadata(*RAN), options=TIMES)
    assert capsys.readouterr().out == SCOPES
    (net,) = found.children
    assert (net.total_exec_micros, net.total_requested_bytes) == (1209, 136)
    assert (net.total_run_count, net.total_definition_count) == (4, 5)
    assert net.children[0].devices == [CPU.lower()]
    assert [dim.size for dim in net.children[0].input_shapes[1].dim] == [3, 4]


def test_the_way_from_results_to_what_they_are_made_of(capsys: Any) -> None:
    options = {**TIMES, "min_bytes": 0, "select": ["micros"], "start_name_regexes": ["net/loss"]}
    tf.profiler.profile(run_meta=metadata(*RAN), cmd="graph", options=options)
    assert capsys.readouterr().out == FLOW


def test_types_have_the_part_of_the_whole_that_is_theirs(capsys: Any) -> None:
    options = {**TIMES, "select": ["micros", "occurrence", "input_shapes"]}
    found = tf.profiler.profile(run_meta=metadata(*RAN), cmd="op", options=options)
    text = capsys.readouterr().out
    assert "1.20ms (100.00%, 99.26%)" in text and "8us (0.74%, 0.66%)" in text
    assert "input_type: 0:2x3,\t1:3x4\t(run*1|defined*1)\texec_time: 1.20ms" in text
    (first,) = found.children
    assert (first.name, first.exec_micros, first.total_exec_micros) == ("MatMul", 1200, 1209)
    assert [(node.name, node.run_count) for node in first.graph_nodes] == [("net/y", 1)]


def test_lines_have_the_times_of_their_gradients_apart(network: Any) -> None:
    tf.gradients(network, network.graph.get_tensor_by_name("net/x:0"))
    run_meta = metadata(*RAN, ("gradients/net/y_grad/MatMul", 70, 24))
    options = builder(TIMES).with_empty_output().build()
    found = tf.profiler.profile(run_meta=run_meta, cmd="code", options=options)
    lines = [(line.name.split(":")[0], line.name.split(":")[2]) for line in found.children]
    assert lines == [
        ("test_profiler.py", "network"),
        ("test_profiler.py", "network (gradient)"),
        ("test_profiler.py", "network"),
        ("test_profiler.py", "network"),
    ]
    assert [line.exec_micros for line in found.children] == [1205, 70, 3, 1]


def test_steps_are_averaged_unless_one_is_asked_for(capsys: Any) -> None:
    profiler = tf.profiler.Profiler()
    profiler.add_step(3, metadata(("net/y", 100, 32)))
    profiler.add_step(3, metadata(("net/y", 50, 32)))
    profiler.add_step(9, metadata(("net/y", 250, 32)))
    quiet = builder(TIMES).with_empty_output().build()
    assert profiler.profile_name_scope(quiet).total_exec_micros == 200
    assert profiler.profile_graph({**quiet, "step": 3}).total_exec_micros == 150
    assert profiler.profile_operations({**quiet, "step": 9}).total_exec_micros == 250
    assert profiler.profile_python({**quiet, "step": 9}).total_requested_bytes == 32
    assert profiler.profile_operations({**TIMES, "step": 4}).total_exec_micros == 0
    assert capsys.readouterr().out == "Options -step=4 not found.\nAvailable steps: 3 9 \n"
    message = protos.ProfileProto.FromString(profiler.serialize_to_string())
    (node,) = (node for node in message.nodes.values() if node.name == "net/y")
    assert list(message.steps) == [3, 9] and {*node.execs} == {3, 9}
    assert node.execs[3].run_count == 2 and node.execs[9].memory_execs[0].peak_bytes == 32
    assert message.id_to_string[node.trace.traces[0].file_id] == __file__


def test_timelines(tmp_path: Path) -> None:
    path = tmp_path / "line"
    options = builder(TIMES).with_step(0).with_timeline_output(str(path)).build()
    tf.profiler.profile(run_meta=metadata(*RAN), cmd="graph", options=options)
    name, *events = json.loads((tmp_path / "line_0").read_text())["traceEvents"]
    assert name["args"]["name"] == f"Op scheduling threads: {CPU.lower()}"
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [
        ("net/x", 1000, 3),
        ("net/w", 1003, 5),
        ("net/y", 1008, 1200),
        ("net/square", 2208, 1),
    ]


def test_advice(capsys: Any) -> None:
    found = tf.profiler.advise(run_meta=metadata(*RAN))
    reports = list(found.checkers["ExpensiveOperationChecker"].reports)
    assert reports[0].split("\n")[0] == (
        "top 1 operation type: MatMul, cpu: 1.20ms, accelerator: 0us, total: 1.20ms (99.26%)"
    )
    assert reports[1] == "top 1 graph node: net, cpu: 1.21ms, accelerator: 0us, total: 1.21ms"
    assert reports[2].startswith("test_profiler.py:")
    assert "\nOperationChecker:\n" in capsys.readouterr().out
    gpu = CPU.replace("CPU", "GPU")
    busy = metadata(("net/y", 300, 32), device=f"{gpu}/stream:all")
    run_meta = metadata(("net/y", 1000, 32), device=gpu)
    run_meta.step_stats.dev_stats.add().CopyFrom(busy.step_stats.dev_stats[0])
    found = tf.profiler.advise(run_meta=run_meta, options={"AcceleratorUtilizationChecker": {}})
    (report,) = found.checkers["AcceleratorUtilizationChecker"].reports
    assert report == f"device: {gpu.lower()} low utilization: 0.30"
    tf.identity(tf.zeros([2]), name="BatchNorm")
    found = tf.profiler.advise(options={"OperationChecker": {}})
    (report,) = found.checkers["OperationChecker"].reports
    assert report == "Maybe use faster FusedBatchNorm instead of BatchNorm"


@pytest.mark.cpu
def test_real_runs_are_profiled_by_a_context(tmp_path: Path, network: Any) -> None:
    quiet = builder(TIMES).with_empty_output().build()
    context = tf.contrib.tfprof.ProfileContext(
        str(tmp_path), trace_steps=[1], dump_steps=[2], debug=True
    )
    run = tf.Session.run
    with context, tf.Session() as session:
        context.add_auto_profiling("scope", quiet, [1, 2])
        assert [session.run(network) for _ in range(4)] == [0.0] * 4
        with pytest.raises(tf.errors.InternalError), context:
            pass
    assert tf.Session.run is run
    assert {*context.get_profiles("scope")} == {1, 2}
    assert context.get_profiles("scope")[2].total_exec_micros > 0
    assert {file.name for file in tmp_path.iterdir()} == {"run_meta_1", "run_meta_2", "profile_2"}
    with pytest.raises(ValueError, match="No autoprofiler for command: op, was run"):
        context.get_profiles("op")
    with tf.contrib.tfprof.ProfileContext("", enabled=False) as nothing:
        assert nothing.profiler is None
