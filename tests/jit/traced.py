# SPDX-License-Identifier: Apache-2.0
"""Traces programs of the graph without compiling them, for tests that look at the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime.runner import Runner, make_runner
from numbaflow.jit.trace.segment import Traced


def traced(session: Any, fetches: Any, feeds: dict[Any, np.ndarray]) -> Traced:
    """What the compiler makes of the first segment of a run, before the first pass."""
    flat = [item for item in tf.nest.flatten(fetches) if item is not None]
    tensors = [item for item in flat if isinstance(item, tf.Tensor)]
    targets = [item for item in flat if isinstance(item, tf.Operation)]
    with settings.override(jit="always"):
        runner = make_runner(session, session.graph, tensors, targets, list(feeds))
        assert isinstance(runner, Runner)
        arrays = [np.asarray(array) for array in feeds.values()]
        return runner.trace(arrays)
