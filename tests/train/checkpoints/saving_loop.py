# SPDX-License-Identifier: Apache-2.0
"""Saves in a loop until it is killed: the victim of test_killed_savers.py.

`python saving_loop.py KIND FOLDER` first restores what is there; every variable has the number of
the step in all of its elements.  A line per finished save goes to standard output.  With a number
as third argument it is killed in the third save, at the operation on files of that number.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

SIZES = (300_000, 3, 70_000)


def build(tf: Any) -> list[Any]:
    """Variables of several sizes, one of them in slices."""
    variables = [
        tf.get_variable(f"v{i}", [size], tf.int32, tf.zeros_initializer(), use_resource=bool(i % 2))
        for i, size in enumerate(SIZES)
    ]
    with tf.variable_scope("sliced", partitioner=tf.fixed_size_partitioner(3)):
        variables += list(tf.get_variable("w", [1000], tf.int32, tf.zeros_initializer()))
    return variables


def savers(tf: Any, folder: str) -> Any:
    """Kind of saving -> (what saves in a session, given a step; what restores)."""
    variables = tf.global_variables()
    objects = tf.train.Checkpoint(variables=variables)
    objects.save_counter  # noqa: B018 - made with the other variables
    one = tf.train.Saver(variables, max_to_keep=2)
    shards = tf.train.Saver(variables, sharded=True, max_to_keep=2)
    manager = tf.train.CheckpointManager(objects, folder, max_to_keep=2)

    def restore_objects(session: Any, path: str) -> None:
        objects.restore(path).run_restore_ops(session)

    return {
        "numbered": (lambda s, step: one.save(s, f"{folder}/m", global_step=step), one.restore),
        "same": (lambda s, step: one.save(s, f"{folder}/m"), one.restore),
        "sharded": (lambda s, step: shards.save(s, f"{folder}/m", step), shards.restore),
        "managed": (lambda s, step: manager.save(step), restore_objects),
    }


OPERATIONS = "rename replace link unlink open mkdir rmdir scandir posix_fallocate".split()


def die_at(number: int) -> None:
    """From now on counts operations on files; of a write half is done."""
    from numbaflow.io.atomic_file import Output

    count = 0

    def is_last() -> bool:
        nonlocal count
        count += 1
        return count == number

    def killing(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            if is_last():
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **named)

        return run

    flush = Output._flush

    def flush_half(output: Any) -> None:
        if is_last():
            output._filled //= 2
            flush(output)
            os.kill(os.getpid(), signal.SIGKILL)
        flush(output)

    for name in OPERATIONS:
        setattr(os, name, killing(getattr(os, name)))
    Output._flush = flush_half  # type: ignore[method-assign]


def main() -> None:
    """The command line."""
    import numbaflow as tf

    kind, folder, *last = sys.argv[1:]
    variables = build(tf)
    increment = tf.group(*(tf.assign_add(v, tf.ones_like(v)) for v in variables))
    save, restore = savers(tf, folder)[kind]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.latest_checkpoint(folder)
        if path:
            restore(session, path)
        while True:
            session.run(increment)
            step = int(session.run(variables[1])[0])
            if last and step == 3:
                die_at(int(last[0]))
            save(session, step)
            print(step, flush=True)
            if last and step == 3:
                return


if __name__ == "__main__":
    main()
