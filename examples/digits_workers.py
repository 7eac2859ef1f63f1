# SPDX-License-Identifier: Apache-2.0
"""Several workers keep the same network and add up their gradients; lost ones are started again.

Each worker takes a part of the images. The network is saved from time to time: when a worker fails,
all go on from there. With --ray the workers are placed by Ray, on this machine or a cluster of it.

    python examples/digits_workers.py --workers 2
"""

import argparse
import tempfile

import numpy as np

import numbaflow as tf


def load(index, count):
    """A worker's part of the images and labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = (digits.data / 16.0).astype(np.float32), digits.target.astype(np.int64)
    order = np.random.RandomState(1).permutation(len(images))
    own = order[index::count]
    return images[own], labels[own]


def train(worker, steps):
    """What each worker does; how much of its last batch is right."""
    x, y = load(worker.index, worker.count)
    images = tf.placeholder(tf.float32, [None, 64])
    labels = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(tf.layers.dense(images, 100, activation=tf.nn.relu), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels)))
    step = tf.train.get_or_create_global_step()
    # Gradients are added up: each worker's part of the mean is one of so many.
    optimizer = tf.train.AdamOptimizer(0.003)
    update = optimizer.minimize(loss / worker.count, global_step=step)
    draws = np.random.RandomState(worker.index)
    hooks = [tf.train.StopAtStepHook(last_step=steps)]
    with worker.session(hooks=hooks, save_checkpoint_steps=100) as session:
        while not session.should_stop():
            chosen = draws.randint(0, len(x), 32)
            _, rate = session.run([update, right], {images: x[chosen], labels: y[chosen]})
            if worker.index == 0 and draws.rand() < 0.02:
                print(f"training accuracy {rate:.3f}", flush=True)
    return float(rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--ray", action="store_true", help="have Ray place the workers")
    parser.add_argument("--folder", help="of checkpoints, to go on from another time")
    args = parser.parse_args()
    folder = args.folder or tempfile.mkdtemp()
    rates = tf.distribute.ray.run(
        train, args.workers, args=(args.steps,), checkpoint_dir=folder, use_ray=args.ray
    )
    print("accuracy of the last batches:", " ".join(f"{rate:.3f}" for rate in rates))


if __name__ == "__main__":
    main()
