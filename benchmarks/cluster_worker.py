# SPDX-License-Identifier: Apache-2.0
"""One task of one side of `benchmarks.cluster`: a process that serves, and trains on request.

`python -m benchmarks.cluster_worker PEER THREADS` reads JSON commands, one a line, from standard
input and answers each with one line of JSON.
"""

from __future__ import annotations

import importlib
import threading
import time
from typing import Any

import numpy as np

from .serving import serve

# (Runs under the Python 3.7 of TensorFlow 1.15, and imports little: starts are measured, too.)
_MODULES = {"numbaflow": "numbaflow", "tensorflow": "tensorflow.compat.v1"}
_INPUTS, _HIDDEN, _CLASSES, _BATCH = 784, 100, 10, 100


class Worker:
    """Holds a server and a session between commands; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        self._tf = importlib.import_module(_MODULES[peer])
        self._threads = threads
        self._server: Any = None
        self._session: Any = None
        self._step: Any = None
        self._thread: Any = None
        self._goes_on = threading.Event()
        self._count = 0

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": getattr(self._tf, "__numbaflow_version__", None) or self._tf.__version__}

    def apart(self) -> dict[str, Any]:
        """Has this task take all others for tasks of other machines: before it listens."""
        link = importlib.import_module("numbaflow.train.cluster.link")
        link.is_possible = lambda: False  # type: ignore[attr-defined]
        return {}

    def listen(self, cluster: dict[str, list[str]], job: str, task: int) -> dict[str, Any]:
        """Starts the server of a task."""
        config = self._tf.ConfigProto(intra_op_parallelism_threads=self._threads)
        self._server = self._tf.train.Server(
            self._tf.train.ClusterSpec(cluster), job_name=job, task_index=task, config=config
        )
        return {"target": self._server.target}

    def scalar(self, target: str) -> dict[str, Any]:
        """Prepares runs of a scalar through the master at an address."""
        tf = self._tf
        with tf.Graph().as_default():
            fed = tf.placeholder(tf.float32, [])
            sum_ = fed + tf.constant(1.0)
            self._session = tf.Session(target)
        self._step = lambda: self._session.run(sum_, {fed: 2.0})
        self._step()
        return {}

    def echo(self, target: str, size: int) -> dict[str, Any]:
        """Prepares runs that send so many bytes to the master at an address, and take them back."""
        tf = self._tf
        with tf.Graph().as_default():
            fed = tf.placeholder(tf.float32, [None])
            back = tf.negative(fed)
            self._session = tf.Session(target)
        value = np.ones(size // 4, np.float32)
        self._step = lambda: self._session.run(back, {fed: value})
        self._step()
        return {}

    def alone(self) -> dict[str, Any]:
        """Prepares steps of the perceptron's training in this process alone."""
        tf = self._tf
        with tf.Graph().as_default():
            images, labels, loss, train, _ = self._model({}, False, 0)
            config = tf.ConfigProto(intra_op_parallelism_threads=self._threads)
            self._session = tf.Session(config=config)
            self._session.run(tf.global_variables_initializer())
        batch, kinds = self._batch(0)
        self._step = lambda: self._session.run([train, loss], {images: batch, labels: kinds})
        self._step()
        return {}

    @staticmethod
    def _batch(task: int) -> Any:
        draws = np.random.RandomState(task)
        batch = draws.rand(_BATCH, _INPUTS).astype(np.float32)
        return batch, draws.randint(0, _CLASSES, _BATCH)

    def tensor(self, source: str, target: str, size: int) -> dict[str, Any]:
        """Prepares runs that bring a variable of so many bytes from one task to another."""
        tf = self._tf
        with tf.Graph().as_default():
            with tf.device(source):
                kept = tf.get_variable("kept", [size // 4], initializer=tf.ones_initializer())
            with tf.device(target):
                taken = tf.reduce_max(tf.identity(kept)[:1])
            self._session = tf.Session(self._server.target)
            self._session.run(kept.initializer)
        self._step = lambda: self._session.run(taken)
        self._step()
        return {}

    def train(self, cluster: dict[str, list[str]], task: int, is_sync: bool) -> dict[str, Any]:
        """Prepares the training of the perceptron."""
        tf = self._tf
        with tf.Graph().as_default():
            setter = tf.train.replica_device_setter(
                worker_device=f"/job:worker/task:{task}", cluster=tf.train.ClusterSpec(cluster)
            )
            with tf.device(setter):
                images, labels, loss, train, hooks = self._model(cluster, is_sync, task)
            self._session = tf.train.MonitoredTrainingSession(
                master=self._server.target,
                is_chief=task == 0,
                hooks=hooks,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                stop_grace_period_secs=2,
            )
        batch, kinds = self._batch(task)
        self._step = lambda: self._session.run([train, loss], {images: batch, labels: kinds})
        return {}

    def _model(self, cluster: dict[str, list[str]], is_sync: bool, task: int) -> Any:
        tf = self._tf
        count = tf.train.get_or_create_global_step()
        images = tf.placeholder(tf.float32, [None, _INPUTS])
        labels = tf.placeholder(tf.int64, [None])
        draw = tf.truncated_normal_initializer(stddev=0.05, seed=1)
        hidden = tf.nn.relu(
            tf.matmul(images, tf.get_variable("w1", [_INPUTS, _HIDDEN], initializer=draw))
            + tf.get_variable("b1", [_HIDDEN], initializer=tf.zeros_initializer())
        )
        logits = tf.matmul(
            hidden, tf.get_variable("w2", [_HIDDEN, _CLASSES], initializer=draw)
        ) + tf.get_variable("b2", [_CLASSES], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        optimizer = tf.train.AdamOptimizer(0.001)
        if not is_sync:
            return images, labels, loss, optimizer.minimize(loss, global_step=count), []
        workers = len(cluster["worker"])
        optimizer = tf.train.SyncReplicasOptimizer(
            optimizer, replicas_to_aggregate=workers, total_num_replicas=workers
        )
        train = optimizer.minimize(loss, global_step=count)
        hooks = [optimizer.make_session_run_hook(task == 0)]
        return images, labels, loss, train, hooks

    def steps(self, seconds: float) -> dict[str, Any]:
        """Takes steps for so long: how many, and the seconds of all and of one."""
        clock, processor, times = time.perf_counter(), time.process_time(), []
        before = clock
        while before - clock < seconds or not times:
            self._step()
            now = time.perf_counter()
            times.append(now - before)
            before = now
        return {
            "count": len(times),
            "seconds": before - clock,
            "processor": time.process_time() - processor,
            "median": float(np.median(times)),
            "nine of ten": float(np.percentile(times, 90)),
        }

    def resume(self) -> dict[str, Any]:
        """Takes steps in a thread until `pause`."""
        self._goes_on.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        return {}

    def _work(self) -> None:
        while self._goes_on.wait():
            self._step()
            self._count += 1

    def pause(self) -> dict[str, Any]:
        """Ends that, after a step that may wait for others; the steps taken so far."""
        self._goes_on.clear()
        return {"count": self._count}


if __name__ == "__main__":
    serve(Worker)
