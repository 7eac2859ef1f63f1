# SPDX-License-Identifier: Apache-2.0
"""Large arrays of a graph are there once, however many plans read them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import plan_key

pytestmark = pytest.mark.cpu
ROWS = np.random.default_rng(0).standard_normal((20000, 100))


def test_plans_of_many_sizes_read_one_array() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        data = tf.constant(ROWS)
        ids = [tf.placeholder(tf.int32, [n]) for n in (1, 2, 3)]
        rows = [tf.gather(data, i) * 2 for i in ids]
        session.run(rows[0], {ids[0]: [7]})
        tracemalloc.start()
        try:
            for tensor, i, n in zip(rows[1:], ids[1:], (2, 3)):
                found = session.run(tensor, {i: np.arange(n)})
                np.testing.assert_array_equal(found, ROWS[:n] * 2)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < ROWS.nbytes / 2


def test_arrays_are_known_by_what_they_hold() -> None:
    """Not by where they lie: another may lie there next."""
    digests = set()
    for number in range(8):
        array = np.full(1 << 15, number, np.float64)
        array.flags.writeable = False
        digests.add(plan_key.digest_of(array))
        assert plan_key.digest_of(array) == plan_key.digest_of(array.copy())
        del array
        gc.collect()
    assert len(digests) == 8 and not any(ref() is None for ref, _ in plan_key._DIGESTS.values())


_PROGRAM = """
import resource
import numpy as np
import numbaflow as tf

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
data = tf.constant(np.random.RandomState(0).rand(60000, 28, 28))
before = peak()
(one,) = tf.train.slice_input_producer([data], shuffle=True)
batch = tf.train.batch([tf.cast(one, tf.float32)], 32, num_threads=4)
with tf.Session() as session:
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    shape = session.run(batch).shape
    coordinator.request_stop()
    coordinator.join(threads)
print(shape == (32, 28, 28), peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system counts otherwise")
def test_rows_of_a_data_set_in_the_graph(tmp_path) -> None:
    run = [sys.executable, "-c", _PROGRAM]
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(tmp_path), "NUMBAFLOW_WARM": "0"}
    done = subprocess.run(run, env=environment, check=True, capture_output=True, text=True)
    right, taken = done.stdout.split()
    assert right == "True" and float(taken) < 150  # MB, of 359
