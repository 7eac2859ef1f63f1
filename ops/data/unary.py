# SPDX-License-Identifier: Apache-2.0
"""What classes of datasets that read one other share."""

from __future__ import annotations

from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.types import dtypes
from .dataset import DatasetV2


def int64(value: Any, name: str) -> Any:
    """A number as an int64 tensor of a name."""
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)


class UnaryDataset(DatasetV2):
    """A dataset that reads one other."""

    _structure: Any
    _input_dataset: Any

    def __init__(self, input_dataset: Any, variant_tensor: Any) -> None:
        self._input_dataset = input_dataset
        super().__init__(variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._input_dataset]

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


class UnaryUnchangedStructureDataset(UnaryDataset):
    """A dataset of elements of the type of those that it reads."""

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._input_dataset.element_spec

    def _unchanged(self, make: Any, **arguments: Any) -> None:
        """Makes the node, by a function of raw ops, and becomes its dataset."""
        source = self._input_dataset
        variant = make(source._variant_tensor, **arguments, **self._flat_structure)
        UnaryDataset.__init__(self, source, variant)
