# SPDX-License-Identifier: Apache-2.0
"""What becomes of training when processes are killed, stopped or cut off: real ones, real signals.

Each worker counts in a variable of its own on the parameter server what it has added, and tells
every addition that was acknowledged; so an update that is lost or applied twice shows.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.cluster import launch, link

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="processes are stopped by signals"),
]

ROUNDS = pytest.mark.parametrize(
    "rounds", [pytest.param(1, id="once"), pytest.param(50, id="often", marks=pytest.mark.deep)]
)
# Longer than anything may take, on a machine that does much else.
DEADLINE = 60.0

SERVE = """
import json, sys
import numbaflow as tf
cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(cluster, job_name=job, task_index=task)
print("ready", flush=True)
"""
JOIN = SERVE + "server.join()\n"
# Adds one, again and again, and says how often it began and how often it was told that it is done.
ADD = (
    SERVE
    + """
with tf.device("/job:ps/task:0"):
    count = tf.get_variable("count%d" % task, [], tf.int64, tf.zeros_initializer())
with tf.device("/job:worker/task:%d" % task):
    one = tf.identity(tf.placeholder_with_default(tf.constant(1, tf.int64), []))
add = count.assign_add(one)
filters = ["/job:ps", "/job:worker/task:%d" % task]
config = tf.ConfigProto(device_filters=filters, operation_timeout_in_ms=int(sys.argv[4]))
with tf.Session(server.target, config=config) as sess:
    if not sess.run(tf.is_variable_initialized(count)):
        sess.run(count.initializer)
    while True:
        print("began", flush=True)
        try:
            sess.run(add)
            print("done", flush=True)
        except tf.errors.OpError as error:
            print("failed", type(error).__name__, str(error).replace("\\n", " "), flush=True)
"""
)


class Process:
    """A task, with the lines that it has printed."""

    def __init__(self, program: str, cluster: Any, job: str, task: int, *more: str) -> None:
        arguments = [json.dumps(cluster), job, str(task), *more]
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.lines: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        until(lambda: "ready" in self.lines or self.process.poll() is not None)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            self.lines.extend(line.rstrip("\n") for line in iter(lines.readline, ""))

    def count(self, word: str) -> int:
        """How many lines begin with a word."""
        return sum(line.startswith(word) for line in list(self.lines))

    def goes_on(self, word: str = "done", much: int = 5) -> None:
        """Waits for so many lines more."""
        before = self.count(word)
        until(lambda: self.count(word) >= before + much)

    def send(self, number: int) -> None:
        """Sends a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Ends it at once; all that it has printed is known then."""
        self.process.kill()
        self.process.wait()
        self._thread.join()


def until(condition: Any) -> None:
    """Waits for a condition."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.005)


class Cluster:
    """A parameter server and two workers."""

    def __init__(self, milliseconds: int = 0) -> None:
        hosts = [f"localhost:{port}" for port in launch.free_ports(3)]
        self.spec, self._more = {"ps": hosts[:1], "worker": hosts[1:]}, str(milliseconds)
        self.ps = Process(JOIN, self.spec, "ps", 0)
        self.workers = [self.worker(task) for task in range(2)]
        # What was acknowledged, and what may have been done, by workers that are gone.
        self._done, self._maybe = [0, 0], [0, 0]

    def worker(self, task: int) -> Process:
        """Starts a worker."""
        return Process(ADD, self.spec, "worker", task, self._more)

    def forget(self, task: int) -> None:
        """Kills a worker, and keeps what it has done."""
        worker = self.workers[task]
        worker.kill()
        self._done[task] += worker.count("done")
        self._maybe[task] += worker.count("began") - worker.count("done")

    def check(self) -> None:
        """Every addition that was acknowledged is there, and none is there twice."""
        for task in range(2):
            self.forget(task)
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            counts = [tf.get_variable(f"count{i}", [], tf.int64) for i in range(2)]
            config = tf.ConfigProto(device_filters=["/job:ps"])
            with tf.Session(f"grpc://{self.spec['ps'][0]}", config=config) as sess:
                # What a worker began that was killed may be under way still.
                found: list[int] = sess.run(counts)
        for count, done, maybe in zip(found, self._done, self._maybe, strict=True):
            assert done <= count <= done + maybe

    def close(self) -> None:
        """Ends all."""
        for one in (*self.workers, self.ps):
            one.kill()


@pytest.fixture
def running() -> Iterator[Cluster]:
    """A cluster whose workers add."""
    made = Cluster()
    for worker in made.workers:
        worker.goes_on()
    yield made
    made.close()


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
        running.ps = Process(JOIN, running.spec, "ps", 0)
        for task in range(2):
            # It has lost the variables: sessions that know of them begin anew.
            running.workers[task].kill()
            running.workers[task] = running.worker(task)
            running.workers[task].goes_on()
    running.check()


@ROUNDS
def test_a_parameter_server_that_stands_still_goes_on(running: Cluster, rounds: int) -> None:
    for _ in range(rounds):
        running.ps.send(signal.SIGSTOP)
        time.sleep(0.3)
        counts = [worker.count("done") for worker in running.workers]
        time.sleep(0.3 if rounds == 1 else 20)
        assert counts == [worker.count("done") for worker in running.workers]
        running.ps.send(signal.SIGCONT)
        for worker in running.workers:
            worker.goes_on()
    running.check()


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
        with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
            tf.train.Server({"local": [address]})


def test_messages_that_are_cut_harm_nobody_else(running: Cluster) -> None:
    draws = random.Random(0)
    host, _, port = running.spec["ps"][0].rpartition(":")
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        config = tf.ConfigProto(device_filters=["/job:ps"])
        with tf.Session(f"grpc://{host}:{port}", config=config) as sess:
            sess.run(tf.constant(1.0))
            name = sess.remote._master.link._address  # type: ignore[union-attr]
    for number in range(40):
        data = draws.randbytes(draws.choice([1, 40, 64, 200, 4000]))
        with socket.create_connection((host, int(port))) as cut:
            cut.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[: number % 24] + data)
        if link.is_possible():
            with link.make_socket() as cut:
                cut.connect(name)
                with suppress(OSError):
                    cut.send(bytes([number % 4, 0, 0, 0]) + data)
    for worker in running.workers:
        worker.goes_on()
        assert not worker.count("failed")
    running.check()


TRAIN = """
import sys
import tensorflow as tf

tf.flags.DEFINE_string("job_name", "", "")
tf.flags.DEFINE_string("folder", "", "")
tf.flags.DEFINE_integer("task_index", 0, "")
tf.flags.DEFINE_list("ps_hosts", [], "")
tf.flags.DEFINE_list("worker_hosts", [], "")
FLAGS = tf.flags.FLAGS


def main(_):
    from numbaflow.train.sessions import session_manager
    session_manager.time.sleep = lambda seconds, sleep=session_manager.time.sleep: sleep(0.2)
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
            config=tf.ConfigProto(device_filters=filters),
            hooks=[tf.train.StopAtStepHook(last_step=160)]) as sess:
        while not sess.should_stop():
            now, value = sess.run([step, x, train])[:2]
            if now % 20 == 0:
                print("step", now, flush=True)
            import time; time.sleep(0.01)
    print("trained to %.2f" % value, flush=True)


tf.app.run(main)
"""


class _Killing(launch.LocalEngine):
    """Kills tasks of a job, once each, when the training has gone on for a while."""

    def __init__(self, job: str, index: int) -> None:
        self._victim, self._is_done = launch.Task(job, index), False
        self.started: dict[launch.Task, Any] = {}

    def start(
        self, task: launch.Task, arguments: Sequence[str], variables: Any, say: Any
    ) -> launch.Running:
        def told(line: str) -> None:
            say(line)
            if line == "step 60" and not self._is_done:
                self._is_done = True
                self.started[self._victim]._signal(signal.SIGKILL)

        self.started[task] = super().start(task, arguments, variables, told)
        return self.started[task]


@pytest.mark.parametrize(
    ("job", "index"),
    [
        ("ps", 0),
        pytest.param("worker", 0, marks=pytest.mark.deep),
        pytest.param("worker", 1, marks=pytest.mark.deep),
    ],
)
def test_training_goes_on_from_the_checkpoint(job: str, index: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRAIN)
    lines: list[str] = []
    arguments = [str(tmp_path / "program.py"), f"--folder={tmp_path / 'model'}"]
    code = launch.launch(
        _Killing(job, index), launch.tasks_of(1, 2), arguments, grace=2.0, say=lines.append
    )
    assert code == 0, lines
    assert f"[{job} {index}] ended with signal SIGKILL; it is started again (1 of 3)" in lines
    assert "[worker 0] trained to 3.00" in lines
