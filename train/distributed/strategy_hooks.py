# SPDX-License-Identifier: Apache-2.0
"""A base for programs' own strategies: what is public calls what a subclass defines.

`tensorflow.python.distribute.distribute_lib.StrategyExtendedV1`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...ops.public import tf
from . import strategy_context as modes
from .strategy import Strategy, StrategyExtended


def _hook(name: str) -> Callable[..., Any]:
    """What stands for a method that subclasses have to define."""

    def missing(self: object, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.{name} must be implemented")

    missing.__name__ = name
    return missing


class StrategyExtendedV1(StrategyExtended):
    """What libraries ask of a strategy, by methods whose names begin with an underscore.

    Args:
        container_strategy: the strategy.
    """

    # What subclasses define

    _call_for_each_replica = _hook("_call_for_each_replica")
    _reduce_to = _hook("_reduce_to")
    _update = _hook("_update")
    _update_non_slot = _hook("_update_non_slot")
    _local_results = _hook("_local_results")
    _make_dataset_iterator = _hook("_make_dataset_iterator")
    _make_input_fn_iterator = _hook("_make_input_fn_iterator")
    _experimental_distribute_dataset = _hook("_experimental_distribute_dataset")
    _experimental_distribute_datasets_from_function = _hook(
        "_experimental_distribute_datasets_from_function"
    )
    _experimental_make_numpy_dataset = _hook("_experimental_make_numpy_dataset")
    _experimental_run_steps_on_iterator = _hook("_experimental_run_steps_on_iterator")
    _broadcast_to = _hook("_broadcast_to")

    def _create_variable(self, next_creator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return next_creator(*args, **kwargs)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Iterable[Any]) -> list[Any]:
        return [self._reduce_to(reduce_op, *pair) for pair in value_destination_pairs]

    def _update_config_proto(self, config_proto: Any) -> Any:
        return config_proto

    def _container_strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    # What is asked

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within it the strategy holds, and makes variables."""
        is_outer = not modes.has_strategy()
        with contextlib.ExitStack() as stack:
            strategy = stack.enter_context(super().scope())
            if is_outer:
                stack.enter_context(tf.variable_creator_scope(self._creator))
                if self._default_device is not None:
                    stack.enter_context(tf.device(self._default_device))
            yield strategy

    def _creator(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        modes.require_strategy(self._strategy)
        return self._create_variable(next_creator, **{**kwargs, "use_resource": True})

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives in the replicas."""
        with self._strategy.scope():
            return self._call_for_each_replica(fn, tuple(args), kwargs or {})

    def reduce_to(self, reduce_op: Any, value: object, destinations: object) -> Any:
        """The sum or mean over replicas, on devices."""
        modes.require_outside_of_replicas(self._strategy)
        return self._reduce_to(modes.reduce_op_of(reduce_op), value, destinations)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Iterable[Any]) -> list[Any]:
        """The sums or means over replicas, each on devices."""
        modes.require_outside_of_replicas(self._strategy)
        return self._batch_reduce_to(modes.reduce_op_of(reduce_op), value_destination_pairs)

    def broadcast_to(self, tensor: object, destinations: object) -> Any:
        """The tensor on devices."""
        modes.require_outside_of_replicas(self._strategy)
        return self._broadcast_to(tensor, destinations)

    def update(
        self,
        var: object,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of a variable gives."""
        modes.require_outside_of_replicas(self._strategy)
        return self._update(var, fn, tuple(args), kwargs or {}, group)

    def update_non_slot(
        self,
        colocate_with: object,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of variables beside others gives."""
        modes.require_outside_of_replicas(self._strategy)
        return self._update_non_slot(colocate_with, fn, tuple(args), kwargs or {}, group)

    def local_results(self, value: object) -> tuple[Any, ...]:
        """The values of this process's replicas."""
        found: tuple[Any, ...] = self._local_results(value)
        return found

    def dataset_iterator(self, dataset: Any) -> Any:
        """An iterator of a dataset."""
        return self._make_dataset_iterator(dataset)

    def function_iterator(self, input_fn: Callable[..., Any]) -> Any:
        """An iterator of what a function of an InputContext gives."""
        return self._make_input_fn_iterator(input_fn)

    def distributed_dataset(self, dataset: Any) -> Any:
        """A dataset of which replicas take parts."""
        return self._experimental_distribute_dataset(dataset)

    def dataset_of(self, dataset_fn: Callable[..., Any]) -> Any:
        """The dataset that a function of an InputContext gives."""
        return self._experimental_distribute_datasets_from_function(dataset_fn)

    def experimental_make_numpy_dataset(self, numpy_input: object, session: object = None) -> Any:
        """A dataset of arrays."""
        return self._experimental_make_numpy_dataset(numpy_input, session)

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int = 1,
        initial_loop_values: Any = None,
    ) -> Any:
        """A loop of steps, each with the next element."""
        with self._strategy.scope():
            return self._experimental_run_steps_on_iterator(
                fn, iterator, iterations, {} if initial_loop_values is None else initial_loop_values
            )

    def updated_config(self, config: Any) -> Any:
        """A ConfigProto as sessions of the strategy need it."""
        return self._update_config_proto(config)
