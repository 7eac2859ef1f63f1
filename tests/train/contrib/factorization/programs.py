# SPDX-License-Identifier: Apache-2.0
"""K-means of tf.contrib.factorization; see ../recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)
_POINTS = np.concatenate(
    [_RANDOM.normal(center, 0.5, [7, 2]) for center in ([0, 0], [4, 4], [-4, 5])]
).astype(np.float32)


def _clusters(steps: int, *args: Any, **options: Any) -> Any:
    def program(tf: Any) -> list[Any]:
        model = tf.contrib.factorization.KMeans(tf.constant(_POINTS), 3, *args, **options)
        scores, clusters, distances, is_initialized, init, train = model.training_graph()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            while not session.run(is_initialized):
                session.run(init)
            for _ in range(steps):
                session.run(train)
            found = session.run([scores[0], clusters[0], distances[0]])
        return [tf.constant(value) for value in found]

    return program


PROGRAMS = {
    "given": _clusters(3, _POINTS[5:8]),
}
