# SPDX-License-Identifier: Apache-2.0
"""Several GPUs in one session: parts of a run on each, variables that go between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit.cuda import card as cards

from . import fake_driver, programs

pytestmark = pytest.mark.cpu


@pytest.fixture
def two() -> Any:
    with settings.override(gpu="emulated:2", jit="always"), tf.Graph().as_default():
        yield gpus()


def towers(devices: tuple[str, str], session: Any = None) -> list[Any]:
    """Training by two towers, whose mean gradients the processor gets: losses, and the weights."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        optimizer, gradients, losses, feeds = tf.train.AdamOptimizer(0.05), [], [], []
        for number, device in enumerate(devices):
            with tf.device(device), tf.variable_scope("net", reuse=number > 0):
                x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 2])
                with tf.device("/cpu:0"):
                    w = tf.get_variable(
                        "w", [6, 5], initializer=tf.random_normal_initializer(seed=1)
                    )
                    u = tf.get_variable(
                        "u", [5, 2], initializer=tf.random_normal_initializer(seed=2)
                    )
                loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, w)), u) - y))
                gradients.append(optimizer.compute_gradients(loss, [w, u]))
                losses.append(loss)
                feeds += [x, y]
        with tf.device("/cpu:0"):
            mean = [((one + other) / 2.0, v) for (one, v), (other, _) in zip(*gradients)]
            step = optimizer.apply_gradients(mean)
        rng = np.random.default_rng(0)
        values = {
            feed: rng.standard_normal((8, feed.shape.as_list()[1]), np.float32) for feed in feeds
        }
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            found = [session.run([losses, step], values)[0] for _ in range(6)]
            return [*found, *session.run([w, u])]


def on_processor(*arguments: Any) -> list[Any]:
    with settings.override(gpu="none", jit="always"):
        return towers(*arguments)


def test_towers_on_two_devices_train_as_on_the_processor(two: Any) -> None:
    before = [device.launches for device in two]
    found = towers(("/gpu:0", "/gpu:1"))
    assert all(device.launches > count for device, count in zip(two, before))
    programs.assert_alike(found, on_processor(("/gpu:0", "/gpu:1")))


def test_towers_on_two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_driver.FakeDriver(cards=2)
    fake_driver.install(monkeypatch, fake)
    found = tuple(cards.found())
    fake_driver.show(monkeypatch, found)
    with settings.override(jit="always"):
        results = towers(("/gpu:0", "/gpu:1"))
    assert fake.calls.count("cuMemcpyPeerAsync") >= 6 and "cuGraphLaunch" in fake.calls
    programs.assert_alike(results, on_processor(("/gpu:0", "/gpu:1")))


def test_operations_run_on_the_gpu_that_they_name(two: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/gpu:1"):
        y = tf.exp(x) * 2.0
    with tf.Session() as session:
        before = [device.launches for device in two]
        assert session.run(y, {x: [0.0]}).tolist() == [2.0]
        after = [device.launches for device in two]
    assert after[0] == before[0] and after[1] > before[1]


def test_a_variable_has_one_newest_content(two: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    steps = []
    for number in (0, 1):
        with tf.device(f"/gpu:{number}"):
            steps.append((tf.assign_add(v, [1.0, number]), tf.reduce_sum(v * 2.0)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(steps[0][0].op)
            session.run(steps[1][0].op)
        assert session.run(v).tolist() == [5.0, 4.0]
        session.run(steps[0][0].op)
        assert session.run(steps[1][1]) == session.run(steps[0][1]) == 20.0
        v.load([1.0, 1.0], session)
        assert session.run(steps[0][1]) == session.run(steps[1][1]) == 4.0


def test_branches_and_loops_stay_on_one_gpu(two: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.device("/gpu:1"):
        start = x * 2.0
    with tf.device("/gpu:0"):
        turns = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * s / 2.0), [0, start])[1]
    with tf.device("/gpu:1"):
        end = tf.cond(turns > 1.0, lambda: turns + 1.0, lambda: turns - 1.0)
    with tf.Session() as session:
        assert session.run(end, {x: 1.0}) == 3.0
        assert session.run(end, {x: 0.5}) == 0.5**15 - 1.0


def test_results_of_one_are_given_to_another(two: Any) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((4, 4)).astype(np.float32)
    y = x = tf.placeholder(tf.float32, [None, None])
    for number in range(6):
        with tf.device(f"/gpu:{number % 2}"):
            y = tf.tanh(tf.matmul(y, x)) + y
    with tf.Session() as session:
        found = [session.run(y, {x: values[:n, :n]}) for n in (4, 3, 4)]
    with settings.override(gpu="none"):
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            for mine, n in zip(found, (4, 3, 4)):
                wanted = session.run(y, {x: values[:n, :n]})
                np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)
