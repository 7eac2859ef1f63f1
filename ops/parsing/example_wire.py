# SPDX-License-Identifier: Apache-2.0
"""Many serialized Examples at once: their wire format read by compiled kernels, without messages.

Only the usual form is read (packed numbers, each key once, no unknown fields); `Unusual` is raised
for anything else, broken Examples among them, which are left to the library for messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ..strings.files import text_array

# Fields whose places are remembered from one Example to the next.
_PLACES = 256


class Unusual(Exception):
    """The Examples are of a form that is not read here."""


class Column(NamedTuple):
    """The values of a feature in all examples, one after the other."""

    present: np.ndarray
    counts: np.ndarray
    values: np.ndarray


def _bounds(texts: Sequence[bytes]) -> np.ndarray:
    """Where each text begins among all of them, and where the last one ends."""
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    return bounds


def read_columns(texts: Sequence[bytes], asked: Sequence[tuple[bytes, DType]]) -> list[Column]:
    """The values of features, each a key and a type, in many Examples.

    Raises:
        Unusual: they are of a form that is not read here, or a feature is of another type.
    """
    from ...jit.library import features
    from ...jit.runtime.calling import call

    kinds = np.array([_kind(dtype) for _, dtype in asked], np.int64)
    whole, keys = b"".join(texts), [key for key, _ in asked]
    text = np.frombuffer(whole or b"\0", np.uint8)
    found = np.full((len(texts), len(asked), 3), -1, np.int64)
    problem = np.zeros(1, np.int64)
    names = np.frombuffer(b"".join(keys) or b"\0", np.uint8)
    guesses = np.full(_PLACES, -1, np.int64)
    arrays = [text, _bounds(texts), names, _bounds(keys), kinds, guesses, found, problem]
    call(features.locate(), arrays, [len(asked), _PLACES], len(texts))
    if problem[0]:
        raise Unusual
    present = found[:, :, 0] >= 0
    counts = np.where(present, found[:, :, 2], 0)
    totals = counts.sum(0)
    places = np.zeros(len(asked), np.int64)
    parts: list[np.ndarray] = []
    for kind in (features.TEXTS, features.FLOATS, features.INTEGERS):
        of_kind = np.where(kinds == kind, totals, 0)
        places += np.where(kinds == kind, np.cumsum(of_kind) - of_kind, 0)
        parts.append(_room(kind, int(of_kind.sum())))
    arrays = [text, kinds, found, places, parts[1].view(np.uint8), parts[2], parts[0], problem]
    call(features.gather(), arrays, [len(texts), len(asked)], len(asked))
    if problem[0]:
        raise Unusual
    parts[0] = _sliced(whole, parts[0])
    ends = (places + totals).tolist()
    return [
        Column(present[:, i], counts[:, i], parts[kind][place:end])
        for i, (kind, place, end) in enumerate(zip(kinds.tolist(), places.tolist(), ends))
    ]


def _kind(dtype: DType) -> int:
    from ...jit.library import features

    if dtype == dtypes.string:
        return features.TEXTS
    return features.FLOATS if dtype == dtypes.float32 else features.INTEGERS


def _room(kind: int, count: int) -> np.ndarray:
    """Memory for so many values of a kind; of texts for both ends."""
    from ...jit.library import features

    if kind == features.FLOATS:
        return np.empty(count, np.float32)
    return np.empty(count * 2 if kind == features.TEXTS else count, np.int64)


def _sliced(text: bytes, ends: np.ndarray) -> np.ndarray:
    places = ends.tolist()
    return text_array([text[a:b] for a, b in zip(places[::2], places[1::2])])
