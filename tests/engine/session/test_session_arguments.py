# SPDX-License-Identifier: Apache-2.0
"""What a session says of arguments that make no sense: classes and words of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def nodes() -> Iterator[tuple[Any, Any, Any]]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        yield x, tf.add(x, 1.0, name="y"), tf.constant(3.0, name="c")


NO_MAPPINGS: list[Any] = [[1.0], (1.0,), 1.0, "x", float, np.zeros(2) + 1, {1.0}]


@pytest.mark.programs
@pytest.mark.parametrize("fed", NO_MAPPINGS[:5] + NO_MAPPINGS[6:], ids=repr)
def test_feeds_that_are_no_dictionary(fed: Any, nodes: Any) -> None:
    x, y, _ = nodes
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(TypeError, match="^input must be a dictionary$"):
                session.run(y, feed_dict=fed)
            # Prepared by now: the same keys in a list are no dictionary either.
            session.run(y, {x: 1.0})
        with pytest.raises(TypeError, match="^input must be a dictionary$"):
            session.run(y, feed_dict=[x])
        with pytest.raises(TypeError, match="^input must be a dictionary$"):
            y.eval(feed_dict=fed)
        handle = session.partial_run_setup([y], [x])
        with pytest.raises(TypeError, match="^input must be a dictionary$"):
            session.partial_run(handle, y, fed)


@pytest.mark.programs
@pytest.mark.parametrize("nothing", [None, {}, [], (), ""], ids=repr)
def test_nothing_may_be_fed_in_any_form(nothing: Any, nodes: Any) -> None:
    with tf.Session() as session:
        assert session.run(nodes[2], feed_dict=nothing) == 3


def test_a_closed_session_makes_no_callables_and_lists_no_devices(nodes: Any) -> None:
    session = tf.Session()
    session.close()
    for call in (lambda: session.make_callable(nodes[2]), session.list_devices):
        with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
            call()


def test_a_callable_of_nothing(nodes: Any) -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="at least"):
        session.make_callable([])()


@pytest.mark.parametrize("handle", [None, 1, b"h"])
def test_handles_of_partial_runs_are_texts(handle: Any, nodes: Any) -> None:
    with tf.Session() as session, pytest.raises(TypeError, match="handle must be a string"):
        session.partial_run(handle, nodes[1])


def test_partial_runs_say_what_is_missing(nodes: Any) -> None:
    x, y, c = nodes
    with tf.Session() as session:
        handle = session.partial_run_setup([y], [x])
        missing = "^Fetch x:0 can't be computed from the feeds that have been fed so far"
        with pytest.raises(tf.errors.InvalidArgumentError, match=missing):
            session.partial_run(handle, y)
        with pytest.raises(tf.errors.InvalidArgumentError, match="^The fetch c:0 was not spec"):
            session.partial_run(handle, c, {x: 1.0})


def test_a_session_needs_a_device() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No CPU devices are available"):
        tf.Session(config=tf.ConfigProto(device_count={"CPU": 0}))
