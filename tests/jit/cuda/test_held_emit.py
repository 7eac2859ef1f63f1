# SPDX-License-Identifier: Apache-2.0
"""What passes over a row hand on in shared memory; `simulated_cases.py` runs it by blocks."""

from __future__ import annotations

import re

import pytest

from numbaflow.jit.cuda import block_emit, held_emit, ptx
from numbaflow.jit.cuda.cuda_kernel import kernel_text

from . import rows

pytestmark = pytest.mark.cpu


def near(source: str) -> list[str]:
    """The bodies of the loops over what is held."""
    return re.findall(r"in range\(lane\(\), near, lanes\(\)\):\n((?: {12}.*\n)+)", source)


def test_a_softmax_reads_its_row_once_and_computes_exponentials_once() -> None:
    source = block_emit.emit(rows.softmax("float32"))
    first, second, third = near(source)
    assert "load(b0" in first and "store_ordered(held0" in first
    assert "load_ordered(held0" in second and "exp(" in second and "load(b0" not in second
    # The exponentials take the elements' places.
    assert "store_ordered(held0" in second and source.count("shared_float32(4096)") == 1
    assert "load_ordered(held0" in third and "exp(" not in third and "load(b0" not in third
    assert "store_ordered" not in third


def test_what_later_passes_want_stays_where_it_is() -> None:
    first, second, third = near(block_emit.emit(rows.variance("float32")))
    assert "store_ordered(held0" in first
    # The row itself is wanted in the third pass again, so the differences have other places.
    assert "store_ordered(held1" in second and "store_ordered(held0" not in second
    assert "load_ordered(held0" in third and "load_ordered(held1" in third


def test_the_search_for_a_place_finds_what_the_search_for_the_largest_computed() -> None:
    first, second = near(block_emit.emit(rows.largest("float32")))[:2]
    assert "exp(" in first and "store_ordered(held0" in first
    assert "exp(" not in second and "load_ordered(held0" in second


@pytest.mark.parametrize(
    ("dtype", "places"), [("float64", 2048), ("float16", 8192), ("bfloat16", 8192)]
)
def test_all_places_together_are_of_one_size(dtype: str, places: int) -> None:
    text = kernel_text(rows.softmax(dtype))
    assert f"held0 = shared_{dtype}({places})" in text.source
    assert ".shared" in ptx.ptx(text)


def test_short_rows_are_not_held() -> None:
    short = held_emit.LONG - 1
    assert "held" not in block_emit.emit(rows.softmax("float32", short))
    assert "held0" in block_emit.emit(rows.softmax("float32", short + 1))
