# SPDX-License-Identifier: Apache-2.0
"""A process that runs a long plan and is told to stop by a signal: `stopped.py sharing`.

Says "begun" when the plan runs; what it prints at the end is for test_stopping.py.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.jit.runtime import thread_pool

# Far more work than happens while a signal is on its way, on any machine.
SIZE, PRODUCTS = 1500, 400


def straight(begun: Any, reached: Any) -> tuple[Any, Any, Any]:
    """A placeholder, a product of many of it between two Python functions, and a short result."""
    x = tf.placeholder(tf.float32, [None, None])
    with tf.control_dependencies([tf.py_func(begun, [], [], stateful=True)]):
        y = tf.identity(x)
    for _ in range(PRODUCTS):
        y = tf.matmul(y, x)
    end = tf.py_func(reached, [tf.reduce_sum(y)], tf.float32, stateful=True)
    return x, end, tf.reduce_sum(tf.tanh(tf.matmul(x, x)))


def endless(begun: Any, reached: Any) -> tuple[Any, Any, Any]:
    """The same with a compiled loop in the middle that never ends."""
    x = tf.placeholder(tf.float32, [None, None])
    with tf.control_dependencies([tf.py_func(begun, [], [], stateful=True)]):
        y = tf.identity(x[0, 0])
    y = tf.while_loop(lambda y: y < 2.0, lambda y: y * 0.5, [y])
    end = tf.py_func(reached, [y], tf.float32, stateful=True)
    return x, end, tf.reduce_sum(tf.tanh(tf.matmul(x, x)))


def main(program: str, sharing: str) -> None:
    """Runs it, waits for the signal, and runs something else in the same session."""
    if sharing == "prange":
        thread_pool.is_supported = lambda: False
    reached: list[float] = []
    make = {"straight": straight, "endless": endless}[program]
    x, end, short = make(lambda: print("begun", flush=True), reached.append)
    value = np.random.default_rng(0).uniform(0, 2 / SIZE, (SIZE, SIZE)).astype(np.float32)
    with tf.Session() as session:
        before = session.run(short, {x: value})
        try:
            session.run(end, {x: value})
        except KeyboardInterrupt:
            print("interrupted", len(reached), flush=True)
        after = session.run(short, {x: value})
        print("same", before == after and np.isfinite(before), flush=True)


if __name__ == "__main__":
    # What a shell starts in the background ignores the signal, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(*sys.argv[1:])
