# SPDX-License-Identifier: Apache-2.0
"""Datasets whose options limit the threads that work for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dataset import Dataset, Stream
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context


class FewCallsDataset(UnaryDataset):
    """The same elements; of each function at most so many calls go on at a time."""

    kind = "PrivateThreadPool"

    def __init__(self, source: Dataset, most: int) -> None:
        super().__init__(source)
        self.most = most

    def stream(self, context: Context, path: str) -> Stream:
        context.most_calls = self.most
        return self.source_stream(context, path)


class NarrowCallsDataset(UnaryDataset):
    """The same elements; each call of a function has at most so many threads."""

    kind = "MaxIntraOpParallelism"

    def __init__(self, source: Dataset, most: int) -> None:
        super().__init__(source)
        self.most = most

    def stream(self, context: Context, path: str) -> Stream:
        context.most_threads = self.most or None
        return self.source_stream(context, path)
