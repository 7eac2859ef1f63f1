# SPDX-License-Identifier: Apache-2.0
"""One side of `benchmarks.input`: a process that times passes over datasets on request.

`python -m benchmarks.input_worker PEER THREADS` reads JSON commands, one a line, from standard
input and answers each with one line of JSON.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .input_rows import pipelines
from .models.session import module_of
from .serving import serve

_PICTURES = 1024


class Worker:
    """Holds a dataset between commands; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        self._tf = module_of(peer)
        self._session: Any = None
        self._initializer: Any = None
        self._element: Any = None
        self._both: tuple[Any, Any] = (None, None)

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": getattr(self._tf, "__numbaflow_version__", None) or self._tf.__version__}

    def build(self, name: str, folder: str, count: int) -> dict[str, Any]:
        """Makes a row's dataset and goes over it once; that pass does not count."""
        tf = self._tf
        self._begin()
        iterator = tf.data.make_initializable_iterator(pipelines(tf, folder, count)[name][1]())
        self._initializer, self._element = iterator.initializer, iterator.get_next()
        self._session = tf.Session()
        self._session.run(tf.tables_initializer())
        return self.passed()

    def passed(self) -> dict[str, Any]:
        """The seconds of a pass, by the clock and of processors, and how many elements came."""
        tf, session = self._tf, self._session
        session.run(self._initializer)
        clock, processor, count = time.perf_counter(), time.process_time(), 0
        try:
            while True:
                session.run(self._element)
                count += 1
        except tf.errors.OutOfRangeError:
            pass
        return {
            "seconds": time.perf_counter() - clock,
            "processor": time.process_time() - processor,
            "batches": count,
        }

    def build_step(self, batch: int) -> dict[str, Any]:
        """Makes a training step on pictures twice: of constant ones, and of a generator's."""
        tf = self._tf
        self._begin()
        tf.set_random_seed(1)
        pictures, labels = _pictures()

        def endless() -> Iterator[Any]:
            for i in itertools.cycle(range(_PICTURES)):
                yield pictures[i], labels[i]

        made = tf.data.Dataset.from_generator(endless, (tf.uint8, tf.int64), ([32, 32, 3], []))
        iterator = tf.data.make_initializable_iterator(made.batch(batch).prefetch(4))
        fed = iterator.get_next()
        kept = [
            tf.get_variable(name, initializer=values[:batch], trainable=False)
            for name, values in (("pictures", pictures), ("labels", labels))
        ]
        self._both = _step(tf, *kept), _step(tf, *fed)
        self._session = tf.Session()
        self._session.run([tf.global_variables_initializer(), iterator.initializer])
        for step in self._both:
            self._session.run(step)
            self._session.run(step)
        return {}

    def steps(self, is_fed: bool, count: int) -> dict[str, Any]:
        """The seconds of some steps, of constant pictures or of the generator's."""
        step = self._both[is_fed]
        self._session.run(step)
        clock = time.perf_counter()
        for _ in range(count):
            self._session.run(step)
        return {"seconds": time.perf_counter() - clock}

    def _begin(self) -> None:
        if self._session is not None:
            self._session.close()
        self._tf.reset_default_graph()


def _pictures() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    pictures = random.integers(0, 256, (_PICTURES, 32, 32, 3)).astype(np.uint8)
    return pictures, random.integers(0, 10, _PICTURES)


def _step(tf: Any, pictures: Any, labels: Any) -> Any:
    """A step of the network of TensorFlow's CIFAR-10 tutorial."""
    with tf.variable_scope("cifar", reuse=tf.AUTO_REUSE):
        x = tf.cast(pictures, tf.float32) / 255.0
        for i, channels in enumerate((64, 64)):
            inputs = int(x.shape[-1])
            start = tf.random_normal_initializer(stddev=0.05, seed=i)
            filters = tf.get_variable(f"filters{i}", [5, 5, inputs, channels], initializer=start)
            x = tf.nn.relu(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"))
            x = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
        x = tf.reshape(x, [-1, 8 * 8 * 64])
        for i, units in enumerate((384, 192, 10)):
            start = tf.random_normal_initializer(stddev=0.04, seed=i)
            weights = tf.get_variable(f"w{i}", [int(x.shape[-1]), units], initializer=start)
            x = tf.matmul(x, weights)
            x = tf.nn.relu(x) if units > 10 else x
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    return tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(losses))


if __name__ == "__main__":
    serve(Worker)
