# SPDX-License-Identifier: Apache-2.0
"""A program for tensorflow-hub 0.7.0: a module is exported to a folder and used from there."""

import os
import sys

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub


def doubled():
    """A module of one variable."""
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
    hub.add_signature(inputs=x, outputs=2 * tf.matmul(x, w))


def main(folder):
    """Exports the module and runs it."""
    path = os.path.join(folder, "module")
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(hub.create_module_spec(doubled))
        session.run(tf.global_variables_initializer())
        module.export(path, session)
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(path, trainable=True)
        outputs = module(np.ones([1, 3], np.float32))
        session.run(tf.global_variables_initializer())
        print([v.op.name for v in tf.trainable_variables()], session.run(outputs).tolist())


if __name__ == "__main__":
    main(sys.argv[1])
