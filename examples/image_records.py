# SPDX-License-Identifier: Apache-2.0
"""Images in TFRecord files: what programs that train on them share.

A record is a tf.train.Example with a PNG file and its class, under the names that TensorFlow's
image models use.  `digits` and `patches` write real images into a few files; `parse` gives a
tensor for a record, in a queue's thread or in a function for `tf.data`.
"""

import os

import numpy as np
import tensorflow as tf

FEATURES = {
    "image/encoded": tf.FixedLenFeature([], tf.string),
    "image/class/label": tf.FixedLenFeature([], tf.int64),
}


def write(folder, name, images, labels, shards=2):
    """Writes uint8 images [n, height, width, channels] into some files; returns their paths."""
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{name}-{i:02d}-of-{shards:02d}") for i in range(shards)]
    with tf.Graph().as_default(), tf.Session() as sess:
        pixels = tf.placeholder(tf.uint8, [None, None, None])
        encoded = tf.image.encode_png(pixels)
        for i, path in enumerate(paths):
            with tf.python_io.TFRecordWriter(path) as writer:
                for image, label in zip(images[i::shards], labels[i::shards]):
                    png = tf.train.BytesList(value=[sess.run(encoded, {pixels: image})])
                    number = tf.train.Int64List(value=[int(label)])
                    feature = {
                        "image/encoded": tf.train.Feature(bytes_list=png),
                        "image/class/label": tf.train.Feature(int64_list=number),
                    }
                    example = tf.train.Example(features=tf.train.Features(feature=feature))
                    writer.write(example.SerializeToString())
    return paths


def parse(record, shape):
    """The image of a record, float32 in 0..1 with this static shape, and its class."""
    features = tf.parse_single_example(record, FEATURES)
    image = tf.image.decode_png(features["image/encoded"], channels=shape[-1])
    image.set_shape(shape)
    return tf.cast(image, tf.float32) / 255.0, features["image/class/label"]


def digits(folder, seed=0):
    """Handwritten digits of 8 by 8 pixels: paths of 1,437 and 360 images, and their shape."""
    from sklearn.datasets import load_digits

    found = load_digits()
    images = np.round(found.images * (255 / 16)).astype(np.uint8)[..., None]
    return _split(folder, "digits", images, found.target, 360, seed)


def patches(folder, size=16, count=600, seed=0):
    """Squares cut from scikit-learn's two photographs, by photograph; as `digits`."""
    from sklearn.datasets import load_sample_images

    rng = np.random.RandomState(seed)
    images, labels = [], []
    for label, photograph in enumerate(load_sample_images().images):
        height, width, _ = photograph.shape
        for _ in range(count // 2):
            top, left = rng.randint(height - size), rng.randint(width - size)
            images.append(photograph[top : top + size, left : left + size])
            labels.append(label)
    return _split(folder, "patches", np.stack(images), np.array(labels), count // 5, seed)


def _split(folder, name, images, labels, test, seed):
    order = np.random.RandomState(seed).permutation(len(images))
    held, rest = order[:test], order[test:]
    train_paths = write(folder, f"{name}-train", images[rest], labels[rest])
    return train_paths, write(folder, f"{name}-test", images[held], labels[held]), images.shape[1:]
