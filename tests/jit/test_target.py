# SPDX-License-Identifier: Apache-2.0
"""What the names of a processor and of its features say of vectors."""

from __future__ import annotations

import pytest

from numbaflow.engine import settings
from numbaflow.jit import target

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("znver4", 512),
        ("znver4:+avx2,+avx512f", 512),
        # As a virtual machine may have it.
        ("znver4:+avx2,-avx512f", 256),
        ("x86-64-v3", 256),
        ("x86-64-v3:-avx,-avx2", 128),
        ("generic", 128),
    ],
)
def test_vectors_are_as_wide_as_the_features_that_are_left(text: str, bits: int) -> None:
    with settings.override(target=text):
        found = target.current()
    assert found.vector_bits == bits
    assert ("+avx512f" in found.enabled) == (bits == 512)


def test_this_machine_is_what_it_says_of_itself() -> None:
    native = target.native()
    with settings.override(target=native.text):
        assert target.current() == native
