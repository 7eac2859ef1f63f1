# SPDX-License-Identifier: Apache-2.0
"""Examples in buckets, resampled and accepted at random, and sequences cut into segments."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def batches(fetches, most=1000):
    """What runs give until the queues are at their end."""
    coordinator, found = tf.train.Coordinator(), []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while len(found) < most:
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True, stop_grace_period_secs=5)
    return found


def numbers(count):
    return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()


def test_buckets_keep_lengths_apart_and_pad():
    number = numbers(12)
    text = {"ones": tf.ones([number + 1], tf.int32), "number": number}
    lengths, batch = training.bucket_by_sequence_length(
        number + 1, text, [2, 3], [7], dynamic_pad=True, allow_smaller_final_batch=True
    )
    found = batches([lengths, batch])
    assert sorted(n for _, b in found for n in b["number"]) == list(range(12))
    for length, b in found:
        assert (length < 7).all() or (length >= 7).all()
        assert b["ones"].shape == (len(length), length.max())
        assert b["ones"].sum() == length.sum()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: training.bucket([x], 0, [1], 2), "must have num_buckets elements"),
        (
            lambda x: training.bucket([x], 0, 1, 2, bucket_capacities=[1]),
            r"must have exactly num_buckets \(2\)",
        ),
        (lambda x: training.bucket_by_sequence_length(x, [x], 1, []), "must not be empty"),
        (
            lambda x: training.bucket_by_sequence_length(x, [x], 1, [3, 2]),
            "but saw: 3 before 2",
        ),
    ],
)
def test_buckets_that_do_not_fit_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(tf.constant(1))


def test_rejection_keeps_what_is_accepted():
    number = numbers(40)
    (batch,) = training.rejection_sample([number], lambda x: tf.cast(x[0] % 2, tf.float32), 4)
    found = np.concatenate(batches(batch))
    assert found.tolist() == list(range(1, 40, 2))


def test_strata_have_their_shares():
    number = tf.train.range_input_producer(60, shuffle=False).dequeue()
    (values,), labels = training.stratified_sample(
        [number], number % 3, [0.0, 0.2, 0.8], 50, init_probs=[1 / 3, 1 / 3, 1 / 3]
    )
    ((values, labels),) = batches([values, labels], most=1)
    assert (values % 3 == labels).all() and 0 not in labels
    assert 0.6 < (labels == 2).mean() < 0.95


def test_rates_say_how_often_rows_appear():
    rates = tf.constant([0.0, 1.0, 3.0], tf.float32)
    (rows,) = training.resample_at_rate([tf.constant([7, 8, 9])], rates, seed=3)
    weighted, chosen = training.weighted_resample(
        [tf.constant([7, 8, 9])], tf.constant([0.0, 1.0, 3.0]), 1.5, seed=4
    )
    assert rows.dtype == tf.int32
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        found = np.concatenate([session.run(rows) for _ in range(300)])
        pairs = [session.run([weighted[0], chosen]) for _ in range(300)]
    assert pytest.approx({n: int((found == n).sum()) for n in (7, 8, 9)}, rel=0.2) == {
        7: 0,
        8: 300,
        9: 900,
    }
    drawn = np.concatenate([rows for rows, _ in pairs])
    assert len(drawn) == pytest.approx(3 * 1.5 * 300, rel=0.2)
    by_value = {n: set(np.concatenate([c[r == n] for r, c in pairs]).round(3)) for n in (8, 9)}
    assert by_value[8] == {1.125} and by_value[9] == {3.375}


def test_states_go_on_from_segment_to_segment():
    lengths = [3, 5, 1, 4]
    number = tf.placeholder(tf.int32, [])
    length = tf.gather(tf.constant(lengths), number)
    steps = 2 * ((length + 1) // 2)
    x = tf.where(
        tf.range(steps) < length, tf.range(steps) + 1 + 10 * number, tf.zeros([steps], tf.int32)
    )
    saver = training.SequenceQueueingStateSaver(
        batch_size=2,
        num_unroll=2,
        input_length=length,
        input_key=tf.as_string(number),
        input_sequences={"x": tf.reshape(x, [-1, 1])},
        input_context={"number": number},
        initial_states={"sum": tf.zeros([1], tf.int32)},
        capacity=4,
        allow_small_batch=True,
    )
    batch = saver.next_batch
    total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], axis=1)
    save = batch.save_state("sum", total)
    close = saver.close()
    facts = [batch.context["number"], batch.length, batch.sequence, batch.sequence_count]
    last = {}
    with tf.Session() as session:
        for n in range(4):
            session.run(saver.prefetch_op, {number: n})
        session.run(close)
        fetches = [total, save, facts, batch.key, batch.next_key]
        for _ in range(5):
            totals, _, (example, length, place, count), key, after = session.run(fetches)
            for i, n in enumerate(example):
                assert count[i] == -(-lengths[n] // 2)
                assert length[i] == min(2, lengths[n] - 2 * place[i])
                assert key[i].decode() == f"{place[i]:05d}_of_{count[i]:05d}:{n}"
                if place[i] + 1 == count[i]:
                    assert after[i].decode() == f"STOP:{n}"
                    last[n] = totals[i, 0]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(fetches)
    assert last == {n: sum(range(1, k + 1)) + 10 * n * k for n, k in enumerate(lengths)}


def test_a_recurrent_network_keeps_its_state_in_the_saver():
    number = numbers(6)
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    batch = training.batch_sequences_with_states(
        tf.as_string(number),
        {"x": tf.ones([5, 2])},
        {},
        None,
        {"h": tf.zeros([3])},
        num_unroll=3,
        batch_size=2,
    )
    inputs = tf.unstack(batch.sequences["x"], num=3, axis=1)
    outputs, _ = tf.nn.static_state_saving_rnn(cell, inputs, batch, "h", batch.length)
    found = batches([outputs[-1], batch.sequence])
    by_place = {p: {tuple(o) for os, ps in found for o, q in zip(os, ps) if p == q} for p in (0, 1)}
    assert len(by_place[0]) == len(by_place[1]) == 1 and by_place[0] != by_place[1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": {"a:b": 0.0}}, ValueError, "may not have a colon: 'a:b'"),
        ({"input_sequences": {}}, ValueError, "at least one sequence tensor"),
        ({"input_context": [1]}, AttributeError, "values"),
        ({"capacity": 1}, ValueError, "capacity 1 needs to be >= batch_size 2"),
        ({"input_length": 3.0}, TypeError, "length dtype must be int32"),
    ],
)
def test_savers_say_what_does_not_fit(change, error, message):
    given = {
        "batch_size": 2,
        "num_unroll": 2,
        "input_length": 3,
        "input_key": "k",
        "input_sequences": {"x": tf.zeros([4, 1])},
        "input_context": {},
        "initial_states": {"s": 0.0},
    }
    with pytest.raises(error, match=message):
        training.SequenceQueueingStateSaver(**{**given, **change})


def test_strategies_place_by_name_and_by_load():
    random = training.RandomStrategy(3, seed=0)
    greedy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=greedy)):
        sizes = [tf.Variable(tf.zeros([n]), name=f"v{n}") for n in (9, 5, 3, 2)]
    assert [v.device for v in sizes] == [f"/job:ps/task:{i}" for i in (0, 1, 1, 1)]
    # As TensorFlow 1.15 places variables of these names.
    assert [random(v.op) for v in sizes] == RANDOM_PLACES
    with pytest.raises(ValueError, match="must have a single output"):
        training.byte_size_load_fn(tf.no_op())


RANDOM_PLACES = [1, 1, 2, 1]
