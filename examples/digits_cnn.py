# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network learns to read handwritten digits.

An ordinary TensorFlow 1.x program on the 1,797 images of 8 by 8 pixels that come with
scikit-learn.  Expected: above 98 % of the test images right, the same figure in every run.

    numbaflow run examples/digits_cnn.py --epochs 20
"""

import argparse
import sys
import time

import numpy as np
import tensorflow as tf


def load(seed):
    """Training and test images and labels: 1,437 and 360 of them."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int64)
    order = np.random.RandomState(seed).permutation(len(images))
    test, train = order[:360], order[360:]
    return images[train], labels[train], images[test], labels[test]


def conv_layer(x, channels, name):
    """3 by 3 convolution, relu, 2 by 2 max pooling."""
    with tf.variable_scope(name):
        inputs = x.get_shape()[-1].value
        stddev = (2.0 / (9 * inputs)) ** 0.5
        kernel = tf.get_variable(
            "kernel",
            [3, 3, inputs, channels],
            initializer=tf.truncated_normal_initializer(stddev=stddev),
        )
        bias = tf.get_variable("bias", [channels], initializer=tf.zeros_initializer())
        x = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, bias))
        return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


def dense_layer(x, units, name):
    """x @ kernel + bias."""
    with tf.variable_scope(name):
        inputs = x.get_shape()[-1].value
        stddev = (2.0 / inputs) ** 0.5
        kernel = tf.get_variable(
            "kernel", [inputs, units], initializer=tf.truncated_normal_initializer(stddev=stddev)
        )
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.matmul(x, kernel) + bias


def network(images, keep_prob):
    """Logits of the ten digits."""
    x = tf.reshape(images, [-1, 8, 8, 1])
    x = conv_layer(x, 32, "conv1")
    x = conv_layer(x, 64, "conv2")
    x = tf.reshape(x, [-1, 2 * 2 * 64])
    x = tf.nn.relu(dense_layer(x, 128, "dense"))
    x = tf.nn.dropout(x, keep_prob=keep_prob)
    return dense_layer(x, 10, "logits")


def show_progress(epoch, epochs, loss, rate):
    """One line that is rewritten; on something other than a terminal nothing."""
    if not sys.stdout.isatty():
        return
    done = 30 * epoch // epochs
    bar = "#" * done + "-" * (30 - done)
    end = "\n" if epoch == epochs else ""
    print(
        f"\r[{bar}] epoch {epoch}/{epochs}  loss {loss:.4f}  {rate:.0f} images/s",
        end=end,
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    train_images, train_labels, test_images, test_labels = load(args.seed)
    tf.set_random_seed(args.seed)
    images = tf.placeholder(tf.float32, [None, 8, 8], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    logits = network(images, keep_prob)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    correct = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    train_op = tf.train.AdamOptimizer(args.lr).minimize(loss)

    shuffle = np.random.RandomState(args.seed)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        start, seen = time.perf_counter(), 0
        for epoch in range(1, args.epochs + 1):
            order = shuffle.permutation(len(train_images))
            losses = []
            for i in range(0, len(order), args.batch):
                batch = order[i : i + args.batch]
                feed = {images: train_images[batch], labels: train_labels[batch], keep_prob: 0.6}
                _, value = sess.run([train_op, loss], feed)
                losses.append(value)
                seen += len(batch)
            rate = seen / (time.perf_counter() - start)
            show_progress(epoch, args.epochs, np.mean(losses), rate)
        print(f"trained {args.epochs} epochs in {time.perf_counter() - start:.1f} s")
        right = sess.run(accuracy, {images: test_images, labels: test_labels})
        print(f"test accuracy: {100 * right:.2f} %")

        # numbaflow can say what it made of the training step; TensorFlow's sessions cannot.
        explain = getattr(sess, "explain", None)
        if explain is not None:
            batch = slice(0, args.batch)
            feed = {images: train_images[batch], labels: train_labels[batch], keep_prob: 0.6}
            print("\nthe training step:")
            try:
                print(explain([train_op, loss], feed))
            except ValueError as error:  # compiling is switched off
                print(error)


if __name__ == "__main__":
    main()
