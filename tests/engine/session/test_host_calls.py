# SPDX-License-Identifier: Apache-2.0
"""Functions on the host: which they are, and that they give what a run gives."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.session import host_calls, runner_choice

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def called(session, fetches, feeds):
    """What calls a part of the graph."""
    return runner_choice.runner_of(
        session, tf.get_default_graph(), fetches, [], feeds, is_called_often=True
    )


def test_texts_are_taken_apart_without_a_plan():
    line = tf.placeholder(tf.string, [])
    words = tf.string_split([line])
    lengths = tf.cast(tf.strings.length(words.values), tf.int64) * 2
    with tf.Session() as session:
        run = called(session, [words.values, lengths, words.dense_shape], [line])
        assert isinstance(run, host_calls.HostCalls)
        for text in (b"a bc  d", b"", b"word"):
            fed = np.array(text, object)
            expected = session.run([words.values, lengths, words.dense_shape], {line: text})
            for mine, theirs in zip(run([fed]), expected):
                np.testing.assert_array_equal(mine, theirs)
                assert mine.dtype == theirs.dtype


def test_results_are_of_their_own_memory():
    text = tf.placeholder(tf.string, [])
    constant = tf.constant([b"a", b"b"])
    with tf.Session() as session:
        run = called(session, [tf.strings.join([text, text]), constant], [text])
        fed = np.array(b"x", object)
        run([fed])[1][0] = b"changed"
        joined, kept = run([fed])
        assert isinstance(run, host_calls.HostCalls)
        assert (joined.item(), kept.tolist()) == (b"xx", [b"a", b"b"])


def test_what_computes_with_floats_is_compiled():
    text = tf.placeholder(tf.string, [])
    number = tf.strings.to_number(text)
    with tf.Session() as session:
        assert not isinstance(called(session, [tf.exp(number)], [text]), host_calls.HostCalls)
        assert not isinstance(called(session, [number + 1], [number]), host_calls.HostCalls)
        assert isinstance(called(session, [number], [text]), host_calls.HostCalls)


def test_an_error_names_its_node():
    text = tf.placeholder(tf.string, [])
    number = tf.strings.to_number(text, name="parsed")
    with tf.Session() as session:
        run = called(session, [number], [text])
        with pytest.raises(tf.errors.InvalidArgumentError, match="parsed"):
            run([np.array(b"no number", object)])


def test_random_operations_run_in_every_call():
    text = tf.placeholder(tf.string, [])
    drawn = tf.as_string(tf.random.uniform([], maxval=1 << 30, dtype=tf.int32, seed=1))
    with tf.Session() as session:
        run = called(session, [tf.strings.join([text, drawn])], [text])
        first, second = (run([np.array(b"", object)])[0].item() for _ in range(2))
        assert first != second


def test_few_elements_may_be_moved_on_the_host():
    texts = tf.placeholder(tf.string, [2])
    numbers = tf.strings.to_number(texts)
    moved, grown = tf.reshape(numbers, [2, 1]), tf.exp(numbers)
    kinds = {"Reshape", "Placeholder", "Const", "StringToNumber"}
    for fetch, is_one in ((moved, True), (grown, False)):
        operations = [op for op in tf.get_default_graph().get_operations() if op is not texts.op]
        operations = [op for op in operations if op.type in kinds or op is fetch.op]
        for exact in (None, lambda op: op.type == "Reshape"):
            found = host_calls.runs_on_host(operations, [texts], {}, is_exact=exact)
            assert found == (is_one and exact is not None)
