# SPDX-License-Identifier: Apache-2.0
"""What becomes of training when real processes are killed, stopped or cut off by real signals."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.cluster import launch, link

from .fault_tasks import JOIN, Cluster, Process, Squatter, until

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="processes are stopped by signals"),
]

ROUNDS = pytest.mark.parametrize(
    "rounds", [pytest.param(1, id="once"), pytest.param(50, id="often", marks=pytest.mark.deep)]
)
# Seconds that a process stands still: a few in every test run, as many as hurt when there is time.
_STOPPED = {1: 0.5, 50: 20.0}


def _running(**given: Any) -> Iterator[Cluster]:
    made = Cluster(**given)
    try:
        for worker in made.workers:
            worker.goes_on()
        yield made
    finally:
        made.close()


@pytest.fixture
def running() -> Iterator[Cluster]:
    """A cluster whose workers add."""
    yield from _running()


@pytest.fixture
def slow() -> Iterator[Cluster]:
    """One whose workers add for a long time before they have no more room."""
    yield from _running(pause=0.002)


@pytest.fixture
def cut_off() -> Iterator[Cluster]:
    """One whose workers reach the parameter server over gRPC, by what may cut connections."""
    yield from _running(is_cut=True)


@ROUNDS
def test_a_worker_that_is_killed_holds_up_nobody(running: Cluster, rounds: int) -> None:
    for number in range(rounds):
        task = number % 2
        time.sleep(random.random() / 20)
        running.forget(task)
        running.workers[1 - task].goes_on()
        running.workers[task] = running.worker(task)
        running.workers[task].goes_on()
    running.check()


@ROUNDS
def test_a_parameter_server_that_is_killed_is_named(running: Cluster, rounds: int) -> None:
    for _ in range(rounds):
        running.ps.kill()
        for worker in running.workers:
            worker.goes_on("failed", 2)
            kinds = {line.split()[1] for line in worker.lines if line.startswith("failed")}
            assert kinds <= {"UnavailableError", "AbortedError"}
            assert any("/job:ps/replica:0/task:0" in line for line in worker.lines)
        running.ps = running.server()
        # It has lost the variables: sessions that know of them begin anew.
        running.begin_anew()
        for worker in running.workers:
            worker.goes_on()
    running.check()


@ROUNDS
def test_a_parameter_server_that_stands_still_goes_on(slow: Cluster, rounds: int) -> None:
    for _ in range(rounds):
        slow.ps.send(signal.SIGSTOP)
        time.sleep(0.3)
        counts = [worker.count("done") for worker in slow.workers]
        time.sleep(_STOPPED[rounds] / 2)
        assert counts == [worker.count("done") for worker in slow.workers]
        slow.ps.send(signal.SIGCONT)
        for worker in slow.workers:
            worker.goes_on()
    assert not any(worker.count("failed") for worker in slow.workers)
    slow.check()


@ROUNDS
def test_a_worker_that_stands_still_holds_up_nobody(slow: Cluster, rounds: int) -> None:
    for number in range(rounds):
        stopped, other = slow.workers[number % 2], slow.workers[1 - number % 2]
        time.sleep(random.random() / 20)
        stopped.send(signal.SIGSTOP)
        end = time.monotonic() + _STOPPED[rounds]
        while time.monotonic() < end:
            other.goes_on()
        stopped.send(signal.SIGCONT)
        stopped.goes_on()
    assert not any(worker.count("failed") for worker in slow.workers)
    slow.check()


def test_runs_end_in_time_while_a_server_stands_still() -> None:
    cluster = Cluster(milliseconds=3000)
    try:
        for worker in cluster.workers:
            worker.goes_on()
        cluster.ps.send(signal.SIGSTOP)
        cluster.workers[0].goes_on("failed DeadlineExceededError", 2)
        cluster.ps.send(signal.SIGCONT)
        cluster.workers[0].goes_on()
        cluster.check()
    finally:
        cluster.ps.send(signal.SIGCONT)
        cluster.close()


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        address = f"localhost:{taken.getsockname()[1]}"
        with pytest.raises(
            tf.errors.UnknownError,
            match=f"Could not start gRPC server.*/job:local/replica:0/task:0.*{address}",
        ):
            tf.train.Server({"local": [address]})


@ROUNDS
def test_a_task_whose_port_is_taken_ends(running: Cluster, rounds: int) -> None:
    draws = random.Random(rounds)
    port = int(running.spec["ps"][0].rpartition(":")[2])
    for _ in range(rounds):
        running.ps.kill()
        squatter = Squatter(port, draws)
        try:
            refused = Process(JOIN, running.spec, "ps", 0)
            assert refused.ended() == 1
            assert "Could not start gRPC server" in refused.complaints[-1]
            assert "/job:ps/replica:0/task:0" in refused.complaints[-1]
            for worker in running.workers:
                worker.goes_on("failed", 1)
        finally:
            squatter.close()
        running.ps = running.server()
        running.begin_anew()
        for worker in running.workers:
            worker.goes_on()
    running.check()


@ROUNDS
def test_a_message_that_is_cut_is_a_failure_of_one_run(cut_off: Cluster, rounds: int) -> None:
    cutter, draws = cut_off.cutter, random.Random(rounds)
    assert cutter is not None
    for _ in range(rounds):
        cutter.cut_after(draws.randrange(3000))
        until(lambda: not cutter.is_due)
        for worker in cut_off.workers:
            worker.goes_on()
    for worker in cut_off.workers:
        failed = [line for line in worker.lines if line.startswith("failed")]
        assert all("UnavailableError" in line for line in failed), failed[:3]
        assert all("/job:ps/replica:0/task:0" in line for line in failed), failed[:3]
    assert any(worker.count("failed") for worker in cut_off.workers)
    cut_off.check()


@pytest.mark.skipif(not link.is_possible(), reason="processes of a machine are not linked here")
@ROUNDS
def test_a_link_that_is_cut_is_a_failure_of_one_run(running: Cluster, rounds: int) -> None:
    for _ in range(rounds):
        for _ in range(10):
            time.sleep(random.random() / 50)
            running.ps.send(signal.SIGUSR1)
        for worker in running.workers:
            worker.goes_on()
    for worker in running.workers:
        failed = [line for line in worker.lines if line.startswith("failed")]
        assert all("UnavailableError" in line for line in failed), failed[:3]
        assert all("/job:ps/replica:0/task:0" in line for line in failed), failed[:3]
    running.check()


def test_messages_that_are_cut_harm_nobody_else(running: Cluster) -> None:
    draws = random.Random(0)
    host, _, port = running.spec["ps"][0].rpartition(":")
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        config = tf.ConfigProto(device_filters=["/job:ps"])
        with tf.Session(f"grpc://{host}:{port}", config=config) as sess:
            sess.run(tf.constant(1.0))
            name = sess.remote._master.link.name  # type: ignore[union-attr]
    for number in range(40):
        data = draws.randbytes(draws.choice([1, 40, 64, 200, 4000]))
        with socket.create_connection((host, int(port))) as cut:
            cut.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[: number % 24] + data)
        if link.is_possible():
            with link.make_socket() as cut:
                cut.connect("\0" + name)
                with suppress(OSError):
                    cut.send(bytes([number % 4, 0, 0, 0]) + data)
    for worker in running.workers:
        worker.goes_on()
        assert not worker.count("failed")
    running.check()


TRAIN = """
import os
import time
import tensorflow as tf

tf.flags.DEFINE_string("job_name", "", "")
tf.flags.DEFINE_string("folder", "", "")
tf.flags.DEFINE_integer("task_index", 0, "")
tf.flags.DEFINE_string("over", "", "a file that says at which step training ends")
tf.flags.DEFINE_list("ps_hosts", [], "")
tf.flags.DEFINE_list("worker_hosts", [], "")
FLAGS = tf.flags.FLAGS


def main(_):
    from numbaflow.train.sessions import session_manager
    waits = session_manager.time.sleep
    session_manager.time.sleep = lambda seconds: waits(min(seconds, 0.2))
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    print("serves", flush=True)
    if FLAGS.job_name == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(
            worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        x = tf.get_variable("x", [], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x - 3.0), step)
    filters = ["/job:ps", "/job:worker/task:%d" % FLAGS.task_index]
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=FLAGS.task_index == 0,
            checkpoint_dir=FLAGS.folder, save_checkpoint_steps=20, save_summaries_steps=None,
            config=tf.ConfigProto(device_filters=filters)) as sess:
        now, last = 0, float("inf")
        while now < last and not sess.should_stop():
            now, value = sess.run([step, x, train])[:2]
            print("step", now, flush=True)
            time.sleep(0.01)
            if os.path.exists(FLAGS.over):
                with open(FLAGS.over) as file:
                    last = int(file.read())
    print("trained to %.2f" % value, flush=True)


tf.app.run(main)
"""


class _Killing(launch.LocalEngine):
    """Kills a task, again and again, whenever the training has gone on for a while."""

    def __init__(self, job: str, index: int, at: Sequence[int], over: Path) -> None:
        """at: the steps at which it does; over: where it says afterwards when training ends."""
        self._victim, self._at, self._over = launch.Task(job, index), list(at), over
        self.started: dict[launch.Task, Any] = {}

    def start(
        self, task: launch.Task, arguments: Sequence[str], variables: Any, say: Any
    ) -> launch.Running:
        def told(line: str) -> None:
            say(line)
            word, _, step = line.partition(" ")
            # Of a worker its own lines say that it is there again.
            tells = word == "step" and (task == self._victim or self._victim.job == "ps")
            victim = self.started[self._victim]
            if tells and self._at and int(step) >= self._at[0] and victim.poll() is None:
                del self._at[0]
                victim._signal(signal.SIGKILL)
                if not self._at:
                    # (However long tasks take to come back, and however far others are by then.)
                    made = self._over.with_suffix(".new")
                    made.write_text(str(int(step) + 200))
                    made.rename(self._over)

        self.started[task] = super().start(task, arguments, variables, told)
        return self.started[task]


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    ("job", "index"),
    [("ps", 0), ("worker", 0), pytest.param("worker", 1, marks=pytest.mark.deep)],
    ids=["ps", "chief", "worker"],
)
def test_training_goes_on_from_the_checkpoint(
    job: str, index: int, rounds: int, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(TRAIN)
    lines: list[str] = []
    # Some way apart, as a chief that comes back restores the last checkpoint.
    at = [60 + 60 * i for i in range(rounds)]
    over = tmp_path / "over"
    arguments = [f"--folder={tmp_path / 'model'}", f"--over={over}"]
    engine = _Killing(job, index, at, over)
    code = launch.launch(
        engine,
        launch.tasks_of(1, 2),
        [str(tmp_path / "program.py"), *arguments],
        restarts=rounds,
        grace=2.0,
        say=lines.append,
    )
    assert code == 0, lines
    killed = f"[{job} {index}] ended with signal SIGKILL; it is started again"
    assert sum(line.startswith(killed) for line in lines) == rounds, lines
    assert "[worker 0] trained to 3.00" in lines
