# SPDX-License-Identifier: Apache-2.0
"""Stored plans of parts of runs: behind what runs on the host, and of what resources give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cache import checked_files
from numbaflow.jit.cache.plan_files import PLANS
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.runtime.plan_encoding import Stored, to_bytes
from numbaflow.jit.runtime.plan_key import NotStored
from numbaflow.jit.runtime.plan_writing import Writer

from .stored import Traces, bits, results

pytestmark = pytest.mark.cpu

NUMBERS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache of plans, which tests otherwise do without."""
    monkeypatch.setattr(verify_kernel, "enabled", False)
    monkeypatch.setattr(verify_kernel, "guards", "")
    with settings.override(jit="always"):
        monkeypatch.setattr(checked_files.Folder, "path", lambda self: tmp_path / self.name)
        yield


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Traces:
    return Traces(monkeypatch)


def _numbers() -> Any:
    return tf.placeholder(tf.float32, [None, 3], name="x")


def _trained(x: Any, width: int = 4) -> Any:
    """A step of training on rows of three, and what it comes to."""
    y = tf.layers.dense(tf.layers.dense(x, width, tf.nn.tanh), 2)
    loss = tf.reduce_mean(tf.square(y))
    return loss, tf.train.AdamOptimizer(0.1).minimize(loss)


def through_python(width: int = 4, factor: float = 1.0) -> Any:
    x = tf.layers.dense(_numbers() * factor, 3, tf.nn.relu)
    y = tf.py_func(lambda rows: np.sort(rows, 0)[1:], [x], tf.float32)
    return _trained(tf.reshape(y, [-1, 3]), width)


def through_python_twice() -> Any:
    x = tf.layers.dense(_numbers(), 3, tf.nn.relu)
    for _ in range(2):
        y = tf.py_func(lambda rows: rows[::2], [tf.exp(x) * 2.0 - 1.0], tf.float32)
        x = tf.layers.dense(tf.reshape(y, [-1, 3]), 3, tf.nn.tanh) + tf.constant([0.5, 1.0, 2.0])
    return _trained(x)


def of_a_dataset() -> Any:
    _numbers()
    data = tf.data.Dataset.from_tensor_slices(np.tile(NUMBERS, (4, 1)))
    rows = data.map(lambda row: row * 2.0).repeat().batch(5).make_one_shot_iterator().get_next()
    return _trained(rows)


def looked_up() -> Any:
    x = _numbers()
    keys = tf.as_string(tf.cast(tf.range(tf.shape(x)[0]) % 3, tf.int64))
    known = tf.lookup.KeyValueTensorInitializer(["0", "1"], np.array([2, 1]))
    table = tf.lookup.StaticHashTable(known, 0)
    vectors = tf.get_variable("vectors", [3, 3])
    return _trained(tf.nn.embedding_lookup(vectors, table.lookup(keys)) + x)


def with_texts() -> Any:
    x = _numbers()
    names = tf.constant([b"one", b"\xff\x00two", b""])
    total = tf.reduce_sum(tf.exp(x), 1)
    chosen = tf.gather(names, tf.cast(tf.argmax(x, 1), tf.int32))
    return tf.strings.join([chosen, tf.as_string(total > 2.0)], "-"), names, total * 2.0 + 1.0


def shuffled() -> Any:
    x = _numbers()
    rows = tf.random_shuffle(tf.exp(x) * 2.0 + 1.0, seed=3)
    return rows, tf.reduce_sum(rows * tf.constant([1.0, 2.0, 3.0]), 1)


def branched_behind() -> Any:
    x = tf.py_func(lambda rows: rows[1:], [tf.exp(_numbers())], tf.float32)
    x = tf.reshape(x, [-1, 3])
    steps = tf.get_variable("steps", [], initializer=tf.zeros_initializer())
    with tf.control_dependencies([tf.assign_add(steps, 1.0)]):
        y = tf.cond(tf.reduce_sum(x) > 9, lambda: x * 2 + steps, lambda: tf.tanh(x))
    _, z = tf.while_loop(lambda i, _: i < 3, lambda i, h: (i + 1, tf.sin(h) + y), (0, y))
    return z, tf.gradients(z, x), steps.read_value()


PARTS = [
    *(through_python, through_python_twice, of_a_dataset, looked_up),
    *(with_texts, shuffled, branched_behind),
]


@pytest.mark.parametrize("build", PARTS, ids=lambda build: build.__name__)
def test_parts_of_a_run_are_kept(build: Callable[[], Any], traces: Traces) -> None:
    feeds = [{"x:0": NUMBERS}, {"x:0": -NUMBERS}, {"x:0": np.tile(NUMBERS, (3, 1))}]
    want = results(build, feeds)
    assert traces.count and PLANS.items()
    traces.count = 0
    got = results(build, feeds)
    assert traces.count == 0
    assert bits(want) == bits(got)


@pytest.mark.parametrize("change", [{"width": 5}, {"factor": 2.0}], ids=["behind", "before"])
def test_what_is_before_a_part_is_of_its_key(change: dict[str, Any], traces: Traces) -> None:
    feeds = [{"x:0": NUMBERS}]
    results(through_python, feeds)
    traces.count = 0
    (got,) = results(lambda: through_python(**change), feeds)
    assert traces.count > 0
    with settings.override(jit="never"):
        (want,) = results(lambda: through_python(**change), feeds)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5)


def test_what_a_resource_is_counts_for_the_key(traces: Traces) -> None:
    def build(shape: list[int]) -> Callable[[], Any]:
        def built() -> Any:
            x = tf.py_func(lambda rows: rows, [_numbers()], tf.float32)
            v = tf.get_variable(
                "v", shape, initializer=tf.ones_initializer(), use_resource=True, dtype=tf.float32
            )
            return tf.reduce_sum(tf.exp(tf.reshape(x, [-1, 3])) * v * 2.0 + 1.0, 0)

        return built

    (wide,) = results(build([3]), [{"x:0": NUMBERS}])
    traces.count = 0
    (narrow,) = results(build([1]), [{"x:0": NUMBERS}])
    assert traces.count > 0
    np.testing.assert_array_equal(wide, narrow)


def test_what_the_graph_tells_of_something_fed_counts_for_the_key(traces: Traces) -> None:
    """A shape function may look behind a tensor that is fed."""

    def build(width: int) -> Callable[[], Any]:
        def built() -> Any:
            x = tf.placeholder(tf.float32, [None], name="x")
            sizes = tf.stack([tf.size(x) // width, width], name="sizes")
            return tf.reduce_sum(tf.exp(tf.reshape(x, sizes)) * 2.0 + 1.0, 1)

        return built

    feeds = [{"x:0": NUMBERS.ravel(), "sizes:0": [4, 3]}]
    results(build(3), feeds)
    traces.count = 0
    results(build(3), feeds)
    assert traces.count == 0
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        results(build(2), [{"x:0": NUMBERS.ravel(), "sizes:0": [4, 2]}])
    assert traces.count > 0


def test_resources_are_made_no_earlier_than_operations_before_them(tmp_path: Path) -> None:
    """A dataset of files that the run itself writes, say."""
    file = tmp_path / "lines"

    def write(rows: np.ndarray) -> np.ndarray:
        file.write_text("1")
        return rows

    def build() -> Any:
        x = tf.py_func(write, [tf.exp(_numbers())], tf.float32)
        with tf.control_dependencies([x]):
            data = tf.data.Dataset.list_files(f"{file}*").repeat()
            name = data.make_one_shot_iterator().get_next()
        length = tf.cast(tf.strings.length(name), tf.float32)
        return tf.reduce_sum(tf.exp(length * tf.ones([3]) / length) - 1.0) * 2.0

    want = 6 * (np.exp(1) - 1)
    for _ in range(2):
        file.unlink(missing_ok=True)
        got = results(build, [{"x:0": NUMBERS}] * 3)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_errors_behind_a_host_step_are_those_of_the_traced_plan() -> None:
    def build() -> Any:
        x = tf.reshape(tf.py_func(lambda rows: rows, [_numbers()], tf.float32), [-1, 3])
        at = tf.placeholder(tf.int32, [2], name="at")
        v = tf.get_variable("v", [4, 3], initializer=tf.ones_initializer())
        update = tf.scatter_add(v, at, tf.exp(x[:2]))
        return update, tf.reduce_sum(tf.gather(x, at) * 2.0)

    good, bad = {"x:0": NUMBERS, "at:0": [0, 3]}, {"x:0": NUMBERS, "at:0": [0, 7]}

    def told() -> str:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            results(build, [good, bad])
        return str(caught.value.message)

    assert told() == told()


def test_reports_show_the_kernels_of_stored_parts() -> None:
    def report() -> Any:
        with tf.Graph().as_default():
            fetches = through_python()
            start = tf.global_variables_initializer()
            with tf.Session() as session:
                session.run(start)
                session.run(fetches, {"x:0": NUMBERS})
                found = session.explain(fetches, {"x:0": NUMBERS})
                again = session.explain(fetches, {"x:0": NUMBERS})
                session.run(fetches, {"x:0": NUMBERS})
        told = [
            [(k.name, k.ops) for plan in (one, *one.plans) for k in plan.kernels]
            for one in (found, again)
        ]
        assert told[0] == told[1] and len(found.plans) == 1
        return told[0]

    first = report()
    assert first and report() == first


def written_anew(by_gather: bool = True) -> Any:
    """A variable's contents become what is fed, of any length."""
    held = tf.get_variable("held", [3], use_resource=True)
    x = _numbers()
    first = held.assign(tf.gather(held, [1, 2, 0]) if by_gather else tf.zeros([3]))
    with tf.control_dependencies([first]):
        written = held.assign(x[:, 0]) + 0.0
    return _trained(x), written


@pytest.mark.parametrize("by_gather", [True, False])
def test_contents_of_the_sizes_of_a_feed_are_written(by_gather: bool) -> None:
    feeds = [{"x:0": np.ones([rows, 3], np.float32) * rows} for rows in (3, 3, 5, 4)]
    for _ in range(2):
        for feed, (_, written) in zip(feeds, results(lambda: written_anew(by_gather), feeds)):
            np.testing.assert_array_equal(written, feed["x:0"][:, 0])


def test_a_plan_with_what_is_no_plain_data_is_not_kept() -> None:
    """Such as a size of which only a run tells the number."""
    size = Scope().symbol(5)
    with pytest.raises(NotStored, match="it has a Size, which is no plain data"):
        to_bytes(Stored({"cells": [[0, [size, 3], "float32"]]}, []))
    feeds = [{"x:0": NUMBERS}] * 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Writer, "_about", lambda writer: {"operations": size})
        got = results(lambda: _trained(_numbers()), feeds)
    assert not list(PLANS.path().glob("*.plan"))
    assert bits(results(lambda: _trained(_numbers()), feeds)) == bits(got)
    assert list(PLANS.path().glob("*.plan"))


def test_large_constants_of_a_graph_stay_in_it(traces: Traces) -> None:
    """As the weights of a frozen graph do: a plan says which it takes."""
    rng = np.random.default_rng(5)
    weights = [rng.standard_normal(s).astype(np.float32) for s in ((3, 900), (900, 900), (900, 2))]

    def frozen() -> Any:
        h = _numbers()
        for weight in weights:
            h = tf.nn.relu(tf.matmul(h, tf.constant(weight)) + 0.1)
        table = tf.constant(np.arange(2400.0, dtype=np.float32).reshape(40, 60))
        return h, tf.gather(table, [3, 1]), tf.reduce_sum(table) * h, tf.reshape(table, [-1])[:5]

    feeds = [{"x:0": NUMBERS}, {"x:0": -NUMBERS}]
    want = results(frozen, feeds)
    assert sum(item.bytes for item in PLANS.items()) < sum(w.nbytes for w in weights) // 8
    traces.count = 0
    assert bits(results(frozen, feeds)) == bits(want) and traces.count == 0
    weights[1] = weights[1] + 1
    other = results(frozen, feeds)
    assert traces.count and bits(other) != bits(want)
