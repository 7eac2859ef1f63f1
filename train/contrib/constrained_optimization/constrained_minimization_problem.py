# SPDX-License-Identifier: Apache-2.0
"""What a problem says of itself: an objective, and constraints that are not to be above zero."""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any

from ....engine.api import export

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


@export("contrib.constrained_optimization.ConstrainedMinimizationProblem")
class ConstrainedMinimizationProblem(abc.ABC):
    """An objective that is to be small while constraints are zero or below; to be derived from."""

    @property
    @abc.abstractmethod
    def objective(self) -> Tensor:
        """What is minimized: a scalar."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Tensor:
        """What is to be zero or below, of any shape that is known."""

    @property
    def num_constraints(self) -> int:
        """The number of constraints; ValueError where shapes are not known, or differ."""
        shape = self.constraints.shape
        proxy = self.proxy_constraints
        proxy_shape = shape if proxy is None else proxy.shape
        if not shape.is_fully_defined() or not proxy_shape.is_fully_defined():
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shape != proxy_shape:
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return math.prod(size or 0 for size in shape.as_list())

    @property
    def proxy_constraints(self) -> Any:
        """What stands for the constraints in gradients; None for the constraints themselves."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Operations that are run before each step; None for none."""
        return None
