# SPDX-License-Identifier: Apache-2.0
"""Debugged runs write the values of their tensors, and folders of them are read again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.internals import products as tf_debug
from numbaflow.io.protos import Event

pytestmark = pytest.mark.cpu

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    """Names of operations, which files bear, are those of a graph of one's own."""
    with tf.Graph().as_default():
        yield


def runs(root: Path) -> list[Any]:
    folders = sorted(root.iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
    return [tf_debug.DebugDumpDir(str(path)) for path in folders]


def test_a_dumping_session_writes_all_that_ran(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.name_scope("a"):
        y = tf.multiply(tf.log(x, name="bad"), v, name="y_1")
    root = tmp_path / "dump"
    with tf_debug.DumpingDebugWrapperSession(tf.Session(), str(root)) as session:
        session.run(tf.global_variables_initializer())
        assert np.isneginf(session.run(y, {x: [0.0, 1.0]})[0])
        assert y.eval({x: [1.0, 1.0]}).tolist() == [0.0, 0.0]
    first, second, third = runs(root)
    assert first.node_exists("v/Assign") and third.size == second.size
    assert second.devices() == [CPU] and second.t0 == second.dumped_tensor_data[0].timestamp
    bad = second.find(tf_debug.has_inf_or_nan)
    assert [datum.tensor_name for datum in bad] == ["a/bad:0", "a/y_1:0"]
    assert not third.find(tf_debug.has_inf_or_nan)
    assert [d.node_name for d in second.find(tf_debug.has_inf_or_nan, first_n=1)] == ["a/bad"]
    left = second.find(tf_debug.has_inf_or_nan, exclude_node_names=".*bad")
    assert [datum.watch_key for datum in left] == ["a/y_1:0:DebugIdentity"]
    (value,) = second.get_tensors("v/read", 0, "DebugIdentity")
    assert value.tolist() == [1.0, 2.0]
    assert "a/y_1:0" in second.run_fetches_info and "x:0" in second.run_feed_keys_info
    assert second.debug_watch_keys("a/bad") == ["a/bad:0:DebugIdentity"]
    with pytest.raises(ValueError, match='Watch key "q:0:DebugIdentity" does not exist'):
        second.get_tensors("q", 0, "DebugIdentity")
    with pytest.raises(LookupError):
        second.node_traceback("v")
    second.set_python_graph(y.graph)
    assert second.node_traceback("a/bad:0") == y.graph.get_operation_by_name("a/bad").traceback


def test_each_turn_of_a_loop_is_written(tmp_path: Path) -> None:
    count = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    session = tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    assert session.run(count) == 3
    (dump,) = runs(tmp_path)
    values = dump.get_tensors("while/add", 0, "DebugIdentity")
    assert [int(value) for value in values] == [1, 2, 3]
    times = dump.get_rel_timestamps("while/add", 0, "DebugIdentity")
    assert sorted(set(times)) == times
    assert len(set(dump.get_tensor_file_paths("while/add", 0, "DebugIdentity"))) == 3


def test_only_what_is_watched_is_written(tmp_path: Path) -> None:
    x = tf.constant([1.0], name="x")
    y = tf.add(tf.to_int32(x, name="whole"), 1, name="y")

    def watch(fetches: Any, feeds: Any) -> Any:
        assert fetches is y and feeds is None
        return tf_debug.WatchOptions(node_name_regex_whitelist="[xw]", op_type_regex_whitelist="C")

    session = tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path), watch_fn=watch)
    session.run(y)
    (dump,) = runs(tmp_path)
    assert dump.nodes() == ["x", "whole"]


def test_what_is_left_out_is_not_written(tmp_path: Path) -> None:
    y = tf.add(tf.constant([1.0], name="x"), tf.constant(2.0, name="z"), name="y")
    options = tf.RunOptions()
    tf_debug.watch_graph_with_blacklists(
        options, y.graph, debug_urls=f"file://{tmp_path}", node_name_regex_blacklist="z"
    )
    assert tf.Session().run(y, options=options).tolist() == [3.0]
    assert sorted(tf_debug.DebugDumpDir(str(tmp_path)).nodes()) == ["x", "y"]


def test_files_are_events_of_the_debugger(tmp_path: Path) -> None:
    y = tf.add(tf.constant([1.0, 2.0]), 1.0, name="scope/y")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    tf_debug.add_debug_tensor_watch(options, "scope/y", debug_urls=[f"file://{tmp_path}"])
    tf.Session().run(y, options=options, run_metadata=metadata)
    assert metadata.step_stats.dev_stats
    (path,) = (p for p in tmp_path.rglob("*") if p.is_file())
    device = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    assert path.parent == tmp_path / device / "scope"
    assert path.name.startswith("y_0_DebugIdentity_")
    (entry,) = Event.FromString(path.read_bytes()).summary.value
    assert (entry.tag, entry.node_name) == ("scope/y", "scope/y:0:DebugIdentity")
    assert json.loads(entry.metadata.plugin_data.content)["device"] == CPU
    assert tf.make_ndarray(entry.tensor).tolist() == [2.0, 3.0]


def test_a_run_that_fails_has_written_what_came_before(tmp_path: Path) -> None:
    x = tf.log(tf.constant([0.0]), name="bad")
    session = tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        session.run(tf.check_numerics(x, "Inf"))
    (dump,) = runs(tmp_path)
    assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan)] == ["bad"]


def test_a_hook_writes_runs_of_monitored_sessions(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    change = tf.assign_add(step, 1, name="change")
    hook = tf_debug.DumpingDebugHook(str(tmp_path / "dump"), log_usage=False)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert [session.run(change), session.run(change)] == [1, 2]
    values = [dump.get_tensors("change", 0, "DebugIdentity") for dump in runs(tmp_path / "dump")]
    assert [int(value) for (value,) in values] == [1, 2]


def test_threads_are_chosen_by_name(tmp_path: Path) -> None:
    session = tf_debug.DumpingDebugWrapperSession(
        tf.Session(), str(tmp_path), thread_name_filter="Other"
    )
    assert session.run(tf.constant(1)) == 1
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"debug_ops": ["DebugHistogram"]}, "DebugHistogram is not in numbaflow"),
        ({"debug_urls": ["grpc://localhost:6064"]}, "not to 'grpc://localhost:6064'"),
    ],
)
def test_other_kinds_of_watches_are_refused(change: dict[str, Any], text: str) -> None:
    x = tf.constant(1.0, name="x")
    options = tf.RunOptions()
    given = {"debug_urls": ["file:///nowhere"], **change}
    tf_debug.add_debug_tensor_watch(options, "x", **given)
    with pytest.raises(tf.errors.UnimplementedError, match=text):
        tf.Session().run(x, options=options)


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="points to a non-empty directory"):
        tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    with pytest.raises(ValueError, match="points to a file"):
        tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "file"))
    with pytest.raises(OSError, match="does not exist"):
        tf_debug.DebugDumpDir(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="debug_urls must not be empty"):
        tf_debug.watch_graph(tf.RunOptions(), tf.get_default_graph())
    with pytest.raises(ValueError, match="does not conform"):
        tf_debug.DebugTensorDatum(str(tmp_path), "_tfdbg_device_,device_CPU_0/y")


def test_handles_are_messages_and_no_arrays(tmp_path: Path) -> None:
    v = tf.Variable([[1.0, np.nan]], name="v", use_resource=True)
    w = tf.multiply(v, 2.0, name="w")
    with tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path)) as session:
        session.run(v.initializer)
        session.run([w, tf.FIFOQueue(3, tf.float32, name="q").size()])
    second = runs(tmp_path)[1]
    values = {datum.tensor_name: datum.get_tensor() for datum in second.dumped_tensor_data}
    for name in "v:0", "q:0":
        assert isinstance(values[name], tf_debug.InconvertibleTensorProto)
        assert values[name].initialized and "DT_RESOURCE" in str(values[name])
    np.testing.assert_array_equal(values["w:0"], [[2.0, np.nan]])
    bad = [datum.tensor_name for datum in second.find(tf_debug.has_inf_or_nan)]
    assert "w:0" in bad and "v:0" not in bad


def test_runs_go_on_without_a_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.log(x, name="y")
    plain = tf.Session()
    with tf_debug.LocalCLIDebugWrapperSession(plain, str(tmp_path), ui_type="readline") as session:
        assert session.session is plain and session.graph is y.graph
        assert session.run(y, {x: [1.0, 1.0]}).tolist() == [0.0, 0.0]
        assert y.eval({x: [0.0, 1.0]})[0] == -np.inf
    assert capsys.readouterr().err == (
        "tfdbg: its command line is not in numbaflow: runs go on, as `run -n` lets them\n"
    )
    assert not os.listdir(tmp_path)


def test_a_filter_reports_the_first_run_that_passes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(tf.log(x, name="bad"), 1.0, name="y")
    session = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), str(tmp_path))
    session.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    call = session.make_callable(y, [x])
    assert call([1.0, 1.0]).tolist() == [1.0, 1.0]
    assert not os.listdir(tmp_path)
    for _ in range(2):
        assert np.isnan(session.run(y, {x: [-1.0, 0.0]})[0])
    (kept,) = tmp_path.iterdir()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "tfdbg: its command line is not in numbaflow: runs go on until has_inf_or_nan passes",
        "tfdbg: run 2: 2 values pass has_inf_or_nan, the first first",
        "  bad:0  float32 [2]  1 NaN and 1 infinite of 2",
        "  y:0  float32 [2]  1 NaN and 1 infinite of 2",
        f"tfdbg: DebugDumpDir({str(kept)!r}) has all of the run; later runs are not watched",
    ]
    assert tf_debug.DebugDumpDir(str(kept)).node_exists("bad")


def test_what_a_failing_run_had_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked = tf.check_numerics(tf.log(tf.constant([0.0]), name="bad"), "Inf")
    session = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), str(tmp_path))
    session.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        session.run(checked)
    assert "  bad:0  float32 [1]  0 NaN and 1 infinite of 1" in capsys.readouterr().err


def test_a_hook_filters_runs_of_monitored_sessions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    change = tf.assign_add(tf.train.get_or_create_global_step(), 1, name="change")
    hook = tf_debug.LocalCLIDebugHook()
    hook.add_tensor_filter("large", lambda datum, value: datum.node_name == "change" and value > 1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert [session.run(change) for _ in range(3)] == [1, 2, 3]
    assert "run 2: 1 values pass large" in capsys.readouterr().err
    (root,) = tmp_path.iterdir()
    (folder,) = root.iterdir()
    (value,) = tf_debug.DebugDumpDir(str(folder)).get_tensors("change", 0, "DebugIdentity")
    assert value == 2


def test_wrong_filters_are_refused(tmp_path: Path) -> None:
    session = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    with pytest.raises(ValueError, match="filter_name cannot be empty"):
        session.add_tensor_filter("", tf_debug.has_inf_or_nan)
    with pytest.raises(TypeError, match="filter_name is expected to be str"):
        session.add_tensor_filter(tf_debug.has_inf_or_nan, "has_inf_or_nan")
    with pytest.raises(TypeError, match="expected to be callable"):
        session.add_tensor_filter("has_inf_or_nan", None)
    with pytest.raises(ValueError, match="Invalid ui_type: 'none'"):
        tf_debug.LocalCLIDebugHook("none")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="dump_root path points to a non-empty directory"):
        tf_debug.LocalCLIDebugWrapperSession(tf.Session(), str(tmp_path))


def test_values_are_summed_up(tmp_path: Path) -> None:
    inf = np.inf
    x = tf.placeholder(tf.float32, [2, 4], name="x")
    y = tf.identity(x, name="y")
    tf.as_string(x, name="text")
    bounded = "DebugNumericSummary(lower_bound=-2.0; upper_bound=4.0)"
    muted = "DebugNumericSummary(mute_if_healthy=true)"
    found = {}
    for name, asked in {
        "all": ["DebugIdentity", "DebugNanCount", "DebugNumericSummary"],
        "bounded": [bounded],
        "muted": [muted],
    }.items():
        options, folder = tf.RunOptions(), tmp_path / name
        folder.mkdir()
        url = f"file://{folder}"
        tf_debug.watch_graph(options, tf.get_default_graph(), asked, url, "y|text")
        with tf.Session() as session:
            fed = {x: [[-inf, -3, 0, 0], [2, 5, inf, np.nan]]}
            session.run([y, "text:0"], fed, options=options)
            if name == "muted":
                session.run(y, {x: np.ones((2, 4))}, options=options)
        found[name] = tf_debug.DebugDumpDir(str(folder))
    assert found["all"].get_tensors("y", 0, "DebugNanCount")[0].tolist() == [1]
    (told,) = found["all"].get_tensors("y", 0, "DebugNumericSummary")
    assert told[:8].tolist() == [1, 8, 1, 1, 1, 2, 2, 1]
    np.testing.assert_allclose(told[8:12], [-3, 5, 0.8, np.var([-3, 0, 0, 2, 5])])
    assert told[12:].tolist() == [tf.float32.as_datatype_enum, 2, 2, 4]
    (told,) = found["bounded"].get_tensors("y", 0, "DebugNumericSummary")
    assert told[:8].tolist() == [1, 8, 1, 2, 0, 2, 1, 2]
    assert found["muted"].size == 1
    assert found["all"].debug_watch_keys("text") == ["text:0:DebugIdentity"]


def test_older_programs_choose_by_tuples(tmp_path: Path) -> None:
    y = tf.add(1.0, 2.0, name="y")
    root = tmp_path / "dump"
    choose = lambda fetches, feeds: (["DebugIdentity"], "y$", ".*")  # noqa: E731
    with tf_debug.DumpingDebugWrapperSession(tf.Session(), str(root), watch_fn=choose) as session:
        session.run(y * 2.0)
    (run,) = runs(root)
    assert run.nodes() == ["y"]


def test_runs_have_keys() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    assert json.loads(tf_debug.get_run_key({"a": a}, {"x": [b, a]})) == [["a:0"], ["b:0", "a:0"]]
