# SPDX-License-Identifier: Apache-2.0
"""What of a run is begun as one, what is copied and awaited, by a driver that is strict."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import card as cards
from numbaflow.jit.cuda.device import Device, Memory
from numbaflow.jit.cuda.staging import BLOCK

from . import fake_driver

pytestmark = pytest.mark.cpu


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> fake_driver.FakeDriver:
    found = fake_driver.FakeDriver(total_bytes=1 << 28)
    fake_driver.install(monkeypatch, found)
    return found


@pytest.fixture
def card(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    (found,) = cards.found()
    fake_driver.show(monkeypatch, (found,))
    with settings.override(jit="always"), tf.Graph().as_default():
        yield found


def chain(x: Any, length: int) -> Any:
    """So many kernels: sums over all, each of which the next one needs."""
    for _ in range(length):
        x = x / (1.0 + tf.reduce_sum(tf.abs(x)))
    return x


def calls_of(fake: fake_driver.FakeDriver, work: Callable[[], Any]) -> Counter[str]:
    fake.calls.clear()
    work()
    return Counter(fake.calls)


def test_what_runs_often_is_recorded_and_replayed(fake: Any, card: Device) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = chain(x, 8)
    with tf.Session() as session:
        found, calls = [], []
        for turn in range(5):
            values = np.arange(6, dtype=np.float32) + turn
            calls.append(calls_of(fake, lambda v=values: found.append(session.run(y, {x: v}))))
        assert all("cuGraphLaunch" not in call for call in calls[:2])
        assert calls[2]["cuStreamBeginCapture"] == calls[2]["cuGraphInstantiate"] == 1
        for call in calls[3:]:
            assert call["cuGraphLaunch"] == 1 and "cuLaunchKernel" not in call
            # One copy there, one back, one wait.
            assert call["cuMemcpyHtoDAsync"] == call["cuMemcpyDtoHAsync"] == 1
            assert call["cuEventSynchronize"] == 1
        with settings.override(gpu="none"), tf.Session() as other:
            for turn, mine in enumerate(found):
                values = np.arange(6, dtype=np.float32) + turn
                np.testing.assert_allclose(mine, other.run(y, {x: values}), rtol=1e-5)


def test_sizes_that_come_once_are_not_recorded(fake: Any, card: Device) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = chain(x, 8)
    with tf.Session() as session:
        calls = calls_of(fake, lambda: [session.run(y, {x: np.ones(n)}) for n in range(1, 6)])
    assert "cuStreamBeginCapture" not in calls


def test_a_variable_that_moves_is_found_by_what_was_recorded(fake: Any, card: Device) -> None:
    v = tf.Variable(tf.ones([4]))
    y = chain(v, 6)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            before = session.run(y)
        (cell,) = {
            entry[0]
            for arena in session.gpu.arenas(session)
            for run in arena.runs.values()
            for entry in run.cells
        }
        cell.value = np.full(4, 2.0, np.float32)  # other memory, on both sides
        after = session.run(y)
        calls = calls_of(fake, lambda: session.run(y))
    assert not np.array_equal(before, after)
    assert "cuGraphLaunch" in calls and "cuStreamBeginCapture" not in calls


def test_turns_of_a_loop_are_replayed(fake: Any, card: Device) -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.while_loop(
        lambda i, v: tf.reduce_sum(v) < 1e3, lambda i, v: (i + 1, chain(v, 4) + v), [0, x]
    )
    wanted = [tf.reduce_sum(y[1]), y[0]]
    values = np.array([1.0, 2.0, 3.0], np.float32)
    with tf.Session() as session:
        calls = calls_of(fake, lambda: session.run(wanted, {x: values}))
        found = session.run(wanted, {x: values})
    with settings.override(gpu="none"), tf.Session() as other:
        np.testing.assert_allclose(found, other.run(wanted, {x: values}), rtol=1e-5)
    assert calls["cuGraphLaunch"] > 100 and calls["cuStreamBeginCapture"] <= 3


def test_what_cannot_be_recorded_is_begun_one_by_one(fake: Any, card: Any) -> None:
    x = tf.placeholder(tf.float32, [4])
    y = chain(x, 5)
    with tf.Session() as session:
        for _ in range(2):
            wanted = session.run(y, {x: np.ones(4)})
        unsupported = fake_driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        fake.failing["cuLaunchKernel"] = unsupported
        with pytest.warns(RuntimeWarning, match="begun one by one"):
            assert np.array_equal(session.run(y, {x: np.ones(4)}), wanted)
        calls = calls_of(fake, lambda: session.run(y, {x: np.ones(4)}))
    assert "cuGraphLaunch" not in calls and "cuStreamBeginCapture" not in calls


def test_threads_may_record_while_others_run(fake: Any, card: Device) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = chain(x, 5)
    values = [np.arange(n, dtype=np.float32) for n in (3, 4, 5, 6)]
    with settings.override(gpu="none"), tf.Session() as other:
        wanted = [other.run(y, {x: v}) for v in values]
    faults: list[Any] = []

    def work(session: Any, number: int) -> None:
        try:
            for _ in range(8):
                found = session.run(y, {x: values[number]})
                np.testing.assert_allclose(found, wanted[number], rtol=1e-5)
        except BaseException as error:
            faults.append(error)

    with tf.Session() as session:
        threads = [threading.Thread(target=work, args=(session, n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not faults


def test_memory_that_goes_while_something_is_recorded(fake: Any, card: Any) -> None:
    memory = [Memory(card, 64), Memory(card, 64)]
    launched: list[int] = []

    def launch() -> None:
        if memory:
            memory.pop()
        card.stream().begin(lambda: launched.append(1))

    replay = card.recorded([launch, launch])
    assert not launched and not memory
    assert replay is not None
    replay()
    replay()
    card.synchronize()
    assert len(launched) == 4
    assert card.used_bytes == 0 and fake.memories[0].used == 0


def test_what_goes_past_the_stream_is_not_replayed(card: Any) -> None:
    assert card.recorded([lambda: None, lambda: None]) is None


@pytest.mark.parametrize("count", [0, 1, 65, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 12 * BLOCK + 77])
def test_copies_of_all_lengths(count: int, card: Device) -> None:
    rng = np.random.default_rng(count)
    sent = [rng.integers(0, 256, count, np.uint8) for _ in range(3)]
    memory = [Memory(card, count) for _ in sent]
    wanted = [array.copy() for array in sent]
    for array, there in zip(sent, memory):
        card.upload(there.address, array)
        array[:] = 0  # it may be changed at once
    found = [np.empty(count, np.uint8) for _ in sent]
    card.download_all([(array, there.address) for array, there in zip(found, memory)])
    for mine, theirs in zip(found, wanted):
        assert np.array_equal(mine, theirs)


def test_many_short_copies_before_anything_is_done(card: Device) -> None:
    memory = Memory(card, 400 * 40_000)
    for number in range(400):
        card.upload(memory.address + 40_000 * number, np.full(40_000, number % 251, np.uint8))
    found = np.empty(400 * 40_000, np.uint8)
    card.download(found, memory.address)
    assert np.array_equal(found.reshape(400, -1), (np.arange(400) % 251)[:, None].repeat(40_000, 1))


def test_a_driver_is_strict(fake: Any, card: Any) -> None:
    stream, memory = card.stream(), Memory(card, 64)
    array = np.zeros(64, np.uint8)
    with pytest.raises(fake_driver.Misuse, match="page-locked"):
        fake.cuMemcpyHtoDAsync(memory.address, array.ctypes.data, 64, stream)
    with pytest.raises(fake_driver.Misuse, match="not there"):
        fake.cuMemFreeAsync(memory.address + 1, stream)
    faults: list[BaseException] = []

    def without_context() -> None:
        try:
            fake.cuMemAllocAsync(8, stream)
        except fake_driver.Misuse as error:
            faults.append(error)

    thread = threading.Thread(target=without_context)
    thread.start()
    thread.join()
    assert len(faults) == 1
    fake.cuStreamBeginCapture(stream, 2)
    assert fake.cuStreamSynchronize(stream)[0] != 0
    assert fake.cuStreamEndCapture(stream)[0] != 0


def test_what_nobody_uses_is_freed_before_memory_is_said_to_be_out(fake: Any, card: Device) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.cumsum(x) * tf.reverse(x, [0]))
    count = (1 << 28) // 4 // 4  # what a run of one session takes leaves no room for another's
    with tf.Session() as one, tf.Session() as other:
        for session in (one, other, one, other):
            assert session.run(y, {x: np.zeros(count, np.float32)}) == 0.0
        assert card.used_bytes <= card.limit_bytes == 1 << 28
    assert "cuMemPoolTrimTo" in fake.calls


def test_a_share_of_the_memory_is_all_that_is_taken(card: Device) -> None:
    options = tf.GPUOptions(per_process_gpu_memory_fraction=1 / 256)
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.cumsum(x) * tf.reverse(x, [0]))
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
        assert session.list_devices()[1].memory_limit_bytes == card.limit_bytes == 1 << 20
        with pytest.raises(tf.errors.ResourceExhaustedError, match="largest buffers"):
            session.run(y, {x: np.zeros(1 << 20, np.float32)})
        assert session.run(y, {x: np.zeros(100, np.float32)}) == 0.0
