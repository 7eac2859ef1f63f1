# SPDX-License-Identifier: Apache-2.0
"""Many seeds of one."""

from __future__ import annotations

import hashlib

from ....engine.api import export


@export("contrib.distributions.SeedStream")
class SeedStream:
    """Gives another seed whenever it is called, the same ones for the same seed and word.

    seed: a number, None for seeds that are None, or another SeedStream, whose seed it takes.
    salt: a word that sets those apart that start from the same seed.
    """

    def __init__(self, seed: int | SeedStream | None, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        """The next seed."""
        self._counter += 1
        if self._seed is None:
            return None
        # TensorFlow's, so that the same seed gives the same samples.
        text = str((self._seed, self._counter, self._salt)).encode()
        return int(hashlib.sha512(text).hexdigest(), 16)

    @property
    def original_seed(self) -> int | None:
        """The seed that it started from."""
        return self._seed

    @property
    def salt(self) -> str:
        """The word."""
        return self._salt
