# SPDX-License-Identifier: Apache-2.0
"""`slim.data_decoder`: what turns a record into tensors."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from .....engine.api import export


@export("contrib.slim.data_decoder.DataDecoder")
class DataDecoder(abc.ABC):
    """Decodes records into tensors that have names, the items."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """The tensors of some items of a record."""

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The items that can be decoded."""
