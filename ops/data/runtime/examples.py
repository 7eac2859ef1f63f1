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
from .statistics import Teller, teller
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
        source, told = self.source_stream(context, path), teller(context, self)
        if told is not None:
            return _ToldParsed(source, self.features, told)
        parsed = _Parsed(source, self.features)
        if self.parallel == 1:
            return parsed
        return Ahead(parsed, context, max(2, self.parallel))


class _Parsed(OneSource):
    def __init__(self, source: Stream, features: Features) -> None:
        self._source, self._features = source, features

    def next(self) -> Element | None:
        element = self._source.next_packed()
        return None if element is None else _parsed(self._features, element[0])


class _ToldParsed(_Parsed):
    """The same; how many features each Example has, and how many values are read, is told."""

    def __init__(self, source: Stream, features: Features, told: Teller) -> None:
        super().__init__(source, features)
        self._told = told

    def next(self) -> Element | None:
        from ....io import protos

        element = self._source.next()
        if element is None:
            return None
        asked = {each.key for each in self._features.asked}
        self._told.set("thread_utilization", 0.0)  # (Who wants the batch parses it.)
        for text in element[0].reshape(-1).tolist():
            features = protos.Example.FromString(text).features.feature
            self._told.add("features_count", len(features))
            lists = [features[key] for key in features if key in asked]
            parts = [getattr(each, each.WhichOneof("kind")) for each in lists if each.ListFields()]
            values = sum(len(part.value) for part in parts)
            self._told.add("feature_values_count", values)
        return _parsed(self._features, element[0])
