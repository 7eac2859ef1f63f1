# SPDX-License-Identifier: Apache-2.0
"""The reference kernels of array ops against a real TensorFlow, on the cases of array_worker.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..beside_tensorflow import computed, needed

WORKER = Path(__file__).with_name("array_worker.py")

pytestmark = [pytest.mark.tf, pytest.mark.slow]


@needed
@pytest.mark.filterwarnings("ignore")
def test_reference_kernels_agree_with_tensorflow(tmp_path: Path) -> None:
    ours, theirs = computed(WORKER, tmp_path)
    assert sorted(ours) == sorted(theirs)
    wrong = [
        f"{name}: {theirs[name]} expected, got {value}"
        for name, value in ours.items()
        if theirs[name].dtype != value.dtype or not np.array_equal(theirs[name], value)
    ]
    assert not wrong, "\n".join(wrong)
