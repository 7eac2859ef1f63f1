# SPDX-License-Identifier: Apache-2.0
"""Which layers of a model are trained, and a time in which they are as they were.

Generative adversarial networks freeze a model that was compiled before, and go on training it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any


def trained_layers(layer: Any) -> list[tuple[Any, bool]]:
    """A layer and all within it, the outer ones first, and whether each is trained."""
    found = [(layer, layer.trainable)]
    for nested in layer._nested_layers():
        if hasattr(nested, "_nested_layers"):
            found += trained_layers(nested)
    return found


def _set(state: Sequence[tuple[Any, bool]]) -> None:
    # What a layer is told it tells those within, who are told their own behind it.
    for layer, is_trained in state:
        layer.trainable = is_trained


@contextlib.contextmanager
def as_it_was(layer: Any, state: Sequence[tuple[Any, bool]]) -> Iterator[None]:
    """The layers are trained or not as in a state noted before."""
    now = trained_layers(layer)
    _set(state)
    try:
        yield
    finally:
        _set(now)
