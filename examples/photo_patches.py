# SPDX-License-Identifier: Apache-2.0
"""Tells of which of two photographs a square of 16 by 16 pixels is.

A monitored session trains a small convolutional network on TFRecord files of colour images, read
by queues; hooks write summaries for TensorBoard and checkpoints.  Expected: above 85 % of the test
squares right.

    numbaflow run examples/photo_patches.py --logdir /tmp/patches
    tensorboard --logdir /tmp/patches
"""

import argparse
import os

import image_records
import tensorflow as tf


def images_of(paths, shape, size):
    """Shuffled batches of images and labels."""
    names = tf.train.string_input_producer(paths, seed=1)
    _, record = tf.TFRecordReader().read(names)
    parsed = image_records.parse(record, shape)
    return tf.train.shuffle_batch(parsed, size, capacity=300, min_after_dequeue=100, seed=1)


def network(images):
    """Logits of the two photographs; the variables are shared by all calls."""
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        x = tf.layers.conv2d(images, 8, 3, activation=tf.nn.relu, name="conv")
        x = tf.layers.max_pooling2d(x, 2, 2)
        x = tf.layers.dense(tf.layers.flatten(x), 32, tf.nn.relu, name="hidden")
        return tf.layers.dense(x, 2, name="logits")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--steps", type=int, default=80)
    args = parser.parse_args()

    train_paths, test_paths, shape = image_records.patches(os.path.join(args.logdir, "records"))
    tf.set_random_seed(1)
    images, labels = images_of(train_paths, shape, 40)
    test_images, test_labels = images_of(test_paths, shape, 120)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(4e-3).minimize(loss, step)
    right = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(network(test_images), 1), test_labels)))

    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", right)
    tf.summary.image("squares", images, max_outputs=4)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=args.logdir,
        hooks=[tf.train.StopAtStepHook(args.steps)],
        save_summaries_steps=20,
        log_step_count_steps=40,
    ) as sess:
        while not sess.should_stop():
            sess.run(train_op)
    with tf.train.MonitoredSession(
        tf.train.ChiefSessionCreator(checkpoint_dir=args.logdir)
    ) as sess:
        accuracy = sess.run(right)
    print(f"test accuracy: {100 * accuracy:.2f} %")


if __name__ == "__main__":
    main()
