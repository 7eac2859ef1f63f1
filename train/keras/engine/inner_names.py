# SPDX-License-Identifier: Apache-2.0
"""What programs read of a compiled model by TensorFlow's inner names.

They build functions of their own of it: `K.function(model._feed_inputs + model._feed_targets, …)`.
"""

from __future__ import annotations

from typing import Any


class InnerNames:
    """A model's targets, weights and losses by the names that TensorFlow gives them."""

    _endpoints: list[Any]

    @property
    def loss_functions(self) -> list[Any]:
        """The loss of each output; None where nothing is trained."""
        return [e.loss for e in self._endpoints]

    @property
    def sample_weights(self) -> list[Any]:
        """The placeholder of samples' weights of each output; None where there is none."""
        return [e.sample_weight for e in self._endpoints]

    @property
    def _training_endpoints(self) -> list[Any]:
        return list(self._endpoints)

    @property
    def _loss_weights_list(self) -> list[Any]:
        return [e.loss_weight for e in self._endpoints]

    @property
    def _sample_weight_modes(self) -> list[Any]:
        return [e.sample_weight_mode for e in self._endpoints]

    @property
    def _targets(self) -> list[Any]:
        return [e.target for e in self._endpoints if e.target is not None]

    def _fed_endpoints(self) -> list[Any]:
        return [e for e in self._endpoints if e.is_fed]

    @property
    def _feed_targets(self) -> list[Any]:
        return [e.target for e in self._fed_endpoints()]

    @property
    def _feed_output_names(self) -> list[str]:
        return [e.name for e in self._fed_endpoints()]

    @property
    def _feed_output_shapes(self) -> list[Any]:
        return [e.target_shape for e in self._fed_endpoints()]

    @property
    def _feed_loss_fns(self) -> list[Any]:
        return [e.loss for e in self._fed_endpoints()]

    @property
    def _feed_sample_weights(self) -> list[Any]:
        return [e.sample_weight for e in self._endpoints if e.sample_weight is not None]
