# SPDX-License-Identifier: Apache-2.0
"""Monitored sessions, their hooks, the supervisor and session managers: whole training loops."""

from __future__ import annotations

import logging
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as g:
        yield g


def counting() -> tuple[Any, Any, Any]:
    """A variable, a step that adds one to it and to the global step, and a loss."""
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=0.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        train = tf.assign_add(step, 1)
    return v, train, tf.square(v)


def events(folder: pathlib.Path) -> list[Any]:
    paths = sorted(folder.glob("events.out.tfevents.*"))
    return [event for path in paths for event in tf.train.summary_iterator(str(path))]


class Recorded(tf.train.SessionRunHook):
    """Writes down which of its methods are called."""

    def __init__(self, fetch: Any = None) -> None:
        self.calls: list[Any] = []
        self.fetch = fetch

    def begin(self) -> None:
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append("created")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append(len(run_context.original_args.fetches))
        return None if self.fetch is None else tf.train.SessionRunArgs({"mine": self.fetch})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append(None if self.fetch is None else float(run_values.results["mine"]))

    def end(self, session: Any) -> None:
        self.calls.append("end")


def test_hooks_are_called_in_order() -> None:
    v, train, _ = counting()
    plain, fetching = Recorded(), Recorded(v + 0.5)
    with tf.train.MonitoredSession(hooks=[plain, fetching]) as session:
        session.run([train])
    assert plain.calls == ["begin", "created", 1, None, "end"]
    assert fetching.calls[:3] == ["begin", "created", 1]
    assert fetching.calls[3] in (0.5, 1.5) and fetching.calls[4:] == ["end"]


@pytest.mark.parametrize(("settings", "last"), [({"num_steps": 3}, 3), ({"last_step": 5}, 5)])
def test_stop_at_step(settings: Any, last: int) -> None:
    _, train, _ = counting()
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(**settings)]) as session:
        while not session.should_stop():
            reached = session.run(train)
    assert reached == last


def test_training_goes_on_from_its_checkpoint(tmp_path: pathlib.Path) -> None:
    folder = str(tmp_path)
    for first in (0, 4):
        with tf.Graph().as_default():
            v, train, loss = counting()
            tf.summary.scalar("loss", loss)
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder,
                hooks=[tf.train.StopAtStepHook(num_steps=4)],
                save_checkpoint_secs=None,
                save_checkpoint_steps=2,
                save_summaries_steps=1,
                log_step_count_steps=2,
            ) as session:
                assert session.run(v) == first
                while not session.should_stop():
                    session.run(train)
    assert tf.train.latest_checkpoint(folder).endswith("model.ckpt-8")
    tags = {value.tag for event in events(tmp_path) for value in event.summary.value}
    assert {"loss", "global_step/sec"} <= tags
    assert any(event.HasField("graph_def") for event in events(tmp_path))


def test_a_session_recovers_from_an_abort(tmp_path: pathlib.Path) -> None:
    class Aborts(Recorded):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            super().after_run(run_context, run_values)
            if self.calls.count("created") == 1 and self.calls.count(1) == 3:
                raise tf.errors.AbortedError(None, None, "a worker is gone")

    v, train, _ = counting()
    hook = Aborts()
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path),
        hooks=[hook],
        save_checkpoint_secs=None,
        save_checkpoint_steps=1,
        save_summaries_steps=None,
        log_step_count_steps=None,
    ) as session:
        for _ in range(3):
            session.run([train])
        assert session.run([v])[0] >= 3
    assert hook.calls.count("created") == 2
    with tf.Graph().as_default():
        v, train, _ = counting()
        with pytest.raises(tf.errors.AbortedError, match="a worker is gone"):
            with tf.train.SingularMonitoredSession(hooks=[Aborts()]) as session:
                for _ in range(3):
                    session.run([train])


def test_reading_to_the_end_is_a_clean_end() -> None:
    number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(int(session.run(number)))
    assert found == [0, 1, 2, 3, 4] and session.should_stop()


def test_an_error_of_the_program_is_raised() -> None:
    _, train, _ = counting()
    with pytest.raises(KeyError, match="mine"):
        with tf.train.MonitoredSession() as session:
            session.run(train)
            raise KeyError("mine")


def test_nan_hooks() -> None:
    x = tf.placeholder_with_default(0.0, [])
    loss = tf.log(x - 1.0)
    hook = tf.train.NanTensorHook(loss)
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(loss)
    quiet = tf.train.NanTensorHook(loss, fail_on_nan_loss=False)
    with tf.train.MonitoredSession(hooks=[quiet]) as session:
        session.run(loss, {x: 3.0})
        assert not session.should_stop()
        session.run(loss)
        assert session.should_stop()


def test_logging_feeding_and_final_hooks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tensorflow")
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x * 2.0, name="y")
    final = tf.train.FinalOpsHook(tf.constant([1, 2]))
    hooks = [
        tf.train.LoggingTensorHook({"y": y}, every_n_iter=2, formatter=lambda d: f"y={d['y']}"),
        tf.train.FeedFnHook(lambda: {x: 4.0}),
        final,
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        assert [session.run(y) for _ in range(3)] == [8.0] * 3
    assert [line for line in caplog.messages if "y=" in line] == ["y=8.0", "y=8.0"]
    np.testing.assert_array_equal(final.final_ops_values, [1, 2])


def test_a_supervised_session(tmp_path: pathlib.Path) -> None:
    for first in (0, 3):
        with tf.Graph().as_default():
            v, train, _ = counting()
            supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0)
            with supervisor.managed_session() as session:
                assert session.run(v) == first
                for _ in range(3):
                    session.run(train)
                supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")
    with tf.Graph().as_default():
        counting()
        supervisor = tf.train.Supervisor(logdir=None)
        with pytest.raises(RuntimeError, match="stop here"):
            with supervisor.managed_session():
                raise RuntimeError("stop here")


def test_a_session_manager_waits_for_a_model(tmp_path: pathlib.Path) -> None:
    v, _, _ = counting()
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match="Init operations did not make model ready"):
        manager.prepare_session("", init_op=tf.no_op())
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after"):
        manager.wait_for_session("", max_wait_secs=0)
    session = manager.prepare_session("", init_op=tf.global_variables_initializer())
    assert session.run(v) == 0
    recovered, was_restored = manager.recover_session("", checkpoint_dir=str(tmp_path))
    assert not was_restored
    recovered.close()
    session.close()


def test_a_scaffold_makes_what_is_missing(graph: tf.Graph) -> None:
    counting()
    scaffold = tf.train.Scaffold(init_fn=lambda _, session: session.run("v/Assign"))
    scaffold.finalize()
    assert graph.finalized
    assert scaffold.ready_op.dtype == tf.string and isinstance(scaffold.saver, tf.train.Saver)
    copied = tf.train.Scaffold(copy_from_scaffold=scaffold)
    assert copied.init_op is scaffold.init_op
    with pytest.raises(TypeError, match="not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=1)


def test_step_timers() -> None:
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    assert [timer.should_trigger_for_step(i) for i in (1, 1)] == [True, True]
    assert timer.update_last_triggered_step(1) == (None, None)
    assert [timer.should_trigger_for_step(i) for i in (1, 3, 4)] == [False, False, True]
    seconds, steps = timer.update_last_triggered_step(4)
    assert seconds >= 0 and steps == 3 and timer.last_triggered_step() == 4
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        tf.train.SecondOrStepTimer()


# The chief's thread waits for gradients until the session closes, and then says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_gradients_gathered_over_several_steps() -> None:
    w = tf.Variable(1.0)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.5), replicas_to_aggregate=2, total_num_replicas=2
    )
    train = optimizer.minimize(tf.square(w), global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=2)
    others = set(threading.enumerate())
    with tf.train.MonitoredTrainingSession(hooks=[hook], stop_grace_period_secs=1) as session:
        for _ in range(2):
            session.run(train)
        # One update with the mean of two gradients, each 2.
        while session.run(step) < 1:
            pass
        assert session.run(w) == 0.0
    started = [t for t in set(threading.enumerate()) - others if t.name.startswith("QueueRunner")]
    for thread in started:
        thread.join(30)
    assert not any(thread.is_alive() for thread in started)
