# SPDX-License-Identifier: Apache-2.0
"""Tables in arrays of buckets whose keys are vectors."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def test_no_keys_at_all_are_looked_up_and_put_in() -> None:
    """As where keys are shared among several tables, of which one gets none."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.MutableDenseHashTable(
            tf.int64, tf.float32, [0.5, 1.5, 2.5], empty_key=[0, 0], deleted_key=[1, 1]
        )
        keys = tf.placeholder(tf.int64, [None, 2])
        values = tf.placeholder(tf.float32, [None, 3])
        put, found = table.insert(keys, values), table.lookup(keys)
        for count in (0, 2):
            given = {keys: np.full((count, 2), 7), values: np.ones((count, 3))}
            session.run(put, given)
            np.testing.assert_array_equal(session.run(found, given), given[values])
        assert session.run(table.size()) == 1
