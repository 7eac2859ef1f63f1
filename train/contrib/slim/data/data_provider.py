# SPDX-License-Identifier: Apache-2.0
"""`slim.data_provider`: tensors of a dataset by the names of its items."""

from __future__ import annotations

from collections.abc import KeysView, Sequence

from .....engine.api import export
from .....engine.graph.tensor import Tensor


@export("contrib.slim.data_provider.DataProvider")
class DataProvider:
    """Gives the tensors of items.

    Args:
        items_to_tensors: item -> tensor.
        num_samples: the number of samples in the dataset.
    """

    def __init__(self, items_to_tensors: dict[str, Tensor], num_samples: int) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Tensor]:
        """The tensors of some items, all of one sample in a run.

        Raises:
            ValueError: `items` is no list or tuple, or there is no such item.
        """
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {self.list_items()}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> KeysView[str]:
        """The items that there are."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """The number of samples in the dataset."""
        return self._num_samples
