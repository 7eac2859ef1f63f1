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


@pytest.mark.parametrize("build, op", [(counted, "AssignAdd"), (drawn, "RandomUniform")])
def test_functions_with_state_are_named(build: Callable[[], Any], op: str, tmp_path: Path) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"{op}.* is stateful"):
        save(build, tmp_path)


def test_tables_that_are_only_read_are_no_state(tmp_path: Path) -> None:
    save(looked_up, tmp_path)
