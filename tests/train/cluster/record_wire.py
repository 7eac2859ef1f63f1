# SPDX-License-Identifier: Apache-2.0
"""Records what TensorFlow 1.15's client, master and worker say to each other.

    NUMBAFLOW_TF115_PYTHON=... python -m numbaflow.tests.train.cluster.record_wire

Both tasks of a cluster of TensorFlow are reached by a server that hands calls on, and writes them
down to wire.json: the service and its task, the method, the request, and the response or the error.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numbaflow.train.cluster import launch, rpc

RECORD = Path(__file__).parent / "wire.json"
BEGIN = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow
tf = tensorflow.compat.v1
"""
SERVE = (
    BEGIN
    + """
cluster = {"ps": [sys.argv[1]], "worker": [sys.argv[2]]}
address = sys.argv[4]
definition = tf.train.ServerDef(
    cluster=tf.train.ClusterSpec(cluster).as_cluster_def(), job_name=sys.argv[3], protocol="grpc")
for job in definition.cluster.job:
    if job.name == sys.argv[3]:
        job.tasks[0] = address
server = tf.train.Server(definition)
print("ready", flush=True)
server.join()
"""
)
# What the client does: the same program for TensorFlow's and for ours.
PROGRAM = """
def program(tf, target):
    found = []
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            v = tf.get_variable("v", [3], initializer=tf.constant_initializer([1.0, 2.0, 3.0]))
            w = tf.get_variable("w", [3], use_resource=True, initializer=tf.ones_initializer())
            names = tf.constant(["a", "bc"], name="names")
        with tf.device("/job:worker"):
            x = tf.placeholder(tf.float32, [3], name="x")
            loss = tf.reduce_sum(tf.square(x * v + w), name="loss")
            lengths = tf.string_join([names, ["x", "y"]], name="joined")
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        with tf.Session(target) as session:
            session.run([v.initializer, w.initializer])
            for _ in range(3):
                found.append(session.run([loss, train], {x: [1, 2, 3]})[0].tolist())
            found.append(session.run(v).tolist())
            found.append([one.decode() for one in session.run(lengths)])
            # The graph grows.
            more = tf.reshape(v, tf.placeholder_with_default([2, 2], [2]), name="wrong")
            try:
                session.run(more)
            except tf.errors.InvalidArgumentError as error:
                found.append(error.op.name)
    return found
"""
CLIENT = BEGIN + PROGRAM + "print(program(tf, sys.argv[1]))\n"


class Recorder:
    """Hands on the calls for a task, and writes them down."""

    def __init__(self, task: str, address: str, calls: list[dict[str, Any]]) -> None:
        grpc = rpc.grpc()
        self._task, self._calls, self._lock = task, calls, threading.Lock()
        self._channel = grpc.insecure_channel(address, options=rpc.options())
        self._grpc = grpc
        self._server = grpc.server(ThreadPoolExecutor(32), options=rpc.options())
        self.port = self._server.add_insecure_port("localhost:0")
        self._server.add_generic_rpc_handlers((self,))
        self._server.start()

    def service(self, details: Any) -> Any:
        """What answers a call: gRPC asks for it by this name."""

        def answer(request: bytes, context: Any) -> bytes:
            call = {"task": self._task, "method": details.method, "request": _text(request)}
            with self._lock:
                self._calls.append(call)
            try:
                response: bytes = self._channel.unary_unary(details.method)(
                    request, wait_for_ready=True
                )
                call["response"] = _text(response)
                return response
            except self._grpc.RpcError as error:
                call["error"] = [error.code().value[0], error.details()]
                context.abort(error.code(), error.details())

        return self._grpc.unary_unary_rpc_method_handler(answer)

    def close(self) -> None:
        """Ends it."""
        self._server.stop(None)
        self._channel.close()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def main() -> None:
    """Runs the program with TensorFlow, and writes what was said."""
    python = os.environ["NUMBAFLOW_TF115_PYTHON"]
    own = [f"localhost:{port}" for port in launch.free_ports(2)]
    calls: list[dict[str, Any]] = []
    with ExitStack() as stack:
        recorders = [Recorder(task, at, calls) for task, at in zip(("ps", "worker"), own)]
        shown = [f"localhost:{recorder.port}" for recorder in recorders]
        for job, address in zip(("ps", "worker"), own):
            running = subprocess.Popen(
                [python, "-W", "ignore", "-c", SERVE, *shown, job, address],
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(running.kill)
            assert running.stdout is not None
            running.stdout.readline()
        command = [python, "-W", "ignore", "-c", CLIENT, f"grpc://{shown[1]}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for recorder in recorders:
            recorder.close()
    found = {"found": eval(done.stdout), "calls": calls}
    RECORD.write_text(json.dumps(found, indent=0) + "\n")
    print(done.stdout, [call["task"] + call["method"] for call in calls])


if __name__ == "__main__":
    main()
