# SPDX-License-Identifier: Apache-2.0
"""Threads of the parallel driver: how many, which layer of Numba's, and what a fork does to them.

Numba is imported on the first parallel launch only.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from ..engine import settings

# The layer `workqueue` aborts the process when two threads enter it, so it is the last resort and
# then guarded by a lock; the others allow concurrent callers.
LAYERS = ("omp", "tbb", "workqueue")
_launched_in: list[int] = []
_local = threading.local()


def count() -> int:
    """How many threads the current settings allow."""
    return settings.get("threads") or cores()


@cache
def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def may_launch() -> bool:
    """False in a child forked after a parallel launch: GNU OpenMP does not survive that."""
    return not _launched_in or _launched_in[0] == os.getpid()


@cache
def choose_layer() -> str:
    """Picks the threading layer, before Numba starts one."""
    import importlib

    import numba

    config: Any = numba.config
    if "NUMBA_THREADING_LAYER" in os.environ:
        return str(config.THREADING_LAYER)
    for layer, module in zip(LAYERS, ("omppool", "tbbpool", "workqueue")):
        try:
            importlib.import_module(f"numba.np.ufunc.{module}")
        except ImportError:
            continue
        config.THREADING_LAYER = layer
        return layer
    return "workqueue"


def allows_concurrent_callers() -> bool:
    """Whether two Python threads may run parallel code at once."""
    return choose_layer() in ("omp", "tbb", "threadsafe", "safe")


def prepare() -> None:
    """Readies the calling thread for a launch with the number of threads of the settings."""
    if not _launched_in:
        _launched_in.append(os.getpid())
    wanted = count()
    if getattr(_local, "count", None) != wanted:
        import numba

        config: Any = numba.config
        numba.set_num_threads(min(wanted, config.NUMBA_NUM_THREADS))
        _local.count = wanted
