# SPDX-License-Identifier: Apache-2.0
"""A batch of examples and the weights of their features, as the SDCA solver walks over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...engine import errors


class Penalty(NamedTuple):
    """What weights cost: l1 times the sum of their sizes, l2 times half the sum of squares."""

    l1: np.float32
    l2: np.float32

    @property
    def shrinkage(self) -> float:
        """How much nearer to zero the proximal step moves weights; a float32 as TensorFlow's."""
        with np.errstate(all="ignore"):
            return float(self.l1 / self.l2)

    def shrunk(self, weights: np.ndarray) -> np.ndarray:
        """Weights after the proximal step, of their dtype."""
        shrinkage = weights.dtype.type(self.shrinkage)
        return np.sign(weights) * np.maximum(np.abs(weights) - shrinkage, weights.dtype.type(0))


class Features(NamedTuple):
    """The sparse features of a batch that are numbers of weights, in order of examples.

    starts: int64 [examples + 1], where an example's features begin.  places: int64 [features],
    which weight belongs to each.  values: float64 [features].
    """

    starts: np.ndarray
    places: np.ndarray
    values: np.ndarray


def _owners(example_indices: np.ndarray, count: int) -> np.ndarray:
    """The mask of features that belong to an example.

    TensorFlow walks along both: from where examples do not ascend, nothing is found any more.
    """
    if not len(example_indices):
        return np.zeros(0, bool)
    begins = np.concatenate([[True], example_indices[1:] != example_indices[:-1]])
    runs = example_indices[begins]
    found = np.logical_and.accumulate(np.diff(runs, prepend=-1) > 0) & (runs < count)
    return found[np.cumsum(begins) - 1]


def _weight_places(features: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Where each feature stands among those that there are weights for."""
    # Of equal ones the last counts.
    order = np.argsort(present, kind="stable")
    places = np.searchsorted(present[order], features, side="right") - 1
    known = places >= 0
    known[known] = present[order[places[known]]] == features[known]
    if not known.all():
        raise errors.invalid(
            f"Found sparse feature indices out of valid range: {features[~known][0]}"
        )
    return order[places]


def require_equal_sizes(
    name: str, first: Sequence[np.ndarray], second: Sequence[np.ndarray]
) -> None:
    """InvalidArgumentError where groups differ in size; TensorFlow 1.15 reads past the shorter."""
    for one, other in zip(first, second):
        if one.size != other.size:
            raise errors.invalid(
                f"Found mismatched sizes of a group and its {name}: {one.size} and {other.size}"
            )


def sparse_features(
    count: int,
    example_indices: Sequence[np.ndarray],
    feature_indices: Sequence[np.ndarray],
    feature_values: Sequence[np.ndarray],
    present: Sequence[np.ndarray],
) -> Features:
    """The features of all groups as one; the weights of groups lie one after another.

    Raises:
        InvalidArgumentError: a feature has no weight, or an example has one twice.
    """
    require_equal_sizes("feature_indices", example_indices, feature_indices)
    require_equal_sizes("feature_values", feature_indices, feature_values)
    owners, places, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    first = 0
    for i, (owner, feature, known) in enumerate(zip(example_indices, feature_indices, present)):
        mask = _owners(owner.reshape(-1), count)
        chosen = feature.reshape(-1)[mask]
        owners.append(owner.reshape(-1)[mask])
        places.append(first + _weight_places(chosen, known.reshape(-1)))
        given = feature_values[i].reshape(-1)[mask] if i < len(feature_values) else 1.0
        values.append(np.broadcast_to(np.asarray(given, np.float64), chosen.shape))
        first += known.size
    owner, place, value = (np.concatenate(parts) for parts in (owners, places, values))
    pairs = owner * max(first, 1) + place
    if len(np.unique(pairs)) != len(pairs):
        raise errors.invalid("Duplicate index in sparse vector.")
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(count + 1))
    return Features(starts, place[order], value[order])


def dense_features(
    count: int, features: Sequence[np.ndarray], weights: Sequence[np.ndarray]
) -> np.ndarray:
    """The dense features of all groups beside each other, float32 [examples, features].

    Raises:
        InvalidArgumentError: a group has another number of features than of weights.
    """
    for group, weight in zip(features, weights):
        if group.ndim != 2 or len(group) != count:
            raise errors.invalid(
                f"Expected a matrix of {count} rows for dense features, got {list(group.shape)}"
            )
        if group.shape[1] > weight.size:
            raise errors.invalid(
                f"More dense features than we have parameters for: {group.shape[1]}"
            )
        if group.shape[1] < weight.size:
            raise errors.invalid(
                f"Fewer dense features than parameters: {group.shape[1]} and {weight.size}"
            )
    return np.concatenate([np.zeros((count, 0), np.float32), *features], axis=1)


def flat(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Weights of several groups one after another, float32."""
    return np.concatenate([np.zeros(0, np.float32), *(part.reshape(-1) for part in parts)])


def parts_of(whole: np.ndarray, like: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The opposite of `flat`: groups of the sizes and shapes of others."""
    cuts = np.cumsum([part.size for part in like])[:-1]
    pieces = np.split(whole, cuts) if like else []
    return [piece.reshape(part.shape) for piece, part in zip(pieces, like)]
