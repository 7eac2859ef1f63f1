# SPDX-License-Identifier: Apache-2.0
"""How many shards a computation is being built for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class TpuContext(threading.local):
    """The number of shards of the computation that this thread builds; None outside of one."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says what the number is."""
        self.number_of_shards = number_of_shards


_context = TpuContext()


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Within it computations are built for so many shards."""
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)


def get_tpu_context() -> TpuContext:
    """What is known of the computation that is being built."""
    return _context


def on_device_training_loop(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function with a loop in it."""
    func.step_marker_location = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"  # type: ignore[attr-defined]
    return func
