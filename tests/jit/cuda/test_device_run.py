# SPDX-License-Identifier: Apache-2.0
"""Runs on a device beside runs without one, whole programs at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import card as cards
from numbaflow.jit.cuda.device_plan import Launch, ProcessorCall
from numbaflow.jit.cuda.emulated import EmulatedDevice

from . import fake_driver, programs

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def emulated() -> Any:
    with settings.override(gpu="emulated", jit="always"):
        yield


def on_processor(name: str) -> list[Any]:
    with settings.override(gpu="none", jit="always"):
        found, gpu = programs.results(name)
    assert gpu is None
    return found


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_programs_give_the_same_on_a_device(name: str, emulated: Any) -> None:
    found, gpu = programs.results(name)
    programs.assert_alike(found, on_processor(name))
    assert gpu.device.launches > 0


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_programs_give_the_same_by_way_of_a_driver(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = on_processor(name)
    fake = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, fake)
    (card,) = cards.found()
    fake_driver.show(monkeypatch, (card,))
    with settings.override(jit="always"):
        found, gpu = programs.results(name)
    assert gpu.device is card and "cuLaunchKernel" in fake.calls
    programs.assert_alike(found, wanted)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_two_runs_on_a_device_give_the_same_bits(name: str, emulated: Any) -> None:
    one, other = (tf.nest.flatten(programs.results(name)[0]) for _ in range(2))
    for mine, theirs in zip(one, other, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


def test_a_training_step_leaves_nothing_to_the_processor(emulated: Any) -> None:
    _, gpu = programs.results("pictures")
    rows = [
        row for arena in gpu.arenas(None) for run in arena.runs.values() for row in run.plan.rows
    ]
    assert any(isinstance(row, Launch) for row in rows)
    assert not [row.step for row in rows if isinstance(row, ProcessorCall)]


def test_memory_goes_back_to_the_device(emulated: Any) -> None:
    _, gpu = programs.results("rows")
    device = gpu.device
    held = device.used_bytes
    for _ in range(3):
        programs.results("rows")
        import gc

        gc.collect()
        assert device.used_bytes <= held


def test_out_of_memory_is_an_error_that_tells_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    small = EmulatedDevice(total_bytes=1 << 16)
    fake_driver.show(monkeypatch, (small,))
    x = tf.placeholder(tf.float32, [None, 100])
    product = tf.matmul(x, x, transpose_b=True)
    total = tf.reduce_sum(tf.exp(product + tf.transpose(product) * tf.reduce_max(product)))
    with settings.override(jit="always"), tf.Session() as session:
        assert np.isfinite(session.run(total, {x: np.zeros((4, 100))}))
        with pytest.raises(tf.errors.ResourceExhaustedError, match="MatMul"):
            session.run(total, {x: np.zeros((200, 100))})
        assert np.isfinite(session.run(total, {x: np.zeros((4, 100))}))


def test_what_the_driver_says_is_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, fake)
    devices = tuple(cards.found())
    fake_driver.show(monkeypatch, devices)
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.exp(x))
    with settings.override(jit="always"), tf.Session() as session:
        session.run(y, {x: [1.0, 2.0]})
        fake.failing["cuLaunchKernel"] = fake_driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
        with pytest.raises(tf.errors.InternalError, match="cuda_error_illegal_address"):
            session.run(y, {x: [1.0, 2.0]})
        assert session.run(y, {x: [0.0]}) == 1.0


def test_without_a_driver_there_are_no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, fake)
    fake.failing["cuInit"] = fake_driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert cards.found() == []


def test_indices_are_checked_on_a_device(emulated: Any) -> None:
    ids = tf.placeholder(tf.int32, [None])
    found = tf.gather(tf.Variable(tf.zeros([4, 2])), ids)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 9"):
            session.run(found, {ids: [0, 9]})


def test_a_variable_that_changes_its_shape(emulated: Any) -> None:
    v = tf.Variable(tf.zeros([3]), validate_shape=False)
    x = tf.placeholder(tf.float32)
    longer = tf.assign(v, x, validate_shape=False)
    total = tf.reduce_sum(v * 2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 0.0
        session.run(longer, {x: np.ones(5)})
        assert session.run(total) == 10.0


def test_checkpoints_hold_what_the_device_has(emulated: Any, tmp_path: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    step = tf.assign_add(v, [1.0, 1.0])
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(step)
        assert session.run(v).tolist() == [3.0, 4.0]
        saver.restore(session, path)
        session.run(step)
        assert session.run(v).tolist() == [3.0, 4.0]


def test_explain_times_a_device_and_changes_nothing(emulated: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    step = tf.assign_add(v, tf.exp(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        report = session.explain(step)
        assert [kernel.seconds > 0 for kernel in report.kernels] == [True]
        assert session.run(v).tolist() == [1.0, 2.0]
