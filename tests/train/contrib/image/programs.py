# SPDX-License-Identifier: Apache-2.0
"""Programs of contrib.image, resampler, periodic_resample and sparsemax; see ../recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)
_IMAGES = _RANDOM.uniform(0, 1, [2, 5, 4, 3]).astype(np.float32)
_FLOW = _RANDOM.uniform(-2, 2, [2, 5, 4, 2]).astype(np.float32)
_TILTED = [0.9, 0.1, -0.3, 0.05, 1.1, 0.2, 0.01, -0.02]


def _rotated(tf: Any) -> list[Any]:
    images, angles = tf.constant(_IMAGES), tf.constant([0.3, -1.2])
    kinds = ("NEAREST", "BILINEAR")
    return [tf.contrib.image.rotate(images, angles, interpolation=kind) for kind in kinds]


def _transformed(tf: Any) -> list[Any]:
    images = tf.constant(_IMAGES)
    composed = tf.contrib.image.compose_transforms(_TILTED, [1.0, 0, 1, 0, 1, -1, 0, 0])
    seen = tf.contrib.image.transform(images, _TILTED, "BILINEAR", [3, 6])
    moved = tf.contrib.image.translate(images[0, :, :, 0], [1.5, -1])
    whole = tf.contrib.image.transform(tf.cast(images * 255, tf.uint8), composed, "BILINEAR")
    return [seen, moved, composed, whole, tf.gradients(seen, images)[0]]


def _warped(tf: Any) -> list[Any]:
    images, flow = tf.constant(_IMAGES), tf.constant(_FLOW)
    warped = tf.contrib.image.dense_image_warp(images, flow)
    return [warped, *tf.gradients(warped, [images, flow])]


def _sparsely_warped(tf: Any) -> list[Any]:
    at = tf.constant([[[1.0, 1.0], [3.0, 2.0]]] * 2)
    to = tf.constant([[[2.0, 1.0], [3.0, 1.5]]] * 2)
    return list(
        tf.contrib.image.sparse_image_warp(tf.constant(_IMAGES), at, to, num_boundary_points=1)
    )


def _matched(tf: Any) -> list[Any]:
    distances = tf.constant(_IMAGES[0, :, :, 0])
    bits = tf.constant((_IMAGES[..., 0] > 0.4).astype(np.int32))
    pairs = tf.contrib.image.bipartite_match(distances, 4.0, 3)
    return [*pairs, tf.contrib.image.connected_components(bits)]


def _resampled(tf: Any) -> list[Any]:
    images, at = tf.constant(_IMAGES), tf.constant(_FLOW * 2 + 1)
    found = tf.contrib.resampler.resampler(images, at)
    table = tf.reshape(tf.range(24.0), [2, 3, 4])
    periodic = tf.contrib.periodic_resample.periodic_resample(table, [2, None, 12])
    gradients = [*tf.gradients(found, [images, at]), *tf.gradients(periodic, table)]
    return [found, periodic, *gradients]


def _sparse(tf: Any) -> list[Any]:
    logits = tf.constant(_FLOW[0, :, :, 0])
    shares = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, shares, tf.one_hot([0, 1, 2, 3, 0], 4))
    return [shares, loss, *tf.gradients(loss, logits)]


PROGRAMS = {
    "matched": _matched,
    "resampled": _resampled,
    "rotated": _rotated,
    "sparse": _sparse,
    "sparsely warped": _sparsely_warped,
    "transformed": _transformed,
    "warped": _warped,
}
