# SPDX-License-Identifier: Apache-2.0
"""Sizes that another number is put to in each turn of a loop: one plan, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.runtime.execution import Run

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(3)
Feeds = list[dict[Any, Any]]


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def both(fetches: Any, feeds: Feeds, is_whole: bool = True, train: Any = None) -> None:
    """Runs one after the other give what reference kernels give, as one plan."""
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            results = []
            for feed in feeds:
                results.append(session.run([*fetches, *([] if train is None else [train])], feed))
            found.append(results)
            if mode == "always" and is_whole:
                text = str(session.explain(fetches, feeds[0]))
                assert "piece by piece" not in text and "Not compiled" not in text
                assert "measure" in text
    for want, got in zip(*found, strict=True):
        for one, other in zip(want, got, strict=True):
            if one is not None:
                assert np.shape(one) == np.shape(other)
                np.testing.assert_allclose(other, one, rtol=2e-5, atol=1e-5)


def rows(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def some(mask: Any, x: Any) -> Any:
    return tf.boolean_mask(x, mask)


def of_each(body: Callable[[Any], Any], values: Any, dtype: Any = tf.float32) -> Any:
    return tf.map_fn(body, values, dtype=dtype)


def test_elements_are_chosen_in_each_turn() -> None:
    x = tf.placeholder(tf.float32, [None, 20])
    w = tf.Variable(rows(20, 1)[:, 0])
    y = of_each(lambda r: tf.reduce_sum(tf.square(some(r > 0, r * w))), x)
    found = [y, *tf.gradients(y, w)]
    train = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(y))
    feeds = [{x: rows(5, 20)} for _ in range(3)] + [{x: rows(9, 20)}]
    both(found, feeds, train=train)


def test_what_is_chosen_is_multiplied() -> None:
    x = tf.placeholder(tf.float32, [None, 12, 3])
    w, v = tf.Variable(rows(3, 4)), tf.Variable(rows(4, 2))

    def body(r: Any) -> Any:
        h = tf.nn.relu(tf.matmul(some(r[:, 0] > -0.7, r), w))
        return tf.reduce_mean(tf.tanh(tf.matmul(h, v)), 0)

    y = of_each(body, x)
    both([y, *tf.gradients(y, [w, v])], [{x: rows(6, 12, 3)} for _ in range(3)])


def test_prefixes_are_as_long_as_they_are_told() -> None:
    x, n = tf.placeholder(tf.float32, [None, 15, 2]), tf.placeholder(tf.int32, [None])
    w = tf.Variable(rows(2, 1)[:, 0])

    def body(pair: Any) -> Any:
        r, k = pair
        weights = tf.nn.softmax(tf.reduce_sum(r[:k] * w, 1))
        behind = tf.reduce_sum(r[k:], 0)
        return tf.pad(weights, [[0, 15 - k]]), behind, tf.reduce_max(r[:k], 0)

    out = of_each(body, (x, n), (tf.float32,) * 3)
    both(
        [*out, *tf.gradients(out[0] ** 2, [w, x])],
        [{x: rows(6, 15, 2), n: RNG.integers(1, 16, 6)} for _ in range(3)],
    )


def test_of_one_number_the_sizes_are_formulas() -> None:
    """Three pieces of a row, put together again, are as long as the row."""
    x = tf.placeholder(tf.float32, [8, 3])
    w = tf.Variable(rows(3, 3) / 3)

    def body(i: Any, done: Any) -> Any:
        past = tf.concat([done[:i], x[i : i + 1]], 0)
        found = tf.matmul(tf.nn.softmax(tf.matmul(x[i : i + 1], past, transpose_b=True)), past)
        done = tf.concat([done[:i], tf.matmul(found, w), done[i + 1 :]], 0)
        done.set_shape([8, 3])
        return i + 1, done

    y = tf.while_loop(lambda i, _: i < 8, body, [0, tf.zeros([8, 3])])[1]
    found = [y, *tf.gradients(y, [w, x])]
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(tf.reduce_sum(y * y))
    both(found, [{x: rows(8, 3)} for _ in range(3)], train=train)


def test_what_is_collected_is_of_other_sizes() -> None:
    x = tf.placeholder(tf.float32, [None, 7])

    def body(i: Any, kept: Any) -> Any:
        return i + 1, tf.concat([kept, some(x[i] > 0, x[i])], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    n = tf.shape(x)[0]
    y = tf.while_loop(lambda i, _: i < n, body, [0, tf.zeros([1])], shapes)[1]
    both([y, tf.reduce_sum(y)], [{x: rows(k, 7)} for k in (4, 4, 9, 1, 0)])


def test_boxes_are_chosen_and_filled_up() -> None:
    boxes, scores = (
        tf.placeholder(tf.float32, [None, 30, 4]),
        tf.placeholder(tf.float32, [None, 30]),
    )

    def body(pair: Any) -> Any:
        box, score = pair
        good = tf.where(score > -1.0)[:, 0]
        box, score = tf.gather(box, good), tf.gather(score, good)
        kept = tf.image.non_max_suppression(box, score, 6, 0.5)
        out = tf.concat([tf.gather(box, kept), tf.gather(score, kept)[:, None]], 1)
        return tf.pad(out, [[0, 6 - tf.shape(out)[0]], [0, 0]])

    corner, size = RNG.random((3, 4, 30, 2)), RNG.random((3, 4, 30, 2)) / 3
    feeds = [
        {boxes: np.concatenate([c, c + s], 2), scores: rows(4, 30)} for c, s in zip(corner, size)
    ]
    both([of_each(body, (boxes, scores))], feeds)


def test_parts_and_pieces_of_what_is_put_together() -> None:
    """As many of one kind as there are, filled up with others: the graph states how many in all."""
    x = tf.placeholder(tf.float32, [None, 24])

    def body(r: Any) -> Any:
        few = tf.where(r > 0.4)[:, 0][:4]
        rest = tf.where(r <= 0.4)[:, 0]
        kept = tf.concat([few, rest[: 10 - tf.shape(few)[0]]], 0)
        kept.set_shape([10])
        return tf.gather(r, kept), tf.pad(tf.ones_like(few), [[0, 10 - tf.shape(few)[0]]])

    both([*of_each(body, x, (tf.float32, tf.int64))], [{x: rows(5, 24)} for _ in range(3)])


def test_partitions_are_of_other_sizes() -> None:
    x, marks = tf.placeholder(tf.float32, [None, 9, 2]), tf.placeholder(tf.int32, [None, 9])
    w = tf.Variable(rows(2, 1)[:, 0])

    def body(pair: Any) -> Any:
        one, two, three = tf.dynamic_partition(pair[0] * w, pair[1], 3)
        return tf.reduce_sum(one**2) - tf.reduce_sum(tf.sin(two)) + tf.reduce_max(three)

    y = of_each(body, (x, marks))
    marked = np.array([RNG.permutation([0, 1, 2] * 3) for _ in range(4)], np.int32)
    both([y], [{x: rows(4, 9, 2), marks: marked} for _ in range(2)])
    both(tf.gradients(y, w), [{x: rows(4, 9, 2), marks: marked}], is_whole=False)
    wrong = {x: rows(4, 9, 2), marks: marked + 1}
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 3 is not in \[0, 3\)"):
            session.run(y, wrong)


def test_as_many_turns_as_are_counted() -> None:
    """Nodes of several graphs: how many graphs there are is the last number and one."""
    nodes, graph = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    w = tf.Variable(rows(4, 4))
    count = tf.reduce_max(graph) + 1

    def body(i: Any, read: Any) -> Any:
        own = some(tf.equal(graph, i), nodes)
        weights = tf.nn.softmax(tf.reduce_sum(tf.matmul(own, w), 1))
        return i + 1, read.write(i, tf.reduce_sum(weights[:, None] * own, 0))

    y = tf.while_loop(lambda i, _: i < count, body, [0, tf.TensorArray(tf.float32, count)])[1]
    y = y.stack()
    feeds = [
        {nodes: rows(n, 4), graph: np.sort(np.r_[:k, RNG.integers(0, k, n - k)])}
        for n, k in ((20, 5), (20, 5), (33, 6))
    ]
    both([y, *tf.gradients(y**2, [w, nodes])], feeds)


def test_loops_within_loops() -> None:
    x = tf.placeholder(tf.float32, [None, 3, 6])
    w = tf.Variable(rows(6, 1)[:, 0])

    def outer(plane: Any) -> Any:
        kept = some(plane[:, 0] > -9, plane)

        def inner(row: Any) -> Any:
            return tf.reduce_sum(some(row > 0.0, row * w) ** 2)

        return tf.reduce_sum(of_each(inner, kept)) + tf.reduce_sum(kept)

    y = of_each(outer, x)
    both([y, *tf.gradients(y, w)], [{x: rows(k, 3, 6)} for k in (2, 5, 2)], is_whole=False)


def test_gradients_of_gradients() -> None:
    x = tf.placeholder(tf.float32, [None, 9])
    w = tf.Variable(rows(9, 1)[:, 0])

    def body(i: Any, total: Any) -> Any:
        return i + 1, total + tf.reduce_sum(tf.tanh(some(x[i] > 0, x[i] * w)))

    n = tf.shape(x)[0]
    y = tf.while_loop(lambda i, _: i < n, body, [0, 0.0])[1]
    (first,) = tf.gradients(y, w)
    both([y, first], [{x: rows(k, 9)} for k in (4, 6, 4)])


def test_two_gradients_of_one_loop() -> None:
    x = tf.placeholder(tf.float32, [None, 9])
    w, v = tf.Variable(rows(9, 1)[:, 0]), tf.Variable(rows(9, 1)[:, 0])

    def body(r: Any) -> Any:
        kept = some(r > 0, tf.stack([r * w, r * v], 1))
        return tf.reduce_sum(tf.sin(kept[:, 0]) * kept[:, 1])

    y = of_each(body, x)
    found = [*tf.gradients(y, w), *tf.gradients(y * y, [v])]
    both([y, *found], [{x: rows(k, 9)} for k in (4, 6, 4)])


@pytest.mark.parametrize("counts", [(3, 0, 2), (1, 1, 5), (9, 12, 2)])
def test_nothing_at_all_one_and_too_many(counts: tuple[int, ...]) -> None:
    """What was taken for granted does not hold: other plans give what is right."""
    x, n = tf.placeholder(tf.float32, [None, 9]), tf.placeholder(tf.int32, [None])

    def body(pair: Any) -> Any:
        r, k = pair
        return tf.reduce_sum(tf.square(r[:k])), tf.cast(tf.size(tf.exp(r[:k])), tf.float32)

    first = {x: rows(3, 9), n: np.array([4, 5, 6], np.int32)}
    second = {x: rows(3, 9), n: np.array(counts, np.int32)}
    both([*of_each(body, (x, n), (tf.float32,) * 2)], [first, second, first], is_whole=False)


def test_negative_bounds_count_from_the_end() -> None:
    x, n = tf.placeholder(tf.float32, [None, 9]), tf.placeholder(tf.int32, [None])
    y = of_each(lambda pair: tf.reduce_sum(pair[0][: pair[1]]), (x, n))
    both([y], [{x: rows(3, 9), n: np.array([-2, 4, -9], np.int32)}] * 2, is_whole=False)


def test_effects_in_a_loop_happen_once_whatever_its_sizes() -> None:
    """A turn finds nothing, after others have changed a variable."""
    x, n = tf.placeholder(tf.float32, [None, 9]), tf.placeholder(tf.int32, [None])
    count = tf.Variable(0, name="count")

    def body(pair: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(count, 1)]):
            return tf.reduce_sum(pair[0][: pair[1]] * 2.0)

    y = of_each(body, (x, n))
    feed = {x: rows(4, 9), n: np.array([4, 20, 0, -1], np.int32)}
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for turn in (1, 2):
            found = session.run(y, feed)
            assert session.run(count) == 4 * turn
    want = [2 * r[:k].sum() for r, k in zip(feed[x], (4, 20, 0, -1))]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def test_sizes_that_never_come_again_leave_no_runs_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One run goes on from size to size, in its turns and from one call to the next."""
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x = tf.placeholder(tf.float32, [None, 64])
    y = of_each(lambda r: tf.reduce_sum(some(r > 0, r)), x)
    made: list[Run] = []
    make = Run.__init__
    monkeypatch.setattr(
        Run, "__init__", lambda run, *given: (made.append(run), make(run, *given))[1]
    )
    both([y], [{x: rows(20 + number, 64)} for number in range(12)])
    assert 1 <= len(made) < 9


def test_what_was_changed_too_early_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moving average is written before a loop that finds nothing in a turn."""
    x, n = tf.placeholder(tf.float32, [None, 9]), tf.placeholder(tf.int32, [None])
    mean = tf.Variable(tf.zeros([9]), name="mean")
    moved = mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(x, 0))
    noise = tf.random_normal([], seed=3)
    with tf.control_dependencies([moved]):
        scaled = tf.exp(x)
    y = of_each(lambda pair: tf.reduce_sum(pair[0][: pair[1]]), (scaled, n))
    w = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(w * tf.reduce_sum(y))
    put_back = Run.put_back
    seen: list[int] = []
    monkeypatch.setattr(Run, "put_back", lambda run: (seen.append(len(run.kept)), put_back(run)))
    some_n, wrong_n = np.array([4, 5, 6], np.int32), np.array([4, 50, -2], np.int32)
    feeds = [{x: rows(3, 9), n: counts} for counts in (some_n, some_n, wrong_n, some_n, wrong_n)]
    tf.set_random_seed(1)
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            runs = [session.run([y, noise, train], feed)[:2] for feed in feeds]
            found.append([*runs, session.run([mean, w])])
    for want, got in zip(*found, strict=True):
        for one, other in zip(want, got, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)
    assert seen == [1, 1]  # a piece longer than the row, and one of less than nothing


def test_any_number_of_threads_gives_the_same_bits() -> None:
    x = tf.placeholder(tf.float32, [None, 300, 40])
    w = tf.Variable(rows(40, 30))
    y = of_each(lambda r: tf.reduce_sum(tf.matmul(some(r[:, 0] > 0, r), w), 0), x)
    fetches, feed = [y, *tf.gradients(y, w)], {x: rows(4, 300, 40)}
    found = []
    for threads in (1, 2, 3):
        with settings.override(jit="always", threads=threads), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found.append([part.tobytes() for part in session.run(fetches, feed)])
    assert found[0] == found[1] == found[2]


def test_runs_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once sizes have been met there is room for them."""
    x = tf.placeholder(tf.float32, [None, 64])
    y = of_each(lambda r: tf.reduce_sum(some(r > 0, r)), x)
    feed = {x: rows(20, 64)}
    with settings.override(jit="always"), tf.Session() as session:
        session.run(y, feed)
        session.run(y, feed)
        seen: list[str] = []
        take_over = Run.take_over
        monkeypatch.setattr(
            Run, "take_over", lambda *given: (seen.append("moved"), take_over(*given))[1]
        )
        session.run(y, feed)
        session.run(y, feed)
    assert "moved" not in seen


def test_a_number_that_is_a_size_gets_an_axis() -> None:
    number, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    turn = lambda i, y: (i + 1, tf.tensor_scatter_sub(y, [[1]], number[tf.newaxis]))  # noqa: E731
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    loop = tf.while_loop(lambda i, _: i < 2, turn, [0, x], shapes)
    both([loop[1]], [{number: n, x: range(n)} for n in (3, 2)], is_whole=False)
