# SPDX-License-Identifier: Apache-2.0
"""The two photographs of photo_patches.py again, read by tf.data: a run that can be interrupted.

Squares are flipped, shifted and made brighter or darker at random.  Checkpoints hold the iterator
beside the variables, so a program that was stopped goes on with the next batch, in the middle of an
epoch, and ends with the same numbers as if it had never stopped.  Expected: above 85 % of the test
squares right.

    numbaflow run examples/photo_patches_data.py --logdir /tmp/squares --steps 45
    numbaflow run examples/photo_patches_data.py --logdir /tmp/squares
    tensorboard --logdir /tmp/squares
"""

import argparse
import os

import image_records
import tensorflow as tf
from photo_patches import network


def changed(image, number, shape):
    """An image flipped, shifted and with another brightness, by the number of its turn.

    Random ops without state: what a picture becomes depends on the number alone, so a resumed run
    draws what the unbroken one would have drawn.
    """
    chances = tf.random.stateless_uniform([3], seed=tf.stack([number, 7]))
    shift = tf.cast(chances[:2] * 5, tf.int32)
    padded = tf.pad(image, [[2, 2], [2, 2], [0, 0]], "SYMMETRIC")
    image = tf.slice(padded, tf.concat([shift, [0]], 0), shape)
    image = tf.where(tf.equal(number % 2, 0), image, tf.reverse(image, [1]))
    return tf.image.adjust_brightness(image, (chances[2] - 0.5) * 0.2)


def training_images(paths, shape, size):
    """Batches of changed images and labels, for ever."""

    def parsed(record, number):
        image, label = image_records.parse(record, shape)
        return changed(image, number, shape), label

    records = tf.data.TFRecordDataset(paths).shuffle(200, seed=1).repeat()
    numbered = tf.data.Dataset.zip((records, tf.data.experimental.Counter()))
    return numbered.map(parsed, num_parallel_calls=2).batch(size).prefetch(2)


def test_images(paths, shape, size):
    """Batches of images as they are, one after the other, for ever."""
    records = tf.data.TFRecordDataset(paths).repeat()
    return records.map(lambda record: image_records.parse(record, shape)).batch(size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--steps", type=int, default=90)
    args = parser.parse_args()

    train_paths, test_paths, shape = image_records.patches(os.path.join(args.logdir, "records"))
    tf.set_random_seed(1)
    iterator = tf.data.make_initializable_iterator(training_images(train_paths, shape, 40))
    tests = tf.data.make_initializable_iterator(test_images(test_paths, shape, 120))
    images, labels = iterator.get_next()
    squares, answers = tests.get_next()

    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(4e-3).minimize(loss, step)
    right = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(network(squares), 1), answers)))

    tf.summary.scalar("loss", loss)
    tf.summary.image("squares", images, max_outputs=4)
    summaries = tf.summary.merge_all()
    position = tf.data.experimental.make_saveable_from_iterator(iterator)
    saver = tf.train.Saver([*tf.global_variables(), position])
    with tf.Session() as sess, tf.summary.FileWriter(args.logdir, sess.graph) as writer:
        sess.run([tf.global_variables_initializer(), iterator.initializer, tests.initializer])
        newest = tf.train.latest_checkpoint(args.logdir)
        if newest:
            saver.restore(sess, newest)
            print(f"goes on from step {sess.run(step)}")
        for number in range(sess.run(step) + 1, args.steps + 1):
            value, text, _ = sess.run([loss, summaries, train_op])
            if number % 10 == 0:
                writer.add_summary(text, number)
            if number % 30 == 0 or number == args.steps:
                saver.save(sess, os.path.join(args.logdir, "model.ckpt"), number)
                print(f"step {number}: loss {value:.6f}")
        accuracy = sess.run(right)
    print(f"test accuracy: {100 * accuracy:.2f} %")


if __name__ == "__main__":
    main()
