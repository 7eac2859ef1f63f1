# SPDX-License-Identifier: Apache-2.0
"""Steps of training with strategies: `tensorflow.python.distribute.step_fn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Step:
    """A step of training.

    Args:
        distribution: the strategy.
    """

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> list[Any]:
        """What is to be run before the first step."""
        return []

    def __call__(self) -> Any:
        """The operation of a step."""
        raise NotImplementedError(f"{type(self).__name__}.__call__ must be implemented")


class StandardInputStep(Step):
    """A step whose input is a dataset.

    Args:
        dataset_fn: gives the dataset.
        distribution: the strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> list[Any]:
        """What starts the iterator."""
        found: list[Any] = self._iterator.initialize()
        return found


class StandardSingleLossStep(StandardInputStep):
    """Steps that make one loss smaller.

    Args:
        dataset_fn: gives the dataset.
        loss_fn: the loss of a MultiStepContext and an element.
        optimizer: trains.
        distribution: the strategy.
        iterations_per_step: how many steps are one.
    """

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[[Any, Any], Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ) -> None:
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer = loss_fn, optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        """The operation of so many steps."""
        with self.distribution.scope():
            context = self.distribution.extended.experimental_run_steps_on_iterator(
                self._step, self._iterator, self._iterations_per_step
            )
        return context.run_op

    def _step(self, context: Any, inputs: Any) -> Any:
        """One of them."""
        pairs = self.distribution.extended.call_for_each_replica(
            self._gradients, args=(context, inputs)
        )
        return self._optimizer._distributed_apply(self.distribution, pairs)

    def _gradients(self, context: Any, inputs: Any) -> list[tuple[Any, Any]]:
        """A replica's gradients of the trainable variables that the loss depends on."""
        loss = self._loss_fn(context, inputs)
        pairs = self._optimizer.compute_gradients(loss)
        return [(gradient, variable) for gradient, variable in pairs if gradient is not None]
