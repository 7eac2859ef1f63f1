# SPDX-License-Identifier: Apache-2.0
"""What all predictors are: a session with tensors to feed and tensors to fetch."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....engine.graph.tensor import Tensor


class Predictor(abc.ABC):
    """A function from a dictionary of inputs to a dictionary of results."""

    _graph: Graph
    _session: Any
    _feed_tensors: dict[str, Tensor]
    _fetch_tensors: dict[str, Tensor]

    @property
    def graph(self) -> Graph:
        """The graph that it computes by."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that it computes in."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Tensor]:
        """What is fed, by the inputs' names."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Tensor]:
        """What is fetched, by the results' names."""
        return self._fetch_tensors

    def _find(self, inputs: dict[str, str], outputs: dict[str, str]) -> None:
        """Notes the tensors of the graph by their names."""
        tensor = self._graph.get_tensor_by_name
        self._feed_tensors = {key: tensor(name) for key, name in inputs.items()}
        self._fetch_tensors = {key: tensor(name) for key, name in outputs.items()}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors "
            f"{self._fetch_tensors}"
        )

    def __call__(self, input_dict: dict[str, Any]) -> dict[str, Any]:
        """The results for some inputs.

        Args:
            input_dict: arrays by the inputs' names; what is missing is not fed.

        Raises:
            ValueError: there is no such input.
        """
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: "
                f"{set(self._feed_tensors)}"
            )
        feeds = {
            tensor: input_dict[key]
            for key, tensor in self._feed_tensors.items()
            if input_dict.get(key) is not None
        }
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)
