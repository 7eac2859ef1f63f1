# SPDX-License-Identifier: Apache-2.0
"""First steps: a line through noisy points, found by gradient descent.

Expected: the printed slope and offset are within 0.01 of 3 and 2.

    numbaflow run examples/linear_regression.py
"""

import numpy as np
import tensorflow as tf


def main():
    random = np.random.RandomState(0)
    xs = random.uniform(-1, 1, 1000).astype(np.float32)
    ys = 3 * xs + 2 + random.normal(0, 0.1, 1000).astype(np.float32)

    # 1. Build the graph.  Nothing is computed yet.
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    slope = tf.Variable(0.0, name="slope")
    offset = tf.Variable(0.0, name="offset")
    loss = tf.reduce_mean(tf.square(slope * x + offset - y))
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

    # 2. Run parts of it in a session, which holds the variables.
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(101):
            _, value = sess.run([train_op, loss], {x: xs, y: ys})
            if step % 20 == 0:
                print(f"step {step:3d}  loss {value:.5f}")
        a, b = sess.run([slope, offset])
    print(f"y = {a:.3f} x + {b:.3f}")


if __name__ == "__main__":
    main()
