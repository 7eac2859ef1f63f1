# SPDX-License-Identifier: Apache-2.0
"""Two networks against each other: one paints rings, the other tells them from real ones.

Transposed convolutions, batch normalization and leaky rectifiers, as in DCGAN.  Expected: painted
pictures are about as bright as real ones, and as bright at the same distance from the middle.

    numbaflow run examples/old/dcgan.py
"""

import argparse

import numpy as np
import tensorflow as tf


def rings(rng, count):
    """Pictures of 16 x 16 pixels between -1 and 1, each a ring about the middle."""
    radius = rng.uniform(4, 6, (count, 1, 1))
    y, x = np.mgrid[:16, :16] - 7.5
    distance = np.sqrt(x**2 + y**2) - radius
    return (2 * np.exp(-(distance**2)) - 1)[..., None].astype(np.float32)


def painter(noise, training):
    """A picture for each row of noise."""
    with tf.variable_scope("painter"):
        x = tf.layers.dense(noise, 4 * 4 * 32, use_bias=False)
        x = tf.reshape(x, [-1, 4, 4, 32])
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
        x = tf.layers.conv2d_transpose(x, 16, 5, 2, padding="same", use_bias=False)
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
        return tf.layers.conv2d_transpose(x, 1, 5, 2, padding="same", activation=tf.tanh)


def critic(pictures, reuse):
    """How real pictures look, as logits."""
    with tf.variable_scope("critic", reuse=reuse):
        x = tf.layers.conv2d(pictures, 16, 5, 2, padding="same", activation=tf.nn.leaky_relu)
        x = tf.layers.conv2d(x, 32, 5, 2, padding="same", activation=tf.nn.leaky_relu)
        return tf.layers.dense(tf.layers.flatten(x), 1)


def cross_entropy(logits, label):
    labels = tf.fill(tf.shape(logits), label)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def minimize(loss, scope):
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    with tf.control_dependencies(updates):
        return tf.train.AdamOptimizer(4e-4, beta1=0.5).minimize(loss, var_list=variables)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--every", type=int, default=50, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    rng = np.random.RandomState(1)
    tf.set_random_seed(1)
    real = tf.placeholder(tf.float32, [None, 16, 16, 1])
    noise = tf.placeholder(tf.float32, [None, 16])
    training = tf.placeholder_with_default(False, [])
    painted = painter(noise, training)
    real_logits, painted_logits = critic(real, False), critic(painted, True)
    critic_loss = cross_entropy(real_logits, 0.9) + cross_entropy(painted_logits, 0.0)
    painter_loss = cross_entropy(painted_logits, 1.0)
    train_critic = minimize(critic_loss, "critic")
    train_painter = minimize(painter_loss, "painter")

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            feed = {
                real: rings(rng, args.batch),
                noise: rng.uniform(-1, 1, (args.batch, 16)),
                training: True,
            }
            losses = session.run([critic_loss, train_critic], feed)[:1]
            losses += session.run([painter_loss, train_painter], feed)[:1]
            if step % args.every == 0:
                print(f"step {step}: loss {losses[0]:.6f}, the painter's {losses[1]:.6f}")
        pictures = session.run(painted, {noise: rng.uniform(-1, 1, (256, 16))})
        like = np.corrcoef(pictures.mean(0).ravel(), rings(rng, 256).mean(0).ravel())[0, 1]
        print(f"means of pictures correlate by {like:.3f}")


if __name__ == "__main__":
    main()
