# SPDX-License-Identifier: Apache-2.0
"""Columns of categories as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .....engine.api import export
from ..learn_io.data_feeder import setup_processor_data_feeder
from .categorical_vocabulary import CategoricalVocabulary


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


@export("contrib.learn.preprocessing.CategoricalProcessor")
class CategoricalProcessor:
    """Rows of categories as rows of numbers; NaN is unknown.

    Args:
        min_frequency: categories that occur that often, or less, are unknown.
        share: whether columns have one vocabulary together.
        vocabularies: CategoricalVocabularies, one a column; new ones if None.
    """

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: Sequence[CategoricalVocabulary] | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """From here on what is new is unknown; False takes it back."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def _of(self, row: Sequence[Any]) -> Sequence[CategoricalVocabulary]:
        if self.vocabularies_ is None:
            if self.share:
                self.vocabularies_ = [CategoricalVocabulary()] * len(row)
            else:
                self.vocabularies_ = [CategoricalVocabulary() for _ in row]
        return self.vocabularies_

    def fit(self, x: Iterable[Any], unused_y: object = None) -> CategoricalProcessor:
        """Learns the categories of rows."""
        for row in setup_processor_data_feeder(x):
            for vocabulary, value in zip(self._of(row), row):
                if not _is_nan(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable[Any], unused_y: object = None) -> Iterator[Any]:
        """Learns the categories of rows, and gives their numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Rows of numbers."""
        self.freeze()
        for row in setup_processor_data_feeder(x):
            numbers = [
                0 if _is_nan(value) else vocabulary.get(value)
                for vocabulary, value in zip(self._of(row), row)
            ]
            yield np.array(numbers, dtype=np.int64)
