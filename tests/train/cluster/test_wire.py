# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow 1.15's processes have said to each other, with one of them replaced by ours.

wire.json was recorded by record_wire.py; so these run where there is no TensorFlow 1.15.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.train.cluster import rpc
from numbaflow.train.cluster.tensor_messages import decoded, received

from .conftest import free_ports
from .record_wire import PROGRAM, RECORD

pytestmark = pytest.mark.cpu
RECORDED = json.loads(RECORD.read_text())


class Recorded(NamedTuple):
    """One call that TensorFlow made, and how TensorFlow answered."""

    task: str
    service: str
    name: str
    request: Any
    response: Any
    # Of one that failed.
    code: int
    text: str


def recorded() -> list[Recorded]:
    """All calls in their order."""
    found = []
    for call in RECORDED["calls"]:
        service, name = call["method"].removeprefix("/tensorflow.").split("/")
        method = rpc.methods(service)[name]
        request = method.request.FromString(base64.b64decode(call["request"]))
        data = base64.b64decode(call.get("response", ""))
        response = data if name == "RecvTensor" else method.response.FromString(data)
        error = call.get("error", [0, ""])
        found.append(Recorded(call["task"], service, name, request, response, *error))
    return found


def values_of(response: Any) -> dict[str, Any]:
    """The tensors of a RunStepResponse."""
    return {one.name: decoded(one.tensor).tolist() for one in response.tensor}


@contextmanager
def answering(answer: Any) -> Iterator[str]:
    """The address of a server: answer(method, request in bytes) -> the response in bytes."""
    grpc = rpc.grpc()

    class Handler:
        def service(self, details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(
                lambda request, context: answer(details.method, request)
            )

    server = grpc.server(ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        yield f"localhost:{port}"
    finally:
        server.stop(None).wait()


def nodes_of(graph_def: Any) -> dict[str, Any]:
    return {node.name: (node.op, list(node.input), node.device) for node in graph_def.node}


def test_our_client_asks_what_tensorflow_s_does_and_understands_its_master():
    calls = [call for call in recorded() if call.service == rpc.MASTER]
    left, asked = list(calls), []

    def answer(method: str, data: bytes) -> bytes:
        wanted = left.pop(0)
        assert method == f"/tensorflow.{rpc.MASTER}/{wanted.name}"
        asked.append(type(wanted.request).FromString(data))
        response: bytes = wanted.response.SerializeToString()
        return response

    names: dict[str, Any] = {}
    exec(PROGRAM, names)
    with answering(answer) as address:
        found = names["program"](tf, f"grpc://{address}")
    assert found == RECORDED["found"] and not left
    for call, request in zip(calls, asked, strict=True):
        if call.name in ("CreateSession", "ExtendSession"):
            assert nodes_of(request.graph_def) == nodes_of(call.request.graph_def)
        if call.name == "RunStep":
            assert list(request.fetch) == list(call.request.fetch)
            assert sorted(request.target) == sorted(call.request.target)
            assert [one.name for one in request.feed] == [one.name for one in call.request.feed]
            for one, other in zip(request.feed, call.request.feed, strict=True):
                assert decoded(one.tensor).tolist() == decoded(other.tensor).tolist()
        if call.name != "CreateSession":
            assert request.session_handle == calls[0].response.session_handle


def test_our_master_answers_tensorflow_s_client():
    ports = [f"localhost:{port}" for port in free_ports(2)]
    cluster = {"ps": ports[:1], "worker": ports[1:]}
    servers = [tf.train.Server(cluster, job_name=job, task_index=0) for job in cluster]
    channel = rpc.Channel(ports[1], rpc.MASTER)
    handle = ""
    for call in (one for one in recorded() if one.service == rpc.MASTER):
        if call.name != "CreateSession":
            call.request.session_handle = handle
        response = channel.call(call.name, call.request, 60.0)
        if call.name == "CreateSession":
            handle = response.session_handle
            assert response.graph_version == call.response.graph_version
        elif call.name == "ExtendSession":
            assert response.new_graph_version == call.response.new_graph_version
        elif call.name == "RunStep":
            assert response.status_code == call.response.status_code
            wanted = values_of(call.response)
            for name, value in values_of(response).items():
                assert value == wanted.pop(name)
            assert not wanted
            for text in ("{{node wrong}}", "Input to reshape is a tensor with 3 values"):
                assert (text in response.status_error_message) == bool(response.status_code)
                assert (text in call.response.status_error_message) == bool(response.status_code)
    channel.close()
    for server in servers:
        server._stop()


def test_our_worker_does_what_tensorflow_s_master_asks():
    calls = recorded()
    given = {
        call.request.rendezvous_key: call.response
        for call in calls
        if (call.task, call.name) == ("worker", "RecvTensor")
    }
    # (By step, too: each run sends under the same keys.)
    steps = {
        (call.request.step_id, call.request.rendezvous_key): call.response
        for call in calls
        if (call.task, call.name) == ("worker", "RecvTensor")
    }
    assert len(steps) > len(given)

    def answer(method: str, data: bytes) -> bytes:
        assert method == f"/tensorflow.{rpc.WORKER}/RecvTensor"
        request = protos.RecvTensorRequest.FromString(data)
        found: bytes = steps.pop((request.step_id, request.rendezvous_key))
        return found

    with answering(answer) as address:
        own = f"localhost:{free_ports(1)[0]}"
        cluster = {"ps": [own], "worker": [address]}
        server = tf.train.Server(cluster, job_name="ps", task_index=0, start=False)
        status = next(call for call in calls if call.name == "GetStatus").response
        server._host.worker.incarnation = status.device_attributes[0].incarnation
        server.start()
        channel = rpc.Channel(own, rpc.WORKER)
        try:
            _replay(channel, [call for call in calls if call.task == "ps"])
        finally:
            channel.close()
            server._stop()
    assert not steps


def _replay(channel: Any, calls: list[Recorded]) -> None:
    """Makes the calls that a master made, and holds what is answered against the record."""
    handles: dict[str, str] = {}
    under_way: list[tuple[Recorded, Any]] = []
    for call in calls:
        if call.name == "RunGraph":
            call.request.graph_handle = handles[call.request.graph_handle]
        if call.name in ("RunGraph", "RecvTensor"):
            decode = bytes if call.name == "RecvTensor" else None
            begun = channel.begin(call.name, call.request, 60.0, decode=decode)
            under_way.append((call, begun))
            continue
        for made, begun in under_way:
            if not made.code:
                _hold(made, channel.outcome(begun))
                continue
            with pytest.raises(tf.errors.OpError) as caught:
                channel.outcome(begun)
            assert caught.value.error_code == made.code
        under_way = []
        response = channel.call(call.name, call.request, 60.0)
        if call.name == "RegisterGraph":
            handles[call.response.graph_handle] = response.graph_handle
        if call.name == "GetStatus":
            assert response.device_attributes[0].name == call.response.device_attributes[0].name


def _hold(call: Recorded, response: Any) -> None:
    """What our worker answers is what TensorFlow's did."""
    if call.name == "RecvTensor":
        own, other = received(response), received(call.response)
        assert own is not None and other is not None
        assert own.dtype == other.dtype and np.array_equal(own, other)
        return
    assert response.status_code == call.response.status_code
    for one, other in zip(response.recv, call.response.recv, strict=True):
        assert one.name == other.name
        assert decoded(one.tensor).tolist() == decoded(other.tensor).tolist()
