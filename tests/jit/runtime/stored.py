# SPDX-License-Identifier: Apache-2.0
"""What tests of plans of the cache have in common."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.types import nest
from numbaflow.jit.runtime import plan_key, segment_plans
from numbaflow.ops.flow import script

Feeds = list[dict[str, Any]]


class Traces:
    """Counts what is traced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, trace = 0, segment_plans.trace_segment

        def counted(*arguments: Any) -> Any:
            self.count += _is_worthwhile(arguments[0])
            return trace(*arguments)

        monkeypatch.setattr(segment_plans, "trace_segment", counted)


def _is_worthwhile(segment: Any) -> bool:
    """(Of programs that are too small to be kept nobody asks.)"""
    try:
        plan_key.require_worthwhile(segment)
    except plan_key.NotStored:
        return False
    return True


def results(build: Callable[[], Any], feeds: Feeds) -> list[Any]:
    """What a program of its own graph and session gives, run after run, in a new process so to say:
    Python functions have the numbers that they have there."""
    with pytest.MonkeyPatch.context() as patch, tf.Graph().as_default():
        patch.setattr(script._py_funcs, "_numbers", itertools.count(1 << 20))
        tf.set_random_seed(3)
        fetches = build()
        start = tf.global_variables_initializer(), tf.tables_initializer()
        with tf.Session() as session:
            session.run(start)
            return [session.run(fetches, feed_dict=feed) for feed in feeds]


def bits(values: Any) -> list[tuple[str, Any]]:
    """All values with the signs of their zeros."""
    arrays = [np.asarray(value) for value in nest.flatten(values) if value is not None]
    return [(str(a.dtype), a.tolist() if a.dtype.hasobject else a.tobytes()) for a in arrays]
