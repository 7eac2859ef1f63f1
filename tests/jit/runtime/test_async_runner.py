# SPDX-License-Identifier: Apache-2.0
"""Runs with operations that wait: whatever order the waits end in, whoever ends them."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.dataflow import FlowRun
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime.async_runner import AsyncRunner
from numbaflow.ops.queues.barrier import Barrier
from numbaflow.ops.queues.staging import StagingArea

from ...drawing import examples

pytestmark = pytest.mark.cpu

SOON = tf.RunOptions(timeout_in_ms=200)


@pytest.fixture(params=["never", "auto", "always"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    with settings.override(jit=request.param), tf.Graph().as_default():
        yield request.param


def queue(shape: Any = (4,), capacity: int = 10) -> Any:
    return tf.FIFOQueue(capacity, [tf.float32], shapes=[shape])


class Background:
    """A call in a thread of its own, with its result or error."""

    def __init__(self, call: Callable[..., Any], *args: Any, **settings: Any) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        # A thread begins with no settings but those of the environment.
        run = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=run, args=(self._run, call, args, settings), daemon=True
        )
        self._thread.start()

    def _run(self, call: Callable[..., Any], args: Any, settings: Any) -> None:
        try:
            self.result = call(*args, **settings)
        except Exception as error:
            self.error = error

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def join(self) -> Any:
        self._thread.join(30)
        assert not self._thread.is_alive(), "a run does not end"
        if self.error is not None:
            raise self.error
        return self.result


def waiting(call: Callable[..., Any], *args: Any, **settings: Any) -> Background:
    """A call that has had the time to wait, and does."""
    background = Background(call, *args, **settings)
    time.sleep(0.1)
    assert background.is_running
    return background


def test_what_is_around_a_wait_is_compiled(mode: str) -> None:
    source, sink = queue(), queue(())
    x = tf.placeholder(tf.float32, [4])
    put = source.enqueue(tf.sqrt(x) + 1.0)
    taken = source.dequeue()
    move = sink.enqueue(tf.reduce_sum(tf.exp(taken) * 2.0))
    kept = taken * 3.0
    with tf.Session() as session:
        for i in range(3):
            value = np.arange(4, dtype=np.float32) + i
            _, _, got = session.run([put, move, kept], {x: value})
            np.testing.assert_allclose(got, 3 * (np.sqrt(value) + 1), rtol=1e-6)
            want = np.sum(np.exp(np.sqrt(value) + 1) * 2)
            np.testing.assert_allclose(session.run(sink.dequeue()), want, rtol=1e-5)
        if mode == "always":
            compiled = compiler.STATS.compiles + compiler.STATS.hits
            session.run([put, move, kept], {x: np.ones(4)})
            assert compiler.STATS.compiles + compiler.STATS.hits == compiled
            names = [op for kernel in session.explain([move, kept]).kernels for op in kernel.ops]
            assert {"Exp", "Sum"} <= {name.split(":")[0].rstrip("_0123456789") for name in names}


def test_a_wait_of_later_sizes_is_explained_in_words() -> None:
    with settings.override(jit="always"), tf.Graph().as_default():
        source = tf.FIFOQueue(2, [tf.float32])
        total = tf.reduce_sum(tf.exp(source.dequeue()))
        with tf.Session() as session:
            assert source.name in str(session.explain(total)) or "dequeue" in str(
                session.explain(total)
            )


class Program:
    """Queues with one element each, made of fed values and of what other queues gave."""

    def __init__(self, wires: list[tuple[int, int]]) -> None:
        self.feeds = [tf.placeholder(tf.float32, [4]) for _ in range(2)]
        known: list[Any] = list(self.feeds)
        self.puts, self.taken = [], []
        for left, right in wires:
            through = queue()
            value = known[left % len(known)] * 0.5 + tf.sin(known[right % len(known)])
            # The later operation of the two comes first in the graph for every second queue.
            if len(known) % 2:
                taken = through.dequeue()
                self.puts.append(through.enqueue(value))
            else:
                self.puts.append(through.enqueue(value))
                taken = through.dequeue()
            known.append(taken)
            self.taken.append(taken)
        self.wires = wires

    def expected(self, values: list[np.ndarray]) -> list[np.ndarray]:
        known = list(values)
        for left, right in self.wires:
            known.append(known[left % len(known)] * 0.5 + np.sin(known[right % len(known)]))
        return known[2:]


@given(
    wires=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=6),
    order=st.randoms(use_true_random=False),
    jit=st.sampled_from(["never", "auto", "auto", "always"]),
)
@examples(40)
def test_chains_of_queues_in_one_run(wires: Any, order: Any, jit: str) -> None:
    with settings.override(jit=jit), tf.Graph().as_default():
        program = Program(wires)
        fetches = [*program.puts, *program.taken]
        order.shuffle(fetches)
        values = [np.arange(4, dtype=np.float32), np.full(4, 0.3, np.float32)]
        with tf.Session() as session:
            for _ in range(2):
                found = dict(zip(fetches, session.run(fetches, dict(zip(program.feeds, values)))))
                for tensor, want in zip(program.taken, program.expected(values), strict=True):
                    np.testing.assert_allclose(found[tensor], want, rtol=1e-5, atol=1e-6)
                values = [v + 1 for v in values]


def test_other_runs_go_on_while_one_waits(mode: str) -> None:
    source = queue()
    x = tf.placeholder(tf.float32, [4])
    put, doubled = source.enqueue(x), tf.exp(x) * 2.0
    taken = source.dequeue() + 1.0
    with tf.Session() as session:
        blocked = waiting(session.run, taken)
        for _ in range(3):
            np.testing.assert_allclose(
                session.run(doubled, {x: np.zeros(4)}), np.full(4, 2.0), rtol=1e-6
            )
        session.run(put, {x: np.ones(4)})
        np.testing.assert_array_equal(blocked.join(), np.full(4, 2.0))


def test_a_wait_does_not_hold_up_what_does_not_need_it(mode: str) -> None:
    source = queue()
    counter = tf.Variable(0.0)
    counted = tf.assign_add(counter, tf.reduce_sum(tf.ones([3])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        blocked = waiting(session.run, [source.dequeue(), counted])
        while session.run(counter) != 3.0:  # It may still be compiled.
            assert blocked.is_running
        session.run(source.enqueue(tf.zeros([4])))
        np.testing.assert_array_equal(blocked.join()[0], np.zeros(4))


def test_closing_a_session_ends_its_runs(mode: str) -> None:
    source = queue(capacity=1)
    put, taken = source.enqueue(tf.zeros([4])), source.dequeue() * 2.0
    session = tf.Session()
    blocked = [waiting(session.run, taken) for _ in range(3)]
    session.close()
    for run in blocked:
        with pytest.raises(tf.errors.CancelledError, match="cancelled"):
            run.join()
    with tf.Session() as session:
        session.run(put)
        full = waiting(session.run, put)
        session.close()
        with pytest.raises(tf.errors.CancelledError, match="cancelled"):
            full.join()


def test_a_deadline_ends_a_run_and_takes_nothing(mode: str) -> None:
    source = queue()
    x = tf.placeholder(tf.float32, [4])
    put, taken = source.enqueue(x), source.dequeue()
    two = source.dequeue_many(2)
    with tf.Session() as session:
        for fetch in (taken, tf.exp(taken), two):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(fetch, options=SOON)
        session.run(put, {x: np.full(4, 7.0)})
        assert session.run(source.size()) == 1
        np.testing.assert_array_equal(session.run(taken), np.full(4, 7.0))


def test_a_deadline_of_the_whole_session() -> None:
    with tf.Graph().as_default():
        taken = queue().dequeue()
        config = tf.ConfigProto(operation_timeout_in_ms=100)
        with tf.Session(config=config) as session:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(taken)


def test_a_failure_elsewhere_ends_the_waits_of_the_run(mode: str) -> None:
    source = queue()
    x = tf.placeholder(tf.float32, [None])
    checked = tf.Assert(tf.reduce_all(x > 0.0), [x])
    with tf.control_dependencies([checked]):
        fine = tf.reduce_sum(x)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            Background(session.run, [source.dequeue(), fine], {x: np.array([1.0, -1.0])}).join()
        # The wait is over: the next element is for the next run.
        session.run(source.enqueue(tf.ones([4])))
        assert session.run(source.size()) == 1


def test_a_failed_wait_names_its_operation(mode: str) -> None:
    source = queue()
    taken = source.dequeue(name="take_one")
    with tf.Session() as session:
        session.run(source.close())
        with pytest.raises(tf.errors.OutOfRangeError, match=r"is closed and has insufficient") as e:
            session.run(tf.exp(taken))
        assert e.value.op.name == "take_one" and "[[node take_one" in e.value.message


def test_waits_in_branches(mode: str) -> None:
    source = queue(())
    x = tf.placeholder(tf.float32, [])

    def put() -> Any:
        with tf.control_dependencies([source.enqueue(x * 2.0)]):
            return tf.identity(x)

    kept = tf.cond(x > 0.0, put, lambda: x - 1.0)
    size = source.size()
    with tf.Session() as session:
        assert session.run(kept, {x: 3.0}) == 3.0
        assert session.run(kept, {x: -3.0}) == -4.0
        assert session.run(size) == 1 and session.run(source.dequeue()) == 6.0


def test_waits_in_loops(mode: str) -> None:
    source = queue(())
    n = tf.placeholder(tf.int32, [])
    put = source.enqueue_many([tf.range(10.0)])

    def body(i: Any, total: Any) -> Any:
        return i + 1, total + source.dequeue()

    total = tf.while_loop(lambda i, _: i < n, body, [0, 0.0], parallel_iterations=1)[1]
    with tf.Session() as session:
        session.run(put)
        assert session.run(total, {n: 5}) == 10.0
        blocked = waiting(session.run, total, {n: 8})
        session.run(put)
        assert blocked.join() == 5 + 6 + 7 + 8 + 9 + 0 + 1 + 2


def test_every_element_is_taken_once(mode: str) -> None:
    source = tf.FIFOQueue(3, [tf.int64], shapes=[()])
    x = tf.placeholder(tf.int64, [])
    put, taken = source.enqueue(x * 1), source.dequeue() * 1
    found: list[int] = []
    with tf.Session() as session:

        def produce(first: int) -> None:
            for i in range(first, first + 50):
                session.run(put, {x: i})

        def consume() -> None:
            while True:
                try:
                    found.append(int(session.run(taken)))
                except tf.errors.OutOfRangeError:
                    return

        producers = [Background(produce, 50 * i) for i in range(4)]
        consumers = [Background(consume) for _ in range(4)]
        for thread in producers:
            thread.join()
        session.run(source.close())
        for thread in consumers:
            thread.join()
    assert sorted(found) == list(range(200))


def test_training_between_queues(mode: str) -> None:
    """A step that takes its batch from a queue trains just like one that is fed."""
    rows = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
    want = rows @ np.array([[1.0], [-2.0], [0.5]], np.float32)

    def weights(through: bool) -> np.ndarray:
        with tf.Graph().as_default():
            fed = [tf.placeholder(tf.float32, [None, n]) for n in (3, 1)]
            source = tf.FIFOQueue(100, [tf.float32, tf.float32], shapes=[[3], [1]])
            put = source.enqueue_many(fed)
            x, y = source.dequeue_many(10) if through else fed
            w = tf.Variable(tf.zeros([3, 1]))
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
            step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                if through:
                    session.run(put, dict(zip(fed, (rows, want))))
                for i in range(0, 60, 10):
                    part = slice(i, i + 10)
                    feeds = {} if through else dict(zip(fed, (rows[part], want[part])))
                    session.run(step, feeds)
                return session.run(w)

    np.testing.assert_array_equal(weights(True), weights(False))


def _count() -> Any:
    return tf.Variable(3).count_up_to(3)


def _no_value() -> Any:
    return tf.Variable(1, collections=[]) + 0


def _index() -> Any:
    return tf.gather(tf.Variable([1, 2]), tf.placeholder_with_default(5, []))


def _division() -> Any:
    return tf.placeholder_with_default(1, []) // tf.placeholder_with_default(0, [])


def _assertion() -> Any:
    false = tf.placeholder_with_default(False, [])
    with tf.control_dependencies([tf.Assert(false, ["no"])]):
        return tf.constant(1) + 0


def _branch() -> Any:
    return tf.cond(tf.placeholder_with_default(True, []), _division, lambda: 1)


def _loop() -> Any:
    return tf.while_loop(lambda i: i < 3, lambda i: i + _division(), [0])


# What fails, and how.
FAILURES = {
    "counter": (_count, tf.errors.OutOfRangeError),
    "no value": (_no_value, tf.errors.FailedPreconditionError),
    "index": (_index, tf.errors.InvalidArgumentError),
    "division": (_division, tf.errors.InvalidArgumentError),
    "assertion": (_assertion, tf.errors.InvalidArgumentError),
    "branch": (_branch, tf.errors.InvalidArgumentError),
    "loop": (_loop, tf.errors.InvalidArgumentError),
}


def _full_queue() -> Any:
    full = queue((), capacity=1)
    with tf.control_dependencies([full.enqueue(1.0)]):
        again = full.enqueue(2.0)
    with tf.control_dependencies([again]):
        return tf.constant(1.0) + 0.0


def _waiting_branch() -> Any:
    left = queue(())
    return tf.cond(tf.placeholder_with_default(True, []), left.dequeue, lambda: 1.0)


def _waiting_loop() -> Any:
    left = queue(())
    return tf.while_loop(lambda i: i < 3.0, lambda i: i + left.dequeue(), [0.0])


WAITS = {
    "element": lambda: queue(()).dequeue(),
    "elements": lambda: tf.reduce_sum(queue(()).dequeue_many(2)),
    "room": _full_queue,
    "gradient": lambda: tf.ConditionalAccumulator(tf.float32, []).take_grad(1),
    "barrier": lambda: tf.reduce_sum(Barrier([tf.float32], shapes=[[]]).take_many(1)[2][0]),
    "stage": lambda: StagingArea([tf.float32], [[]]).get()[0],
    "branch": _waiting_branch,
    "loop": _waiting_loop,
}


@pytest.mark.parametrize("failing", FAILURES)
@pytest.mark.parametrize("waiting", WAITS)
def test_a_run_that_must_fail_does_not_wait(waiting: str, failing: str) -> None:
    make, error = FAILURES[failing]
    with tf.Graph().as_default():
        later, broken = WAITS[waiting](), make()
        joined = tf.reshape(later, [])[tf.newaxis] + tf.cast(broken, tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for fetch in ([later, broken], joined):
                run = Background(session.run, fetch)
                with pytest.raises(error):
                    run.join()


def test_a_counter_that_ends_ends_the_input_of_a_batch(mode: str) -> None:
    source = tf.PaddingFIFOQueue(10, tf.int32, [()])
    counted = tf.Variable(0).count_up_to(3)
    batch = tf.train.batch([source.dequeue(), counted], 3, num_threads=1, dynamic_pad=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(source.enqueue_many([[1, 2, 3]]))
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        first = session.run(batch)
        assert [part.tolist() for part in first] == [[1, 2, 3], [0, 1, 2]]
        with pytest.raises(tf.errors.OutOfRangeError):
            Background(session.run, batch).join()
        coordinator.request_stop()
        coordinator.join(threads)


def test_a_branch_that_waits_leaves_the_rest_compiled() -> None:
    with settings.override(jit="always"), tf.Graph().as_default():
        one, two = queue(), queue()
        taken = tf.cond(tf.placeholder_with_default(True, []), one.dequeue, two.dequeue)
        fetch = tf.reduce_sum(tf.exp(taken) * 2.0)
        with tf.Session() as session:
            session.run(one.enqueue([[1.0, 2.0, 3.0, 4.0]]))
            runner = session._prepare(fetch, None).run
            assert isinstance(runner, AsyncRunner) and len(runner.programs) == 1
            assert any("Exp" in {op.type for op in part.operations} for part in runner.parts)
            run = session.run(fetch)
            np.testing.assert_allclose(run, 2 * np.exp([1.0, 2.0, 3.0, 4.0]).sum(), rtol=1e-5)


def test_a_variable_is_read_before_a_later_change_of_the_same_run(mode: str) -> None:
    step, source = tf.Variable(1.0), queue(())
    rate = step * 0.5
    change = step.assign_add(1.0)
    product = rate * source.dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(source.enqueue_many([[1.0, 1.0]]))
        assert [session.run([product, change.op])[0] for _ in range(2)] == [0.5, 1.0]


@pytest.mark.parametrize("mode", ["never", "auto", "always"])
def test_a_reference_that_was_read_before_a_wait_shows_a_change_behind_it(mode: str) -> None:
    """What is read of a reference variable is its memory, for all who take it, as in TensorFlow."""
    with settings.override(jit=mode), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=False)
        queue = tf.FIFOQueue(9, [tf.float32])
        with tf.control_dependencies([queue.enqueue([3.0])]):
            taken = queue.dequeue()
        before = -v
        with tf.control_dependencies([taken]):
            change = tf.assign_sub(v, [0.5, 0.5])
        with tf.control_dependencies([change]):
            after = v + 0.0
        session.run(v.initializer)
        for turn in range(1, 4):
            found = session.run([before, after, taken])
            assert found[1].tolist() == [1.0 - 0.5 * turn, 2.0 - 0.5 * turn]
            assert found[0].tolist() == [0.5 * turn - 1.5, 0.5 * turn - 2.5]


def test_branches_that_wait_begin_with_what_they_take(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elements are sorted into queues, as buckets are: nothing is told to a branch piece by piece.

    (That what they take is there need not be waited for.)
    """
    resumed: list[object] = []
    resume = FlowRun.resume
    monkeypatch.setattr(
        FlowRun, "resume", lambda self, *about: (resumed.append(about), resume(self, *about))[1]
    )
    source, targets = queue(()), [queue((), capacity=9) for _ in range(3)]
    element = source.dequeue()
    number = tf.cast(element, tf.int32) % 3

    def sorted_into(i: int) -> tf.Operation:
        there = targets[i].enqueue(element * 2.0)
        with tf.control_dependencies([there]):
            return tf.no_op()

    step = tf.group(
        *(tf.cond(tf.equal(number, i), lambda i=i: sorted_into(i), tf.no_op).op for i in range(3))
    )
    fill = source.enqueue_many([np.arange(9, dtype=np.float32)])
    with tf.Session() as session:
        session.run(fill)
        for _ in range(9):
            session.run(step)
        for i, target in enumerate(targets):
            got = session.run(target.dequeue_many(3)).tolist()
            assert got == [2.0 * x for x in range(i, 9, 3)]
    if mode != "never":
        assert not resumed


def test_parts_of_nothing_but_texts_are_called_as_they_are() -> None:
    with tf.Graph().as_default():
        lines = tf.FIFOQueue(9, [tf.string], shapes=[()])
        columns = tf.decode_csv(lines.dequeue(), [[0.0], [0.0], [0]])
        made = tf.FIFOQueue(9, [tf.float32, tf.int32], shapes=[(2,), ()])
        step = made.enqueue([tf.stack(columns[:2]), columns[2]])
        fill = lines.enqueue_many([[b"1.5,2.5,3", b"4,5,6", b"7,8,x"]])
        with tf.Session() as session:
            session.run(fill)
            for _ in range(2):
                session.run(step)
            with pytest.raises(tf.errors.InvalidArgumentError, match="DecodeCSV"):
                session.run(step)
            numbers, whole = session.run(made.dequeue_many(2))
            assert numbers.tolist() == [[1.5, 2.5], [4, 5]] and whole.tolist() == [3, 6]
            assert "none of it would be compiled" in str(session.explain(step))
