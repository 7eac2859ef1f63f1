# SPDX-License-Identifier: Apache-2.0
"""Pipelines of queues and threads, for each side: `python -m benchmarks.queues PEER ROW [THREADS]`.

PEER is numbaflow or tensorflow.  Prints the microseconds of processors, and by the clock, that an
example takes which threads read, decode and put into a batch for a program that does nothing else.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .models.session import module_of

_SECONDS = 3.0
_PIXELS, _COLUMNS = 784, 4


def records(tf: Any, folder: str, threads: int) -> tuple[Any, int]:
    """Examples of a picture and a label, parsed and shuffled."""
    names = [os.path.join(folder, f"records-{i}") for i in range(4)]
    random = np.random.default_rng(0)
    for name in names:
        with tf.python_io.TFRecordWriter(name) as writer:
            for i in range(5000):
                example = tf.train.Example()
                feature = example.features.feature
                feature["x"].float_list.value.extend(random.random(8).tolist())
                feature["y"].int64_list.value.append(i)
                feature["image"].bytes_list.value.append(random.bytes(_PIXELS))
                writer.write(example.SerializeToString())
    _, record = tf.TFRecordReader().read(tf.train.string_input_producer(names))
    wanted = {
        "x": tf.FixedLenFeature([8], tf.float32),
        "y": tf.FixedLenFeature([], tf.int64),
        "image": tf.FixedLenFeature([], tf.string),
    }
    found = tf.parse_single_example(record, wanted)
    pixels = tf.reshape(tf.decode_raw(found["image"], tf.uint8), [_PIXELS])
    ready = [tf.cast(pixels, tf.float32) / 255.0, found["y"]]
    made = tf.train.shuffle_batch(ready, 128, 2000, 1000, num_threads=threads)
    return made, 128


def lines(tf: Any, folder: str, threads: int) -> tuple[Any, int]:
    """Lines of numbers with commas between them."""
    names = [os.path.join(folder, f"lines-{i}") for i in range(4)]
    random = np.random.default_rng(0)
    for name in names:
        with open(name, "w") as file:
            for row in random.random((5000, _COLUMNS)).tolist():
                file.write(",".join(f"{x:.3f}" for x in row) + ",1\n")
    _, line = tf.TextLineReader().read(tf.train.string_input_producer(names))
    columns = tf.decode_csv(line, [[0.0]] * _COLUMNS + [[0]])
    ready = [tf.stack(columns[:_COLUMNS]), columns[_COLUMNS]]
    return tf.train.batch(ready, 32, num_threads=threads, capacity=1000), 32


def slices(tf: Any, folder: str, threads: int) -> tuple[Any, int]:
    """Rows of arrays, in random order."""
    del folder
    rows = np.random.default_rng(0).random((10_000, 10)).astype(np.float32)
    ready = tf.train.slice_input_producer([rows, np.arange(10_000)])
    return tf.train.batch(ready, 32, num_threads=threads, capacity=1000), 32


ROWS: dict[str, Callable[[Any, str, int], tuple[Any, int]]]
ROWS = {"records": records, "lines": lines, "slices": slices}


def main() -> None:
    """Runs a row for some seconds and prints what an example took."""
    peer, row, threads = sys.argv[1], sys.argv[2], int((*sys.argv, "1")[3])
    tf = module_of(peer)
    with tempfile.TemporaryDirectory() as folder:
        batch, size = ROWS[row](tf, folder, threads)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            running = tf.train.start_queue_runners(session, coordinator)
            for _ in range(20):
                session.run(batch)
            clock, processor, count = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - clock < _SECONDS:
                session.run(batch)
                count += size
            spent = time.process_time() - processor, time.perf_counter() - clock
            coordinator.request_stop()
            coordinator.join(running, ignore_live_threads=True)
    shown = (f"{1e6 * seconds / count:.1f} µs" for seconds in spent)
    print(peer, row, f"{threads} threads:", *shown)


if __name__ == "__main__":
    main()
