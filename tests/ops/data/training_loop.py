# SPDX-License-Identifier: Apache-2.0
"""Trains on a pipeline and saves where its iterator is: the victim of test_killed_pipelines.py.

`python training_loop.py FOLDER STEPS` goes on from the newest checkpoint of the folder, and
writes a line for every step: its number, the elements of its batch, the variable behind it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

SAVE_EVERY = 3


def pipeline(tf: Any, folder: str) -> Any:
    """Records of some files, shuffled over epochs, numbered by their turn, mapped in threads."""
    dataset = tf.data.Dataset
    paths = []
    for part in range(3):
        path = os.path.join(folder, f"numbers-{part}")
        if not os.path.exists(path):
            with tf.python_io.TFRecordWriter(path + ".new") as writer:
                for i in range(20):
                    writer.write(b"%d" % (100 * part + i))
            os.replace(path + ".new", path)
        paths.append(path)
    records = dataset.from_tensor_slices(paths).interleave(
        tf.data.TFRecordDataset, cycle_length=2, block_length=3
    )
    counted = dataset.zip((records.shuffle(16, seed=5).repeat(), tf.data.experimental.Counter()))
    numbers = counted.map(
        lambda text, turn: 1000 * tf.string_to_number(text, tf.int64) + turn, num_parallel_calls=2
    )
    return numbers.filter(lambda x: tf.not_equal(x % 7, 0)).batch(4).prefetch(3)


def main() -> None:
    """The command line."""
    import numbaflow as tf

    folder, steps = sys.argv[1], int(sys.argv[2])
    iterator = tf.data.make_initializable_iterator(pipeline(tf, folder))
    batch = iterator.get_next()
    step = tf.train.get_or_create_global_step()
    total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer())
    with tf.control_dependencies([batch]):
        train = tf.group(
            tf.assign(total, (total * 31 + tf.reduce_sum(batch)) % 1_000_003),
            tf.assign_add(step, 1),
        )
    position = tf.data.experimental.make_saveable_from_iterator(iterator)
    saver = tf.train.Saver([total, step, position], max_to_keep=2)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        newest = tf.train.latest_checkpoint(folder)
        if newest:
            saver.restore(session, newest)
        for number in range(session.run(step) + 1, steps + 1):
            elements, _ = session.run([batch, train])
            print(json.dumps([number, elements.tolist(), int(session.run(total))]), flush=True)
            if number % SAVE_EVERY == 0:
                saver.save(session, os.path.join(folder, "model"), number)


if __name__ == "__main__":
    main()
