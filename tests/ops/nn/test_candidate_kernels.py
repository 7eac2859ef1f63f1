# SPDX-License-Identifier: Apache-2.0
"""Many draws at once are those of one draw after another, whichever numbers are not taken."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.ops.nn.candidate_kernels import Bits, Weighted
from numbaflow.ops.random import philox

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("size", [3, 8, 700, 3_000_000_000])
def test_weighted_classes(size: int) -> None:
    # Of the largest size three numbers in ten are not taken.
    sampler = Weighted(np.arange(1, min(size, 700) + 1).astype(np.float32))
    if size > 700:
        sampler.size = size
        sampler._chances = _Constant(np.float32(2))
        sampler._aliases = _Constant(np.int64(0))
    for seed in range(5):
        bits, expected = Bits(philox.Philox.seeded(seed, 7)), []
        for _ in range(200):
            chance, column = bits.uniform32(), int(bits.below32(size, 1)[0])
            stays = chance < sampler._chances[np.array([column])][0]
            expected.append(column if stays else int(sampler._aliases[np.array([column])][0]))
        assert sampler.sample(Bits(philox.Philox.seeded(seed, 7)), 200) == expected


class _Constant(np.ndarray):
    """An endless array of one number."""

    def __new__(cls, value: np.generic) -> _Constant:
        return np.full(1, value).view(cls)

    def __getitem__(self, places: object) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.view(np.ndarray)), np.shape(places))
