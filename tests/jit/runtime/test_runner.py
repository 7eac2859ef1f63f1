# SPDX-License-Identifier: Apache-2.0
"""Compiled runs against reference kernels: state, host operations, stretches, errors, threads."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types import nest
from numbaflow.jit.codegen import compile as compiler

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def values(mode: str, build: Callable[[], Any], feeds: list[dict[str, Any]]) -> list[Any]:
    """What a program gives, run after run, in a mode."""
    with tf.Graph().as_default(), settings.override(jit=mode):
        fetches = build()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [session.run(fetches, feed_dict=feed) for feed in feeds]


def agree(build: Callable[[], Any], *feeds: dict[str, Any]) -> list[Any]:
    """Checks that compiled and reference runs agree; returns the compiled results."""
    runs = list(feeds) or [{}, {}, {}]
    want, got = values("never", build, runs), values("always", build, runs)
    for a, b in zip(want, got, strict=True):
        for x, y in zip(a, b, strict=True):
            if x is None:
                assert y is None
            else:
                assert np.asarray(x).dtype == np.asarray(y).dtype
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    return got


def test_reads_see_what_the_graph_orders():
    def build():
        v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        before = v * w
        add = tf.assign_add(v, [1.0, 1.0])
        with tf.control_dependencies([add]):
            after = v + w
        return [before, add, after, v]

    result = agree(build)
    np.testing.assert_array_equal(result[-1][0], [9, 12])
    np.testing.assert_array_equal(result[-1][3], [4, 5])


def test_a_snapshot_outlives_a_later_write():
    def build():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        old = v.read_value()
        with tf.control_dependencies([old]):
            update = v.assign_add([10.0, 10.0])
        with tf.control_dependencies([update]):
            return [old * 2.0, v.read_value() + old]

    result = agree(build)
    np.testing.assert_array_equal(result[0][0], [2, 4])


def test_swapping_two_variables():
    def build():
        a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
        x, y = a + 0.0, b + 0.0
        with tf.control_dependencies([x, y]):
            return [tf.assign(a, y), tf.assign(b, x)]

    agree(build)


def test_a_data_dependent_shape_splits_the_plan():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        kept = tf.boolean_mask(x, x > 0)
        return [tf.reduce_sum(kept * 2), tf.shape(kept), kept + 1]

    agree(build, {"x:0": np.array([1, -2, 3], "f4")}, {"x:0": np.array([-1, -2, 3, 4], "f4")})


def test_a_fed_size_serves_all_sizes_without_compiling():
    def build():
        n = tf.placeholder(tf.int32, [], name="n")
        return [tf.zeros([n, 2]) + 1.0, tf.cast(tf.range(n), tf.float32) * 2.0]

    agree(build, *({"n:0": n} for n in (0, 1, 2, 5, 9)))


def test_a_python_function_runs_between_kernels():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.py_func(lambda a: a * 2, [x + 1], tf.float32)
        y.set_shape([None])
        return [y * 3]

    agree(build, {"x:0": np.arange(3, dtype="f4")}, {"x:0": np.arange(5, dtype="f4")})


def test_a_new_batch_size_compiles_nothing():
    x = tf.placeholder(tf.float32, [None, 7])
    w = tf.Variable(np.ones((7, 3), np.float32))
    loss = tf.reduce_mean(tf.nn.softmax(tf.matmul(x, w)))
    gradient = tf.gradients(loss, [w])
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([loss, gradient], {x: np.ones((5, 7))})
        compiled = compiler.STATS.compiles + compiler.STATS.hits
        for n in (2, 6, 64, 333):
            session.run([loss, gradient], {x: np.ones((n, 7))})
        assert compiler.STATS.compiles + compiler.STATS.hits == compiled


def test_errors_name_the_node_and_the_line():
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    total = tf.add(x, y, name="total")
    with settings.override(jit="always"), tf.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"
        ) as e:
            session.run(total, {x: [1, 2], y: [1, 2, 3]})
    assert "total" in str(e.value) and "test_runner.py" in str(e.value)


def test_gather_out_of_range_is_an_error():
    i = tf.placeholder(tf.int32, [None])
    row = tf.gather(tf.constant([1.0, 2.0, 3.0]), i)
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_array_equal(session.run(row, {i: [2, 0]}), [3, 1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
            session.run(row, {i: [0, 7]})


def test_an_uninitialised_variable_is_an_error():
    v = tf.Variable(1.0, name="v")
    with settings.override(jit="always"), tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(v * 2.0)


def test_non_contiguous_feeds():
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.transpose(x) * 2.0
    array = np.arange(4000, dtype=np.float32).reshape(40, 100)[::2, ::3]
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_array_equal(session.run(y, {x: array}), array.T * 2)


def test_results_do_not_change_when_the_session_runs_on():
    v = tf.Variable([1.0, 2.0])
    step = tf.assign_add(v, [1.0, 1.0])
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(step)
        session.run(step)
        np.testing.assert_array_equal(first, [2, 3])


def test_a_broken_lowering_falls_back_with_a_warning(monkeypatch):
    from numbaflow.engine.graph import registry

    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x)

    def broken(b, op, value):
        raise KeyError("a bug in a lowering")

    before = registry.lookup("Exp")
    monkeypatch.setattr(y.op, "definition", __import__("dataclasses").replace(before, lower=broken))
    with settings.override(jit="auto"), tf.Session() as session:
        session.run(y, {x: [0.0]})
        with pytest.warns(RuntimeWarning, match="a bug in a lowering"):
            np.testing.assert_allclose(session.run(y, {x: [0.0]}), [1.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.run(y, {x: [0.0]})


def test_results_of_reference_kernels_have_the_dtypes_of_their_tensors(monkeypatch):
    def wide(context, x):
        kept, where = before.kernel(context, x)
        return kept.astype(np.float64), where

    x = tf.placeholder(tf.float32, [None])
    kept = tf.unique(x)[0]
    y = tf.exp(kept) * 2.0
    before = kept.op.definition
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_allclose(session.run(y, {x: [0.0, 0.0]}), [2.0])
        monkeypatch.setattr(kept.op, "definition", dataclasses.replace(before, kernel=wide))
        with pytest.raises(tf.errors.InternalError, match="Unique gave float64, expected float32"):
            session.run(y, {x: [0.0, 0.0]})


@pytest.mark.slow
def test_eight_threads_and_many_sizes():
    x = tf.placeholder(tf.float32, [None, 16])
    y = tf.reduce_sum(tf.tanh(x) * 2.0, 1)
    wrong: list[str] = []
    with settings.override(jit="always"), tf.Session() as session:

        def hammer(seed: int) -> None:
            random = np.random.default_rng(seed)
            for _ in range(300):
                array = random.standard_normal((random.integers(1, 400), 16)).astype(np.float32)
                got = session.run(y, {x: array})
                if not np.allclose(got, (np.tanh(array) * 2).sum(1), atol=1e-4):
                    wrong.append(f"{array.shape}")

        threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def _trained(threads: int) -> list[np.ndarray]:
    """Weights after a few steps of a small network, with a number of threads."""
    tf.reset_default_graph()
    tf.set_random_seed(5)
    x = tf.placeholder(tf.float32, [None, 300])
    w = tf.Variable(tf.random_normal([300, 400], stddev=0.1))
    v = tf.Variable(tf.random_normal([400, 10], stddev=0.1))
    logits = tf.matmul(tf.nn.dropout(tf.nn.relu(tf.matmul(x, w)), keep_prob=0.5), v)
    loss = tf.reduce_mean(tf.nn.softmax(logits) ** 2)
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    random = np.random.default_rng(0)
    with settings.override(jit="always"), tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step, {x: random.standard_normal((500, 300))})
        return session.run([w, v, loss], {x: np.ones((500, 300))})


def test_the_same_bits_for_any_number_of_threads_and_every_run():
    first = _trained(1)
    for threads in (1, 2, 3):
        for a, b in zip(first, _trained(threads), strict=True):
            np.testing.assert_array_equal(a, b)


def test_convolution_takes_up_bias_and_relu():
    x = tf.placeholder(tf.float32, [None, 6, 6, 3])
    w = tf.Variable(np.random.default_rng(0).standard_normal((3, 3, 3, 8)).astype("f4"))
    b = tf.Variable(np.linspace(-1, 1, 8).astype("f4"))
    y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME") + b)
    kept = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
    fetches = [y, tf.gradients(y, [w, b, x]), kept, tf.nn.relu(kept), tf.reduce_sum(y)]
    array = np.random.default_rng(1).standard_normal((4, 6, 6, 3)).astype("f4")
    array[0, 0, 0, 0] = np.nan
    results = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            results.append(nest.flatten(session.run(fetches, {x: array})))
            if mode == "always":
                names = [k.ops for k in session.explain(y, {x: array}).kernels]
                assert any({"Conv2D", "add", "Relu"} <= set(ops) for ops in names)
    for want, got in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_shapes_of_what_kernels_cannot_hold():
    def build():
        x = tf.placeholder(tf.complex64, [None, None], name="x")
        y = tf.transpose(x) * (1.0 + 2.0j)
        return [tf.shape(y), tf.reduce_sum(tf.abs(y), 0), tf.size(y)]

    array = (np.arange(6) + 1j).reshape(2, 3).astype(np.complex64)
    agree(build, {"x:0": array}, {"x:0": array[:1]})


def test_matrix_products_take_up_bias_and_relu():
    x = tf.placeholder(tf.float32, [None, 300])
    w = tf.Variable(np.random.default_rng(0).standard_normal((300, 37)).astype("f4"))
    b = tf.Variable(np.linspace(-1, 1, 37).astype("f4"))
    plain = tf.matmul(x, w)
    fetches = [tf.nn.relu(tf.matmul(x, w) + b), tf.matmul(x, w) + b, plain, tf.nn.relu(plain)]
    fetches += [tf.gradients(fetches[0], [w, b, x])]
    for n in (1, 5, 130):
        array = np.random.default_rng(n).standard_normal((n, 300)).astype("f4")
        results = []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                session.run(tf.global_variables_initializer())
                results.append(nest.flatten(session.run(fetches, {x: array})))
                if mode == "always":
                    names = [k.ops for k in session.explain(fetches[0], {x: array}).kernels]
                    assert any({"MatMul_1", "add", "Relu"} <= set(ops) for ops in names), names
        for want, got in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("axis", [0, 1, -1, [0], [1], [0, 1], [-1, 0]])
def test_the_gradient_of_a_product_over_fed_axes_is_compiled_with_all_that_it_needs(axis):
    data, values = np.arange(1, 7, dtype=np.float32).reshape(2, 3), {}
    for mode in ("never", "always"):
        with tf.Graph().as_default() as graph, settings.override(jit=mode), tf.Session() as session:
            x, axes = tf.placeholder(tf.float32), tf.placeholder(tf.int32, np.shape(axis))
            tf.gradients(tf.reduce_prod(x, axes), x)
            everything = [y for op in graph.get_operations() for y in op.outputs]
            values[mode] = session.run(everything, {x: data, axes: axis})
    for one, other in zip(values["never"], values["always"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
