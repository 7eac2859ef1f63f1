# SPDX-License-Identifier: Apache-2.0
"""What is left of a dataset, for tests that read to its end."""

from __future__ import annotations

from typing import Any

import numbaflow as tf


def all_of(session: Any, element: Any) -> list[Any]:
    """Elements until the iterator says that there are no more."""
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError as error:
            assert "End of sequence" in error.message
            return found
