# SPDX-License-Identifier: Apache-2.0
"""Distributions that depend on their own draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape
from ....ops.distributions.distribution import Distribution
from .distribution_util import gen_new_seed

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.distributions.Autoregressive")
class Autoregressive(Distribution):
    """Every entry's distribution follows from the entries before.

    distribution_fn: gives a distribution of a draw (or of `sample0`, or of nothing).  num_steps:
    how often a draw makes the distribution of the next one; once for every entry if None.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Distribution],
        sample0: object = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError(
                        "distribution_fn must generate a distribution with fully known "
                        "`event_shape`."
                    )
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        self._complete(parameters, first._graph_parents, name, first.dtype)
        self._reparameterization_type = first.reparameterization_type

    @property
    def distribution_fn(self) -> Callable[..., Distribution]:
        """What gives the distribution of a draw."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """What the first distribution is made of."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often a draw makes the distribution of the next one."""
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """The first distribution."""
        return self._distribution0

    def _batch_shape(self) -> TensorShape:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        if seed is None:
            # All steps draw the same numbers, so that entries keep what they were.
            drawn_seed = int(np.random.randint(2**32 - 1, dtype=np.int64))
            seed = gen_new_seed(drawn_seed, "autoregressive")
        drawn = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            drawn = self.distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).prob(value)
