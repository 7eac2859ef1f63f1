# SPDX-License-Identifier: Apache-2.0
"""Numbers of categories."""

from __future__ import annotations

import collections
from collections.abc import Hashable
from typing import Any

from .....engine.api import export


@export("contrib.learn.preprocessing.CategoricalVocabulary")
class CategoricalVocabulary:
    """Numbers categories in the order in which they are first seen; 0 is what is unknown.

    Args:
        unknown_token: what 0 is called.
        support_reverse: whether names can be found by their numbers.

    Example:
        >>> vocabulary = tf.contrib.learn.preprocessing.CategoricalVocabulary()
        >>> vocabulary.get("a"), vocabulary.get("b"), vocabulary.get("a"), len(vocabulary)
        (1, 2, 1, 3)
    """

    # Files that programs keep are pickles of these attributes.
    def __init__(self, unknown_token: Hashable = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq: dict[Any, int] = collections.defaultdict(int)
        self._freeze = False
        self._clear()

    def _clear(self) -> None:
        self._mapping: dict[Any, int] = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping: list[Any] = [self._unknown_token]

    def _append(self, category: Hashable) -> None:
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def __len__(self) -> int:
        """How many there are, the unknown one among them."""
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From here on what is new is unknown; False takes it back."""
        self._freeze = freeze

    def get(self, category: Hashable) -> int:
        """The number of a category; a new one where it is new."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def add(self, category: Hashable, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Drops what is rare or too frequent, and numbers the rest anew, the most frequent first.

        Args:
            min_frequency: what was counted that often, or less, is dropped.
            max_frequency: what was counted that often, or more, is dropped; -1 drops nothing.
        """
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        counted = sorted(by_name, key=lambda item: item[1], reverse=True)
        self._clear()
        for category, count in counted:
            if count <= min_frequency:
                break
            if not 0 < max_frequency <= count:
                self._append(category)
        # As many of the most frequent as were kept, be they those or not: TensorFlow's files.
        self._freq = dict(counted[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Any:
        """The category of a number.

        Raises:
            ValueError: the vocabulary was made without `support_reverse`.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]
