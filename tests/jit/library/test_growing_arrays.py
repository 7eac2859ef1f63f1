# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors that grow in compiled loops: their size is learnt in the middle of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import guards
from numbaflow.jit.runtime.segment_plans import SegmentPlans

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def growing(dtype: Any = tf.float32, **options: Any) -> Any:
    return tf.TensorArray(dtype, size=0, dynamic_size=True, **options)


def collected(n: Any, element: Any, start: Any, **options: Any) -> Any:
    """A loop of n turns that writes an element a turn."""

    def body(i: Any, x: Any, array: Any) -> Any:
        return i + 1, x * 0.5 + 1.0, array.write(i, element(i, x))

    return tf.while_loop(lambda i, *_: i < n, body, [0, start, growing(**options)])


def both(fetches: Any, feeds: list[Any], prepare: Any = None) -> list[Any]:
    """Results of runs one after the other: as reference kernels give them, and as one plan."""
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            if prepare is not None:
                session.run(prepare)
            found.append([session.run(fetches, feed) for feed in feeds])
            if mode == "always":
                text = str(session.explain(fetches, feeds[0]))
                assert "piece by piece" not in text and "Not compiled" not in text
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return found[1]


TURNS = (3, 3, 1, 70, 0, 5, 200, 2)


def test_an_array_grows_by_as_many_turns_as_there_are():
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    start = x * 3.0
    _, last, array = collected(
        n, lambda i, v: tf.stack([v, v + 1.0]), start, element_shape=[2, None]
    )
    stacked = array.stack()
    fetches = [stacked, last, array.size(), tf.reduce_sum(stacked, 0) * 2.0, start + 1.0]
    feeds = [{x: np.arange(3.0) + k, n: k} for k in TURNS if k]
    both(fetches, [*feeds, {x: np.ones(4), n: 6}, {x: np.ones(4), n: 9}])


def test_an_array_of_scalars_and_of_no_elements():
    n = tf.placeholder(tf.int32, [], name="n")
    _, last, array = collected(n, lambda i, v: v, tf.constant(1.0), element_shape=[])
    both([array.stack(), last, array.size() + 1], [{n: k} for k in TURNS])


def test_gradients_go_through_arrays_that_grow():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    w = tf.get_variable("w", initializer=np.linspace(-1, 1, 9, dtype="f4").reshape(3, 3))

    def body(i: Any, h: Any, array: Any) -> Any:
        h = tf.tanh(tf.matmul(h, w) + x)
        return i + 1, h, array.write(i, h)

    _, h, array = tf.while_loop(lambda i, *_: i < n, body, [0, x, growing()])
    out = tf.transpose(array.stack(), [1, 0, 2])
    loss = tf.reduce_mean(tf.square(out - 0.5)) + tf.reduce_sum(h)
    grads = tf.gradients(loss, [w, x])
    rng = np.random.RandomState(0)
    feeds = [{x: rng.standard_normal((4, 3)), n: k} for k in (3, 5, 1, 40, 3)]
    both([loss, out, *grads], feeds, tf.global_variables_initializer())


def test_large_results_random_numbers_and_variables_go_on_behind_a_new_size():
    x = tf.placeholder(tf.float32, [None, 64], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.get_variable("v", initializer=np.zeros(64, "f4"))
    large = tf.exp(x) + tf.random_uniform([64], seed=3)
    added = tf.assign_add(v, tf.reduce_mean(x, 0))
    with tf.control_dependencies([added]):
        _, last, array = collected(n, lambda i, y: y * 2.0, large, element_shape=[None, 64])
    stacked = array.stack()
    fetches = [large, stacked, last + large, tf.reduce_sum(stacked, [0, 2]), v.read_value()]
    rng = np.random.RandomState(0)
    feeds = [{x: rng.standard_normal((40, 64)), n: k} for k in (4, 2, 7, 7, 40)]
    tf.set_random_seed(1)
    both(fetches, feeds, tf.global_variables_initializer())


def test_a_run_is_laid_out_anew_only_for_new_sizes(monkeypatch):
    n = tf.placeholder(tf.int32, [], name="n")
    x = tf.placeholder(tf.float32, [None], name="x")
    # (Not a number that is fed: that would be known beforehand.)
    turns = tf.reduce_max(tf.cast(x, tf.int32)) + n
    _, _, array = collected(turns, lambda i, v: v, x)
    y = tf.reduce_sum(array.stack(), 1)
    moved: list[Any] = []
    original = SegmentPlans._learn
    monkeypatch.setattr(SegmentPlans, "_learn", lambda *a: moved.append(a[2]) or original(*a))
    with settings.override(jit="always"), tf.Session() as session:
        for top, count in ((3, 1), (3, 1), (6, 2), (6, 2), (3, 3), (6, 4)):
            feed = {x: [0.0, top, 1.0], n: 0}
            assert session.run(y, feed).shape == (top,)
            assert len(moved) == count


@pytest.mark.parametrize("mode", ["bytes", pytest.param("pages", marks=pytest.mark.slow)])
def test_nothing_is_touched_that_is_not_a_steps(mode, monkeypatch):
    monkeypatch.setattr(guards.verify_kernel, "guards", mode)
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    _, _, array = collected(n, lambda i, v: v, x)
    both([array.stack()], [{x: np.arange(3.0), n: k} for k in (2, 34, 1)])


def test_what_is_wrong_is_said_as_by_reference_kernels():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(i // 2, tf.cast(i, tf.float32))

    _, array = tf.while_loop(lambda i, _: i < n, body, [0, growing()])
    y = array.stack()
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(y, {n: 1}) == [0.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been written|write"):
            session.run(y, {n: 2})
        assert session.run(y, {n: 1}) == [0.0]


def test_elements_that_were_left_out_are_zero():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(3 * i, tf.fill([2], tf.cast(i, tf.float32) + 1.0))

    _, array = tf.while_loop(lambda i, _: i < n, body, [0, growing(element_shape=[2])])
    both([array.stack()], [{n: k} for k in (2, 30, 1)])


def test_two_arrays_and_a_loop_behind_them():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i: Any, one: Any, two: Any) -> Any:
        x = tf.cast(i, tf.float32)
        return i + 1, one.write(i, [x, x]), two.write(i, i * 2)

    _, one, two = tf.while_loop(
        lambda i, *_: i < n, body, [0, growing(), growing(tf.int32, element_shape=[])]
    )
    rows, numbers = one.stack(), two.stack()
    total = tf.foldl(lambda a, row: a * 0.5 + row, rows, initializer=tf.zeros([2]))
    mapped = tf.map_fn(lambda k: k + 1, numbers)
    both([rows, numbers, total, mapped], [{n: k} for k in (4, 9, 1)])


def test_a_variable_may_have_another_shape_between_runs():
    """The plan is made anew, and what it learnt of sizes with it."""
    v = tf.Variable(np.ones(3, "f4"), validate_shape=False, name="v")
    n = tf.placeholder(tf.int32, [], name="n")
    x = tf.placeholder(tf.float32, [None], name="x")
    assign = tf.assign(v, x, validate_shape=False)
    turns = tf.minimum(n, tf.size(x) * 100)
    _, _, array = collected(turns, lambda i, y: y, tf.identity(v) * 2.0)
    y = tf.reduce_sum(array.stack())
    with settings.override(jit="always"), tf.Session() as session:
        session.run(v.initializer)
        for size, count in ((3, 2), (3, 5), (4, 5), (4, 2), (3, 2)):
            session.run(assign, {x: np.ones(size)})
            want = sum(size * (2.0 * 0.5**i + sum(0.5**j for j in range(i))) for i in range(count))
            assert session.run(y, {n: count, x: np.ones(size)}) == pytest.approx(want)


def tree(x: Any, left: Any, right: Any, w: Any, array: Any) -> Any:
    """Nodes of a tree in an order in which children come first: leaves are rows of x."""

    def join(a: Any, b: Any) -> Any:
        return tf.tanh(tf.matmul(tf.concat([a, b], 1), w))

    def body(i: Any, array: Any) -> Any:
        value = tf.cond(
            left[i] < 0,
            lambda: tf.expand_dims(tf.gather(x, right[i]), 0),
            lambda: join(array.read(left[i]), array.read(right[i])),
        )
        return i + 1, array.write(i, value)

    return tf.while_loop(lambda i, _: i < tf.size(left), body, [0, array])[1]


TREES = (
    ([-1, -1, 0], [0, 1, 1]),
    ([-1], [1]),
    ([-1, -1, 0, -1, 2, -1, 4], [0, 1, 1, 2, 3, 0, 5]),
    ([-1] * 40 + list(range(39)), [i % 3 for i in range(40)] + list(range(1, 40))),
)


@pytest.mark.parametrize("infer", [True, False])
def test_a_loop_reads_what_it_has_written(infer):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    left = tf.placeholder(tf.int32, [None], name="left")
    right = tf.placeholder(tf.int32, [None], name="right")
    w = tf.get_variable("w", initializer=np.linspace(-1, 1, 18, dtype="f4").reshape(6, 3))
    array = tree(x, left, right, w, growing(clear_after_read=False, infer_shape=infer))
    rows = array.concat()
    loss = tf.reduce_sum(tf.square(rows - 0.5))
    grads = tf.gradients(loss, [w, x])
    rng = np.random.RandomState(0)
    feeds = [{x: rng.standard_normal((3, 3)), left: a, right: b} for a, b in TREES]
    both(
        [loss, rows, *grads[:1], tf.convert_to_tensor(grads[1])],
        feeds,
        tf.global_variables_initializer(),
    )


def test_elements_from_before_a_loop_are_read_in_it():
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    array = growing(clear_after_read=False).write(0, x).write(1, x * 2.0)

    def body(i: Any, array: Any) -> Any:
        following = array.read(i - 1) * 0.5 + array.read(i - 2)
        return i + 1, array.write(i, following + tf.cast(array.size(), tf.float32))

    _, array = tf.while_loop(lambda i, _: i < n, body, [2, array])
    grad = tf.gradients(tf.reduce_sum(array.stack()), x)
    feeds = [{x: np.arange(3.0) + k, n: k} for k in (2, 3, 7, 50)]
    both([array.stack(), array.size(), *grad], feeds)


def test_arrays_that_are_not_empty_at_first_and_take_several_elements():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    array = tf.TensorArray(tf.float32, size=3, dynamic_size=True, element_shape=[2])
    array = array.scatter([1, 4], x[:2])

    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(i, tf.fill([2], tf.cast(i, tf.float32)))

    _, array = tf.while_loop(lambda i, _: i < n, body, [5, array])
    whole = growing().unstack(x)
    both([array.stack(), array.size(), whole.stack()], [{x: some(k), n: k} for k in (6, 2, 40)])


def some(rows: int) -> np.ndarray:
    return np.random.RandomState(rows).standard_normal((rows, 2))


def test_parts_of_one_size_are_split_and_put_together():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False).split(x, [2, 2, 2])
    rows = array.concat()
    grad = tf.gradients(tf.reduce_sum(tf.square(rows)), x)
    both([rows, *grad], [{x: some(6)}])


def test_reading_what_is_not_there_is_said_as_by_reference_kernels():
    n = tf.placeholder(tf.int32, [], name="n")
    array = growing(clear_after_read=True, element_shape=[]).write(0, 1.0)

    def body(i: Any, array: Any, total: Any) -> Any:
        return i + 1, array.write(i + 1, 2.0), total + array.read(i // 2)

    _, _, total = tf.while_loop(lambda i, *_: i < n, body, [0, array, 0.0])
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(total, {n: 1}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="cleared after a previous read"):
            session.run(total, {n: 2})
        assert session.run(total, {n: 1}) == 1.0
