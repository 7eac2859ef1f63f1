# SPDX-License-Identifier: Apache-2.0
"""The workloads in a module with TensorFlow's API: numbaflow, TensorFlow, TensorFlow with XLA."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from .data import images
from .workloads import WORKLOADS, mlp

Step = Callable[[], Any]
TF_MODULE = "tensorflow.compat.v1"


class Graphs:
    """Builds a graph and a session for each workload; one is kept at a time."""

    workloads = frozenset(WORKLOADS)

    def __init__(self, peer: str, threads: int) -> None:
        xla = peer == "tensorflow_xla"
        if xla:
            os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"
        self.tf: Any = importlib.import_module("numbaflow" if peer == "numbaflow" else TF_MODULE)
        if hasattr(self.tf, "disable_v2_behavior"):
            self.tf.disable_v2_behavior()
        self._config = self.tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        if xla:
            optimizer = self._config.graph_options.optimizer_options
            optimizer.global_jit_level = self.tf.OptimizerOptions.ON_2
        self._session: Any = None

    def version(self) -> str:
        """The version of what does the work."""
        name = "__numbaflow_version__"
        return getattr(self.tf, name, None) or self.tf.__version__

    def step(self, workload: str, **sizes: int) -> Step:
        """A step of the workload, with its variables initialized."""
        built: list[Any] = []
        session = self._open(lambda tf: built.append(WORKLOADS[workload](tf, **sizes)))
        ((fetches, feeds),) = built
        return lambda: session.run(fetches, feeds)

    def batches(self) -> Callable[[int], Step]:
        """A function from a batch size to a step of the small network at that size."""
        built: list[Any] = []
        session = self._open(lambda tf: built.append(mlp(tf)))
        ((train, loss, x, labels),) = built

        def at(size: int) -> Step:
            feeds = dict(zip((x, labels), images(size)))
            return lambda: session.run([train, loss], feeds)

        return at

    def _open(self, build: Callable[[Any], Any]) -> Any:
        if self._session is not None:
            self._session.close()
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.set_random_seed(0)
            build(self.tf)
            start = self.tf.global_variables_initializer()
        self._session = self.tf.Session(graph=graph, config=self._config)
        self._session.run(start)
        return self._session

    def kernels(self) -> tuple[int, int, float]:
        """Kernels compiled and loaded so far, and the seconds that compiling took; 0 elsewhere."""
        if "numbaflow" not in sys.modules:
            return 0, 0, 0.0
        from numbaflow.jit.codegen.compile import STATS

        return STATS.compiles, STATS.hits, STATS.seconds
