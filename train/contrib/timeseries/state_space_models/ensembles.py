# SPDX-License-Identifier: Apache-2.0
"""State space models that are made of others: their states side by side are one state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.graph.convert import convert_to_tensor
from .....ops.public import tf
from ...structures import Structure
from .. import math_utils
from .configuration import StateSpaceModelConfiguration
from .state_space_model import StateSpaceModel

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


class StateSpaceEnsemble(StateSpaceModel):
    """A model made of others.

    Args:
        ensemble_members: StateSpaceModels.
        configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self, ensemble_members: Sequence[Any], configuration: StateSpaceModelConfiguration
    ) -> None:
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Structure, values: Structure, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        members = [m._loss_additions(times, values, mode) for m in self._ensemble_members]
        return own + tf.add_n(members)

    def _compute_blocked(self, member_fn: Callable[[Any], Any], name: str) -> Tensor:
        """What a function gives of each member, as the blocks of one matrix."""
        with tf.variable_scope(self._variable_scope):
            blocks = [member_fn(member) for member in self._ensemble_members]
            return math_utils.block_diagonal(blocks, dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Structure) -> Any:
        """The matrix by which a state moves to powers [...]: those of the members."""
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers"
        )

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            tradeoff = observation_transition_tradeoff_log
            if tradeoff is None:  # All members share one.
                tradeoff = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log=tradeoff)
            super()._define_parameters(observation_transition_tradeoff_log=tradeoff)

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Parameters of all members, and the ensemble's own."""
        found: dict[Any, Any] = {}
        for i, member in enumerate(self._ensemble_members):
            found.update(member.random_model_parameters(seed=seed + i if seed else None))
        found.update(super().random_model_parameters(seed=seed))
        return found

    def get_prior_mean(self) -> Tensor:
        """The mean of the first state: those of the members."""
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return tf.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> Any:
        """The matrix by which a state moves: those of the members."""
        return self._compute_blocked(
            lambda member: member.get_state_transition(), "ensemble_state_transition"
        )

    def get_noise_transform(self) -> Any:
        """The matrix from noise to states: those of the members."""
        return self._compute_blocked(
            lambda member: member.get_noise_transform(), "ensemble_noise_transform"
        )

    def get_observation_model(self, times: Structure) -> Any:
        """There is none that is not of whole shape: NotImplementedError."""
        del times
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def _member_observation(self, member: StateSpaceModel, times: Structure) -> Tensor:
        return convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype)

    def get_broadcasted_observation_model(self, times: Structure) -> Tensor:
        """What is observed at times [batch]: the sum of what is of the members."""
        found = [self._member_observation(member, times) for member in self._ensemble_members]
        return tf.concat(found, axis=2)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Models whose noises are independent; what is observed is their sum.

    Args:
        ensemble_members, configuration: as of StateSpaceEnsemble.
    """

    def transition_power_noise_accumulator(self, num_steps: Structure) -> Any:
        """The noise of numbers of steps [...]: that of the members."""
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps),
            "ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self) -> Any:
        """The covariance of the first state: those of the members."""
        return self._compute_blocked(
            lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance"
        )

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance of the noise of a step: those of the members."""
        del minimum_initial_variance
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance,
            "ensemble_state_transition_noise",
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """Models of a feature each, whose noises are correlated.

    Args:
        ensemble_members: a StateSpaceModel of one feature for each feature.
        configuration: a StateSpaceModelConfiguration.

    Raises:
        ValueError: there are not as many as features, or one is of several.
    """

    def __init__(
        self, ensemble_members: Sequence[Any], configuration: StateSpaceModelConfiguration
    ) -> None:
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the "
                "number of features in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps: Structure) -> Any:
        """The noise of numbers of steps [...]; correlated noises have no formula."""
        if len(self._ensemble_members) == 1:
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times: Structure) -> Any:
        """What is observed at times [batch]: of each member its feature."""
        return self._compute_blocked(
            lambda member: self._member_observation(member, times),
            "feature_ensemble_observation_model",
        )
