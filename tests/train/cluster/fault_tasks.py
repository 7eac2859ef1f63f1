# SPDX-License-Identifier: Apache-2.0
"""Processes that are tasks of a cluster, for tests of what becomes of them when something fails.

Each worker marks what it adds in an array of its own on the parameter server: one element an
addition.  It tells which additions it began, and which were acknowledged; so each one that is lost
or applied twice shows.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.train.cluster import launch

# Longer than anything may take, on a machine that does much else.
DEADLINE = 60.0
# How many additions an array has room for.
ROOM = 1 << 20

SERVE = """
import json, sys, time
import numbaflow as tf
cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if "grpc" in sys.argv[4:]:
    from numbaflow.train.cluster import link
    link.is_possible = lambda: False
server = tf.train.Server(cluster, job_name=job, task_index=task)
"""
# A parameter server.  At SIGUSR1 it ends a connection that runs come by, whatever is on it.
JOIN = (
    SERVE
    + """
import random, signal

def cut(number, frame):
    links = server._host._link
    with links._lock:
        wires = list(links._wires)
    if wires:
        random.choice(wires).end()

signal.signal(signal.SIGUSR1, cut)
print("ready", flush=True)
while True:
    signal.pause()
"""
)
# Adds one, again and again, and says which addition it begins and which it was told is done.
ADD = (
    SERVE
    + """
# (Each line at once: who is killed says a line or says it not.)
say = lambda line: print(line + "\\n", end="", flush=True)
print("ready", flush=True)
number = int(sys.argv[5])
with tf.device("/job:ps/task:0"):
    marks = tf.get_variable("marks%d" % task, [ROOM], tf.int32, tf.zeros_initializer())
with tf.device("/job:worker/task:%d" % task):
    at = tf.placeholder(tf.int32, [])
    one = tf.identity(tf.placeholder_with_default(1, []))
add = tf.scatter_add(marks, at, one)
filters = ["/job:ps", "/job:worker/task:%d" % task]
config = tf.ConfigProto(device_filters=filters, operation_timeout_in_ms=int(sys.argv[6]))
is_made = tf.is_variable_initialized(marks)
with tf.Session(server.target, config=config) as sess:
    # (What is made at first may take longer than a run may.)
    while True:
        try:
            if sess.run(is_made):
                break
            sess.run(marks.initializer)
        except tf.errors.DeadlineExceededError:
            pass
    while True:
        say("began %d" % number)
        try:
            sess.run(add.op, {at: number})
            say("done %d" % number)
        except tf.errors.OpError as error:
            say("failed %s %s" % (type(error).__name__, str(error).replace("\\n", " ")))
            time.sleep(0.01)
        number += 1
        time.sleep(float(sys.argv[7]))
"""
).replace("ROOM", str(ROOM))


def until(condition: Any, seconds: float = DEADLINE) -> None:
    """Waits for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.005)


class Process:
    """A task, with the lines that it has printed."""

    def __init__(self, program: str, cluster: Any, job: str, task: int, *more: str) -> None:
        arguments = [json.dumps(cluster), job, str(task), *more]
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        # How many lines begin with a word, of so many that were looked at.
        self._counts: dict[str, tuple[int, int]] = {}
        self.complaints: list[str] = []
        self._threads = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in (
                (self.process.stdout, self.lines),
                (self.process.stderr, self.complaints),
            )
        ]
        for thread in self._threads:
            thread.start()
        until(lambda: "ready" in self.lines or self.process.poll() is not None)

    @staticmethod
    def _read(file: Any, lines: list[str]) -> None:
        with file:
            lines.extend(line.rstrip("\n") for line in iter(file.readline, ""))

    def count(self, word: str) -> int:
        """How many lines begin with a word."""
        count, known = self._counts.get(word, (0, 0))
        more = self.lines[known:]
        count += sum(line.startswith(word) for line in more)
        self._counts[word] = count, known + len(more)
        return count

    def numbers(self, word: str) -> set[int]:
        """The additions that lines with a word tell of."""
        return {int(line.split()[1]) for line in list(self.lines) if line.startswith(word)}

    def goes_on(self, word: str = "done", much: int = 5) -> None:
        """Waits for so many lines more."""
        before = self.count(word)
        until(lambda: self.count(word) >= before + much)

    def send(self, number: int) -> None:
        """Sends a signal."""
        self.process.send_signal(number)

    def ended(self) -> int:
        """The exit code, once it has ended by itself; all that it has printed is known then."""
        code = self.process.wait(DEADLINE)
        for thread in self._threads:
            thread.join()
        return code

    def kill(self) -> None:
        """Ends it at once; all that it has printed is known then."""
        self.process.kill()
        self.ended()

    def resident(self) -> int:
        """The bytes of its memory that are its own."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            sizes = dict(line.split()[:2] for line in file if line.startswith(("Rss", "Private")))
        return 1024 * sum(int(size) for name, size in sizes.items() if name.startswith("Private"))


class Cutter:
    """Hands on what comes for a port, and cuts connections in the middle of what they carry."""

    def __init__(self, port: int) -> None:
        self._port, self._lock = port, threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        # Bytes that still pass; without end but while a cut is due.
        self._left: float = float("inf")
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._port))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._pairs.append((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                with self._lock:
                    passing = int(min(self._left, len(data)))
                    self._left -= passing
                target.sendall(data[:passing])
                if passing < len(data):
                    self._cut()
                    return
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def cut_after(self, size: int) -> None:
        """Cuts all connections when so many bytes more have passed."""
        with self._lock:
            self._left = size

    @property
    def is_due(self) -> bool:
        """Whether a cut is to come."""
        return self._left != float("inf")

    def _cut(self) -> None:
        """Ends all connections as by a reset, whatever was under way."""
        with self._lock:
            self._left, pairs, self._pairs = float("inf"), self._pairs, []
        for pair in pairs:
            for one in pair:
                with suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def close(self) -> None:
        """Ends listening, and all connections."""
        self._listener.close()
        self._cut()


class Cluster:
    """A parameter server and two workers."""

    def __init__(self, milliseconds: int = 0, is_cut: bool = False, pause: float = 0.0) -> None:
        """milliseconds: that a run may take.  is_cut: whether workers reach it by a Cutter.

        pause: seconds between two additions of a worker, which has no room for any number of them.
        """
        hosts = [f"localhost:{port}" for port in launch.free_ports(3)]
        self.spec, self._milliseconds = {"ps": hosts[:1], "worker": hosts[1:]}, milliseconds
        self._pause = pause
        self.cutter = Cutter(int(hosts[0].rpartition(":")[2])) if is_cut else None
        # What the workers take for the cluster.
        self._seen = dict(self.spec)
        if self.cutter is not None:
            self._seen["ps"] = [f"localhost:{self.cutter.port}"]
        self._next = [0, 0]
        # What was acknowledged, and what was begun, by workers that are gone.
        self._done: list[set[int]] = [set(), set()]
        self._began: list[set[int]] = [set(), set()]
        self.ps = self.server()
        self.workers = [self.worker(task) for task in range(2)]

    def server(self) -> Process:
        """Starts the parameter server."""
        return Process(JOIN, self.spec, "ps", 0, "link" if self.cutter is None else "grpc")

    def worker(self, task: int) -> Process:
        """Starts a worker, which goes on behind what its predecessor has begun."""
        kind = "link" if self.cutter is None else "grpc"
        more = (kind, str(self._next[task]), str(self._milliseconds), str(self._pause))
        return Process(ADD, self._seen, "worker", task, *more)

    def forget(self, task: int) -> None:
        """Kills a worker, and keeps what it has done."""
        worker = self.workers[task]
        worker.kill()
        self._done[task] |= worker.numbers("done")
        self._began[task] |= worker.numbers("began")
        self._next[task] = max(self._began[task], default=-1) + 1

    def begin_anew(self) -> None:
        """Starts the workers again for a parameter server that has lost what they did."""
        for task in range(2):
            self.workers[task].kill()
            self._done[task], self._began[task], self._next[task] = set(), set(), 0
            self.workers[task] = self.worker(task)

    def check(self) -> None:
        """Every addition that was acknowledged is there, and none is there twice."""
        for task in range(2):
            self.forget(task)
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            marks = [tf.get_variable(f"marks{i}", [ROOM], tf.int32) for i in range(2)]
            config = tf.ConfigProto(device_filters=["/job:ps"])
            with tf.Session(f"grpc://{self.spec['ps'][0]}", config=config) as sess:
                # What a worker began that was killed may be under way still.
                found = sess.run(marks)
        for counts, done, began in zip(found, self._done, self._began, strict=True):
            assert counts.max() == 1 and counts.min() == 0
            applied = set(np.flatnonzero(counts).tolist())
            assert done and done <= applied <= began

    def close(self) -> None:
        """Ends all."""
        for one in (*self.workers, self.ps):
            one.kill()
        if self.cutter is not None:
            self.cutter.close()


class Squatter:
    """Somebody else at a port."""

    def __init__(self, port: int, draws: random.Random) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((draws.choice(["127.0.0.1", "0.0.0.0"]), port))
        self._socket.listen()

    def close(self) -> None:
        """Leaves it."""
        self._socket.close()
