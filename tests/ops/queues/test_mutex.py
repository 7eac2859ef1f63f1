# SPDX-License-Identifier: Apache-2.0
"""Functions of a critical section run one after the other, in one run and in many threads."""

from __future__ import annotations

import threading

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _counting(section, calls):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def count():
        before = v.read_value()
        with tf.control_dependencies([before]), tf.control_dependencies([v.assign_add(1.0)]):
            return tf.identity(before)

    return v, [section.execute(count) for _ in range(calls)]


def test_reads_and_changes_are_one_step():
    v, counts = _counting(tf.CriticalSection(), 20)
    with tf.Session() as session:
        session.run(v.initializer)
        assert sorted(session.run(counts)) == list(range(20))


def test_functions_may_return_operations():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    section = tf.CriticalSection()
    steps = [section.execute(lambda: tf.group(v.assign_add(1.0))) for _ in range(5)]
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(steps)
        assert session.run(v) == 5.0


def test_threads_wait_for_each_other():
    v, counts = _counting(tf.CriticalSection(), 4)
    found = []
    with tf.Session() as session:
        session.run(v.initializer)

        def work(count):
            found.extend(session.run(count) for _ in range(10))

        threads = [threading.Thread(target=work, args=[count]) for count in counts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(40))


def test_a_failure_frees_the_section():
    section = tf.CriticalSection()
    wrong = tf.placeholder_with_default(False, [])

    def check():
        with tf.control_dependencies([tf.Assert(wrong, ["no"])]):
            return tf.constant(1.0)

    checked = section.execute(check)
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(checked)
        assert session.run(checked, {wrong: True}) == 1.0


def test_a_section_is_not_entered_within_itself():
    section = tf.CriticalSection(shared_name="one")
    with pytest.raises(ValueError, match="would cause deadlocks"):
        section.execute(lambda: section.execute(lambda: tf.constant(1.0)))


def test_resources_belong_to_one_section():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    tf.CriticalSection(shared_name="a").execute(lambda: v.assign_add(1.0))
    other = tf.CriticalSection(shared_name="b")
    with pytest.raises(ValueError, match="requested exclusive resource access"):
        other.execute(lambda: v.assign_add(1.0))
