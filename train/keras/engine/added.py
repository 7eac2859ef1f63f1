# SPDX-License-Identifier: Apache-2.0
"""Losses and metrics that are added to a finished network, as layers of it."""

from __future__ import annotations

from typing import Any

from ...layers.base_layer import Layer


class AddLoss(Layer):
    """Adds its inputs to the losses of a network.

    Args:
        unconditional: whether the loss counts for all inputs of the network.
    """

    def __init__(self, unconditional: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The loss itself."""
        self.add_loss(inputs, inputs=None if self.unconditional else True)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Adds its inputs to the metrics of a network.

    Args:
        aggregation: "mean", or None for what a metric gave.
        metric_name: the metric's name.
    """

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The metric's values themselves."""
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        more = {"aggregation": self.aggregation, "metric_name": self.metric_name}
        return {**super().get_config(), **more}
