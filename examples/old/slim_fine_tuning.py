# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning with slim: what a network has learnt of four classes helps it to tell two others.

A small network with batch normalization is trained and saved; another one of the same variables
takes all of them from the checkpoint but those of its last layer, and trains that layer alone.
Expected: over 90 % right.

    numbaflow run examples/old/slim_fine_tuning.py
"""

import argparse
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def stripes(rng, count, angles):
    """Pictures of stripes at one of some angles, in noise, and which it is."""
    labels = rng.randint(0, len(angles), count)
    angle = np.array(angles)[labels][:, None, None]
    y, x = np.mgrid[:16, :16]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    pictures = np.sin(x * np.cos(angle) + y * np.sin(angle) + phase)
    pictures += rng.normal(scale=0.7, size=pictures.shape)
    return pictures[..., None].astype(np.float32), labels


def network(pictures, classes, training):
    """Logits, and the end points by name."""
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        normalizer_fn=slim.batch_norm,
        normalizer_params={"is_training": training, "decay": 0.9},
        weights_regularizer=slim.l2_regularizer(1e-4),
    ):
        with tf.variable_scope("network"):
            x = slim.repeat(pictures, 2, slim.conv2d, 16, [3, 3], scope="conv1")
            x = slim.max_pool2d(x, [2, 2], scope="pool1")
            x = slim.conv2d(x, 32, [3, 3], scope="conv2")
            x = tf.reduce_mean(x, [1, 2], name="pool2")
            x = slim.dropout(x, 0.8, is_training=training, scope="dropout")
            return slim.fully_connected(
                x, classes, activation_fn=None, normalizer_fn=None, scope="logits"
            )


def training_run(angles, steps, args, rng, folder, start=None):
    """Trains a network, from a checkpoint if there is one; the share of others that is right."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        pictures = tf.placeholder(tf.float32, [None, 16, 16, 1])
        labels = tf.placeholder(tf.int64, [None])
        training = tf.placeholder_with_default(False, [])
        logits = network(pictures, len(angles), training)
        tf.losses.sparse_softmax_cross_entropy(labels, logits)
        loss = tf.losses.get_total_loss()
        optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
        last = slim.get_variables("network/logits") if start else None
        train = slim.learning.create_train_op(loss, optimizer, variables_to_train=last)
        right = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels)))

        session.run(tf.global_variables_initializer())
        if start:
            restored = slim.get_variables_to_restore(exclude=["network/logits", "global_step"])
            restored = [v for v in restored if "Momentum" not in v.op.name]
            slim.assign_from_checkpoint_fn(start, restored)(session)
        for step in range(1, steps + 1):
            images, classes = stripes(rng, args.batch, angles)
            feed = {pictures: images, labels: classes, training: True}
            value = session.run(train, feed)
            if step % args.every == 0:
                print(f"step {step}: loss {value:.6f}")
        images, classes = stripes(rng, 500, angles)
        share = session.run(right, {pictures: images, labels: classes})
        return share, tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100, help="of the first training")
    parser.add_argument("--tuning", type=int, default=100, help="steps of the second")
    parser.add_argument("--every", type=int, default=25, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    rng, folder = np.random.RandomState(1), tempfile.mkdtemp()
    angles = [0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4]
    share, path = training_run(angles, args.steps, args, rng, folder)
    print("four classes: %.1f %% right" % (100 * share))
    others = [np.pi / 8, 5 * np.pi / 8]
    share, _ = training_run(others, args.tuning, args, rng, folder, path)
    print("two others: %.1f %% right" % (100 * share))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
