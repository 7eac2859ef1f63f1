# SPDX-License-Identifier: Apache-2.0
"""Which devices sessions have and what runs where, on emulated GPUs."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.device_placement import gpus

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def two() -> Any:
    with settings.override(gpu="emulated:2", jit="always"), tf.Graph().as_default():
        yield


def test_devices_are_listed() -> None:
    with tf.Session() as session:
        kinds = [device.device_type for device in session.list_devices()]
        assert kinds == ["CPU", "GPU", "GPU"]
        assert session.list_devices()[1].name.endswith("/device:GPU:0")
        assert session.list_devices()[1].memory_limit_bytes == gpus()[0].total_bytes
    assert tf.test.is_gpu_available() and tf.test.is_built_with_cuda()
    assert tf.test.is_gpu_available(True, (8, 0)) and not tf.test.is_gpu_available(True, (99, 0))
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    found = tf.config.experimental.list_physical_devices("GPU")
    assert [device.name for device in found] == ["/physical_device:GPU:0", "/physical_device:GPU:1"]


def test_none_are_listed_where_none_are_wanted() -> None:
    with settings.override(gpu="none"), tf.Session() as session:
        assert [device.device_type for device in session.list_devices()] == ["CPU"]
        assert session.gpu is None
        assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""


@pytest.mark.parametrize(
    ("config", "number"),
    [
        (tf.ConfigProto(), 0),
        (tf.ConfigProto(device_count={"GPU": 0}), None),
        (tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="1")), 1),
        (tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="7")), None),
    ],
)
def test_a_session_has_the_gpus_that_its_config_says(config: Any, number: int | None) -> None:
    with tf.Session(config=config) as session:
        assert (session.gpu.device.number if session.gpu else None) == number


def launches() -> int:
    return gpus()[0].launches  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(("device", "is_gpu"), [("", True), ("/gpu:0", True), ("/cpu:0", False)])
def test_operations_run_where_they_are_told_to(device: str, is_gpu: bool) -> None:
    x = tf.placeholder(tf.float32, [None])
    with tf.device(device):
        y = tf.exp(x) * 2.0
    before = launches()
    with tf.Session() as session:
        assert session.run(y, {x: [0.0]}).tolist() == [2.0]
    assert (launches() > before) == is_gpu


def test_a_gpu_that_is_not_there_is_refused() -> None:
    with tf.device("/gpu:2"):
        y = tf.constant(1.0) * 2.0
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="device:GPU:1 ]. Make sure"):
            session.run(y)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(y) == 2.0


@pytest.mark.parametrize("text", ["yes", "emulated:x", "cuda"])
def test_a_setting_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_GPU", text)
    with pytest.raises(ValueError, match="NUMBAFLOW_GPU"):
        settings._BY_NAME["gpu"].parse(text)


def test_where_operations_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.device("/gpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:0"):
        b = tf.add(a, 2.0, name="b")
    c = tf.identity(tf.py_func(lambda x: x, [b], tf.float32, name="f"), name="c")
    task = "/job:localhost/replica:0/task:0/device"
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(config=config) as session:
        found = capsys.readouterr().out.splitlines()
        assert found == [
            "Device mapping:",
            *(
                f"{task}:GPU:{n} -> device: {n}, name: emulated, pci bus id: none, "
                "compute capability: 8.0"
                for n in (0, 1)
            ),
        ]
        session.run(c)
        assert capsys.readouterr().out.splitlines() == [
            f"b: (Add): {task}:CPU:0",
            f"f: (PyFunc): {task}:CPU:0",
            f"c: (Identity): {task}:GPU:0",
            f"a: (Const): {task}:GPU:1",
            f"b/y: (Const): {task}:CPU:0",
        ]
        session.run(c)
        assert capsys.readouterr().out == ""
    with settings.override(gpu="none"), tf.Session(config=config):
        assert capsys.readouterr().out == "Device mapping: no known devices.\n"


def test_devices_tell_how_much_of_their_memory_is_in_use() -> None:
    stats = tf.contrib.memory_stats
    v = tf.Variable(tf.zeros([1000]))
    step = tf.assign_add(v, tf.ones([1000]))
    with tf.control_dependencies([step]):
        found = []
        for number in (0, 1):
            with tf.device(f"/gpu:{number}"):
                found.append([stats.BytesInUse(), stats.MaxBytesInUse(), stats.BytesLimit()])
    with tf.device("/cpu:0"):
        none = stats.BytesInUse()
    with tf.Session() as session:
        session.run(v.initializer)
        first, second = session.run(found)
        assert first[1] >= first[0] >= 4000 and first[2] == gpus()[0].total_bytes
        assert second[1] >= second[0] and second[2] == gpus()[1].total_bytes
        with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
            session.run(none)
