# SPDX-License-Identifier: Apache-2.0
"""Datasets of parsed Examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ....engine.types.texts import PackedTexts
from ...parsing.example_store import Features, parse_batch
from .dataset import Dataset, Element, OneSource, Stream
from .ordering import UnaryDataset
from .threads import Ahead

if TYPE_CHECKING:
    from .context import Context


def _parsed(features: Features, serialized: np.ndarray | PackedTexts) -> Element:
    """The features of a batch of Examples in the order of their names; sparse ones as boxes."""
    texts: Sequence[bytes]
    if isinstance(serialized, PackedTexts):
        texts = serialized
    else:
        texts = serialized.reshape(-1).tolist()
    found = parse_batch(texts, [], features)
    count = len(features.sparse)
    named: dict[str, np.ndarray] = {}
    for i, asked in enumerate(features.sparse):
        box = np.empty(3, object)
        for part in range(3):
            box[part] = found[part * count + i]
        named[asked.key] = box
    keys = (asked.key for asked in features.dense)
    named.update(zip(keys, found[3 * count :]))
    return tuple(named[key] for key in sorted(named))


class ParseExampleDataset(UnaryDataset):
    """The features of batches of Examples."""

    kind = "ParseExample"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        features: Features,
        parallel: int,
    ) -> None:
        super().__init__(source, types, shapes)
        self.features, self.parallel = features, parallel

    def stream(self, context: Context, path: str) -> Stream:
        parsed = _Parsed(self.source_stream(context, path), self.features)
        if self.parallel == 1:
            return parsed
        return Ahead(parsed, context, max(2, self.parallel))


class _Parsed(OneSource):
    def __init__(self, source: Stream, features: Features) -> None:
        self._source, self._features = source, features

    def next(self) -> Element | None:
        element = self._source.next_packed()
        return None if element is None else _parsed(self._features, element[0])
