# SPDX-License-Identifier: Apache-2.0
"""Handwritten digits in TFRecord files, read by queues, watched in TensorBoard.

The input pipeline of TensorFlow 1.x before tf.data: file names in a queue, a reader, threads that
parse and shuffle.  Expected: above 90 % of the test images right.

    numbaflow run examples/digits_queues.py --logdir /tmp/digits
    tensorboard --logdir /tmp/digits
"""

import argparse
import os

import image_records
import tensorflow as tf


def batches(paths, shape, size, shuffled):
    """Images and labels, for ever if they are shuffled, else once."""
    names = tf.train.string_input_producer(
        paths, num_epochs=None if shuffled else 1, shuffle=shuffled, seed=1
    )
    _, record = tf.TFRecordReader().read(names)
    image, label = image_records.parse(record, shape)
    if not shuffled:
        return tf.train.batch([image, label], size, allow_smaller_final_batch=True)
    return tf.train.shuffle_batch(
        [image, label], size, capacity=1000, min_after_dequeue=500, seed=1
    )


def network(images, units=64):
    """Logits of the ten digits; the variables are shared by all calls."""
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        x = tf.layers.dense(tf.layers.flatten(images), units, tf.nn.relu, name="hidden")
        return tf.layers.dense(x, 10, name="logits")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=50)
    args = parser.parse_args()

    train_paths, test_paths, shape = image_records.digits(os.path.join(args.logdir, "records"))
    tf.set_random_seed(1)
    images, labels = batches(train_paths, shape, args.batch, shuffled=True)
    test_images, test_labels = batches(test_paths, shape, 60, shuffled=False)

    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
    train_op = tf.train.AdamOptimizer(1e-2).minimize(loss)
    right = tf.equal(tf.argmax(network(test_images), 1), test_labels)

    tf.summary.scalar("loss", loss)
    tf.summary.image("digits", images, max_outputs=4)
    for variable in tf.trainable_variables():
        tf.summary.histogram(variable.op.name, variable)
    summaries = tf.summary.merge_all()

    start = [tf.global_variables_initializer(), tf.local_variables_initializer()]
    with tf.Session() as sess, tf.summary.FileWriter(args.logdir, sess.graph) as writer:
        sess.run(start)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        for step in range(args.steps):
            if step % 20 == 0:
                _, text = sess.run([train_op, summaries])
                writer.add_summary(text, step)
            else:
                sess.run(train_op)
        found = []
        try:
            while True:
                found.extend(sess.run(right))
        except tf.errors.OutOfRangeError:
            pass  # every test image was seen once
        coordinator.request_stop()
        coordinator.join(threads)
        accuracy = sum(found) / len(found)
        result = tf.Summary(value=[tf.Summary.Value(tag="test accuracy", simple_value=accuracy)])
        writer.add_summary(result, args.steps)
    print(f"{len(found)} test images, accuracy: {100 * accuracy:.2f} %")


if __name__ == "__main__":
    main()
