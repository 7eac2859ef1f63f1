# SPDX-License-Identifier: Apache-2.0
"""One side of `benchmarks.collectives`: a member of a group, or all of Ray's.

`python -m benchmarks.collective_worker PEER THREADS` reads JSON commands, one a line, from standard
input and answers each with one line of JSON.  With `ray` it starts one actor for each member.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

from .serving import serve


class Member:
    """A task of a cluster of numbaflow's; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        import numbaflow

        self._tf: Any = numbaflow
        self._threads = threads
        self._made = 0

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": self._tf.__numbaflow_version__}

    def listen(self, cluster: dict[str, list[str]], task: int) -> dict[str, Any]:
        """Starts the server of a task."""
        config = self._tf.ConfigProto(intra_op_parallelism_threads=self._threads)
        self._count, self._task = len(cluster["worker"]), task
        self._server = self._tf.train.Server(
            self._tf.train.ClusterSpec(cluster), "worker", task, config=config
        )
        return {}

    def prepare(self, size: int) -> dict[str, Any]:
        """Prepares sums over all members of so many bytes of each."""
        from numbaflow.ops import collective

        tf = self._tf
        self._made += 1
        with tf.Graph().as_default(), tf.device(f"/job:worker/task:{self._task}"):
            kept = tf.get_variable(
                f"kept{self._made}", [size // 4], initializer=tf.ones_initializer()
            )
            total = collective.all_reduce(
                tf.identity(kept), self._count, 1, self._made, "Add", "Id"
            )
            self._done = total.op
            self._first = total[0]
            config = tf.ConfigProto(device_filters=[f"/job:worker/task:{self._task}"])
            self._session = tf.Session(self._server.target, config=config)
            self._session.run(kept.initializer)
        return {}

    def first(self) -> dict[str, Any]:
        """The first number of a sum."""
        return {"first": float(self._session.run(self._first))}

    def steps(self, count: int) -> dict[str, Any]:
        """The seconds that so many sums take."""
        start = time.perf_counter()
        for _ in range(count):
            self._session.run(self._done)
        return {"seconds": time.perf_counter() - start}


class RayMembers:
    """All members of a group of Ray's, as actors; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        import ray

        self._ray: Any = ray

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        return {"version": self._ray.__version__}

    def group(self, count: int) -> dict[str, Any]:
        """Starts the members of a group."""
        ray = self._ray
        # (Actors take the folder over, whose modules have names of Python's own.)
        here = os.getcwd()
        sys.path = [p for p in sys.path if os.path.abspath(p) != here]
        os.chdir(tempfile.gettempdir())
        ray.init(num_cpus=count, include_dashboard=False, log_to_driver=False)
        made = ray.remote(_Actor)
        self._members = [made.remote(i, count) for i in range(count)]
        ray.get([member.join.remote() for member in self._members])
        return {}

    def _each(self, method: str, *given: Any) -> list[Any]:
        asked = [getattr(member, method).remote(*given) for member in self._members]
        return self._ray.get(asked)  # type: ignore[no-any-return]

    def prepare(self, size: int) -> dict[str, Any]:
        """Prepares sums over all members of so many bytes of each."""
        self._each("prepare", size)
        return {}

    def first(self) -> dict[str, Any]:
        """The first number of a sum, of the first member."""
        return {"first": self._each("first")[0]}

    def steps(self, count: int) -> dict[str, Any]:
        """The seconds that so many sums take: the slowest member's."""
        return {"seconds": max(self._each("steps", count))}


class _Actor:
    """A member of a group of Ray's."""

    def __init__(self, rank: int, count: int) -> None:
        self._rank, self._count = rank, count

    def join(self) -> None:
        """Joins the group, when all do."""
        from ray.util import collective

        self._reduce = collective.allreduce
        collective.init_collective_group(self._count, self._rank, "gloo", "default")

    def prepare(self, size: int) -> None:
        """Makes the array, which a sum writes over."""
        self._array = np.zeros(size // 4, np.float32)

    def first(self) -> float:
        """The first number of a sum of ones."""
        self._array[:] = 1
        self._reduce(self._array)
        found = float(self._array[0])
        self._array[:] = 0
        return found

    def steps(self, count: int) -> float:
        """The seconds that so many sums take."""
        start = time.perf_counter()
        for _ in range(count):
            self._reduce(self._array)
        return time.perf_counter() - start


if __name__ == "__main__":
    serve(RayMembers if sys.argv[1] == "ray" else Member)
