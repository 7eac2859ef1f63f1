# SPDX-License-Identifier: Apache-2.0
"""Blocks that only a run knows: sizes that are no sizes."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs


@pytest.mark.parametrize("to_batch", [True, False])
@pytest.mark.parametrize(
    "block, message",
    [([2, 0], "positive, got 0"), ([-1, 2], "positive, got -2"), ([-1, -2], r"got \[-1, -2\]")],
)
def test_block_sizes_are_positive(to_batch: bool, block: list[int], message: str) -> None:
    given = tf.placeholder(tf.int32, [None])
    move: Any = tf.space_to_batch_nd if to_batch else tf.batch_to_space_nd
    moved = move(tf.ones([4, 4, 4, 1]), given, [[0, 0], [0, 0]])
    with settings.override(jit="never"), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(moved, {given: block})
