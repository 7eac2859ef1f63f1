# SPDX-License-Identifier: Apache-2.0
"""The optimizer of a SavedModel: its variables, without the rule that changes them."""

from __future__ import annotations

from typing import Any

from .base import Optimizer


class RestoredOptimizer(Optimizer):
    """Holds the hyperparameters, the counter and the slots that a SavedModel has of an optimizer.

    Functions of the SavedModel may use them; new updates cannot be made.
    """

    def __init__(self) -> None:
        super().__init__("RestoredOptimizer")
        self._hypers_created = True

    def get_config(self) -> dict[str, Any]:
        """Not there: a SavedModel of objects does not say what optimizer it was.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "Restoring functional Optimzers from SavedModels is not currently supported. Please "
            "file a feature request if this limitation bothers you."
        )
