# SPDX-License-Identifier: Apache-2.0
"""Functions of datasets over several epochs: made once, while state begins anew in each."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import functions
from numbaflow.ops.data.runtime.context import Context
from numbaflow.ops.data.runtime.kept_functions import KeptFunctions

pytestmark = pytest.mark.cpu


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that were made ready to be called."""
    found: list[str] = []
    make = functions.FunctionRun._made

    def noted(self: functions.FunctionRun, view: Any) -> Any:
        found.append(self.captured.name)
        return make(self, view)

    monkeypatch.setattr(functions.FunctionRun, "_made", noted)
    return found


def _epochs(session: Any, iterator: Any, count: int) -> list[list[Any]]:
    element, found = iterator.get_next(), []
    for _ in range(count):
        session.run(iterator.initializer)
        found.append([])
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found[-1].append(session.run(element).tolist())
    return found


def _noisy(x: Any) -> Any:
    return tf.cast(x, tf.float32) + tf.random_uniform([], seed=3)


def test_a_function_with_state_is_made_once_and_draws_the_same_in_each_epoch(
    made: list[str],
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(7).map(_noisy))
        first, *others = _epochs(session, iterator, 4)
    assert all(other == first for other in others)
    assert len(set(np.array(first) - np.arange(7))) > 1
    assert len(made) == 1


def test_what_was_captured_counts(made: list[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        offset = tf.placeholder(tf.float32, [])
        dataset = tf.data.Dataset.range(3).map(lambda x: _noisy(x) + offset)
        iterator = tf.data.make_initializable_iterator(dataset)
        element, found = iterator.get_next(), []
        for value in (0.0, 8.0, 0.0):
            session.run(iterator.initializer, {offset: value})
            found.append(session.run(element).item())
    assert found[0] == found[2] and found[1] == np.float32(found[0] + 8)
    assert len(made) == 2


def test_an_iteration_that_goes_on_keeps_its_state() -> None:
    """What can still be called is not taken over."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        kept = KeptFunctions()
        tf.data.Dataset.range(3).map(_noisy)
        (name,) = graph._functions
        function = SimpleNamespace(name=name, attr={})
        captured = functions.Captured(function, graph._functions, [])

        def run() -> tuple[Context, functions.FunctionRun]:
            context = Context(session, kept)
            return context, context.function(captured)

        numbers = [np.array(i) for i in range(3)]
        (one, first), (other, second) = run(), run()
        drawn = [first([numbers[0]])[0].item(), second([numbers[0]])[0].item()]
        assert drawn[0] == drawn[1]
        following = first([numbers[0]])[0].item()
        assert following != drawn[0] and second([numbers[0]])[0].item() == following
        del one, other, first, second
        gc.collect()
        context, third = run()
        assert third([numbers[0]])[0].item() == drawn[0]
        assert not kept._left and context.function(captured) is third


def test_functions_whose_operations_have_one_name_have_states_of_their_own() -> None:
    """As TensorFlow 1.15 draws."""
    expected = [
        (0.2390374, 0.6787466),
        (0.22267115, 0.20134068),
        (0.34304976, 0.49856102),
        (0.8514762, 0.7123976),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = tf.data.Dataset.range(4).map(lambda x: tf.random_uniform([], seed=1))
        both = drawn.map(lambda y: (y, tf.random_uniform([], seed=2)))
        iterator = tf.data.make_initializable_iterator(both)
        element = iterator.get_next()
        for _ in range(2):
            session.run(iterator.initializer)
            found = [session.run(element) for _ in range(4)]
            np.testing.assert_array_equal(found, np.array(expected, np.float32))


def test_what_took_tables_and_texts_from_outside_is_made_once(made: list[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([3, 5], tf.int64))
        table, end = tf.lookup.StaticHashTable(words, -1), tf.constant("!")
        picture = tf.constant(tf.Session().run(tf.image.encode_png(np.zeros([1, 1, 1], np.uint8))))

        def looked_up(x: Any) -> Any:
            pixels = tf.image.decode_image(picture)  # (Branches are in no block.)
            return table.lookup(x) + tf.cast(tf.size(pixels), tf.int64), tf.strings.join([x, end])

        dataset = tf.data.Dataset.from_tensor_slices(["a", "c"]).map(looked_up)
        iterator = tf.data.make_initializable_iterator(dataset.map(lambda number, text: number))
        session.run(tf.tables_initializer())
        epochs = _epochs(session, iterator, 3)
    assert epochs == [[4, 0]] * 3
    assert len(made) == len(set(made))
