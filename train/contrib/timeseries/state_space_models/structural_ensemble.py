# SPDX-License-Identifier: Apache-2.0
"""Structural models: a level with a trend, cycles, and what passes, added up.

In the manner of Scott and Varian, "Predicting the present with Bayesian structural time series"
(2014), with one estimate of each parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....engine.types import nest
from .....ops.public import tf
from .configuration import StateSpaceModelConfiguration
from .ensembles import StateSpaceCorrelatedFeaturesEnsemble, StateSpaceIndependentEnsemble
from .level_trend import AdderStateSpaceModel
from .periodic import CycleStateSpaceModel, ResolutionCycleModel
from .varma import VARMA


def _of_each_feature(
    scope: str, configuration: StateSpaceModelConfiguration, make: Callable[..., Any]
) -> StateSpaceCorrelatedFeaturesEnsemble:
    """A model of each feature, with correlated noise."""
    alone = configuration._replace(num_features=1)
    with tf.variable_scope(scope):
        members = []
        for feature in range(configuration.num_features):
            with tf.variable_scope(f"feature{feature}"):
                members.append(make(configuration=alone))
        return StateSpaceCorrelatedFeaturesEnsemble(members, configuration)


def _members(
    autoregressive_order: int,
    moving_average_order: int,
    cycles: list[Callable[..., Any]],
    configuration: StateSpaceModelConfiguration,
) -> list[Any]:
    """The parts of a structural model, of which the whole alone has observation noise."""
    part = configuration._replace(use_observation_noise=False)
    adder = _of_each_feature("adder", part, AdderStateSpaceModel)
    with tf.variable_scope("varma"):
        varma = VARMA(autoregressive_order, moving_average_order, configuration=part)
    numbered = enumerate(cycles)
    return [adder, varma, *(_of_each_feature(f"cycle{i}", part, make) for i, make in numbered)]


class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """A level with a trend, cycles and a moving average; several features have copies of each.

    Args:
        periodicities: how many steps a cycle takes, or a list for several cycles.
        moving_average_order: after how many steps what passes has passed.
        autoregressive_order: on how many values before it depends.
        use_level_noise: unused, as in TensorFlow 1.15: levels have noise.
        configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        del use_level_noise

        def cycle(periodicity: Any) -> Callable[..., Any]:
            return lambda configuration: CycleStateSpaceModel(periodicity, configuration)

        cycles = [cycle(periodicity) for periodicity in nest.flatten(periodicities)]
        orders = autoregressive_order, moving_average_order
        super().__init__(_members(*orders, cycles, configuration), configuration)


class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """A structural model whose size does not depend on how long cycles are.

    Args:
        cycle_num_latent_values: how many values a cycle has, one number or a list.
        moving_average_order, autoregressive_order, use_level_noise, configuration: as of
            StructuralEnsemble.
        periodicities: how many steps a cycle takes, any number, or a list for several cycles.

    Raises:
        ValueError: there are several numbers of values, and not one for each cycle.
    """

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        del use_level_noise
        lengths = nest.flatten([] if periodicities is None else periodicities)
        counts = nest.flatten(cycle_num_latent_values)
        if len(counts) != len(lengths):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as "
                    f"`periodicity` or a scalar. Received length {len(counts)} "
                    "`cycle_num_latent_values`, while `periodicities` has length "
                    f"{len(lengths)}."
                )
            counts = counts * len(lengths)

        def cycle(count: int, length: Any) -> Callable[..., Any]:
            return lambda configuration: ResolutionCycleModel(
                count, length, configuration=configuration
            )

        cycles = [cycle(count, length) for count, length in zip(counts, lengths)]
        orders = autoregressive_order, moving_average_order
        super().__init__(_members(*orders, cycles, configuration), configuration)
