# SPDX-License-Identifier: Apache-2.0
"""Iterators over functions whose results depend on more than their arguments cannot be saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def counted() -> Any:
    counter = tf.get_variable("counter", (), tf.int64, use_resource=True)
    return tf.data.Dataset.range(4).map(lambda x: counter.assign_add(x))


def drawn() -> Any:
    numbers = tf.data.Dataset.range(4)
    return numbers.batch(2).flat_map(
        lambda x: tf.data.Dataset.from_tensors(tf.random_uniform([]) * tf.cast(x, tf.float32))
    )


def drawn_inside() -> Any:
    def inner(x: Any) -> Any:
        return tf.cast(x, tf.float32) * tf.random_uniform([])

    return tf.data.Dataset.range(4).flat_map(lambda _: tf.data.Dataset.range(3).map(inner))


def looked_up() -> Any:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["0", "2"], [7, 8]), -1)
    return tf.data.Dataset.range(4).map(lambda x: table.lookup(tf.as_string(x)))


def save(build: Callable[[], Any], path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(build())
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(iterator.initializer)
        session.run(iterator.get_next())
        tf.train.Saver().save(session, str(path / "saved"))


@pytest.mark.parametrize(
    "build, op",
    [(counted, "AssignAdd"), (drawn, "RandomUniform"), (drawn_inside, "RandomUniform")],
)
def test_functions_with_state_are_named(build: Callable[[], Any], op: str, tmp_path: Path) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"{op}.* is stateful"):
        save(build, tmp_path)


def test_tables_that_are_only_read_are_no_state(tmp_path: Path) -> None:
    save(looked_up, tmp_path)


def test_sparse_elements_that_are_held_are_saved(tmp_path: Path) -> None:
    def sparse(x: Any) -> Any:
        return tf.SparseTensor([[0, 0]], tf.reshape(tf.as_string(x), [1]), [1, 1])

    def parts() -> Any:
        dataset = tf.data.Dataset.range(20).map(sparse).shuffle(5, seed=3)
        iterator = tf.data.make_initializable_iterator(dataset)
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator.initializer, iterator.get_next(), tf.train.Saver([saveable])

    found: list[list[bytes]] = []
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        begin, element, saver = parts()
        for turn in range(2):
            with tf.Session() as session:
                session.run(begin)
                if turn:
                    saver.restore(session, str(tmp_path / "saved"))
                else:
                    first = [session.run(element).values[0] for _ in range(7)]
                    saver.save(session, str(tmp_path / "saved"))
                found.append([session.run(element).values[0] for _ in range(13)])
    assert found[0] == found[1]
    assert sorted(map(int, first + found[0])) == list(range(20))
