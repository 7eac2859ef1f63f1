# SPDX-License-Identifier: Apache-2.0
"""Private functions about cells that TensorFlow had before 1.15, and programs import."""

from __future__ import annotations

from ...train.rnn.cell import assert_like_rnncell


def like_rnncell(cell: object) -> bool:
    """Whether something has what dynamic_rnn and others ask of a cell."""
    try:
        assert_like_rnncell("cell", cell)
    except TypeError:
        return False
    return True
