# SPDX-License-Identifier: Apache-2.0
"""The reference kernels of math ops against a real TensorFlow, on the cases of math_worker.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..beside_tensorflow import computed, needed

WORKER = Path(__file__).with_name("math_worker.py")
TOLERANCE = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}
# Where TensorFlow's own answer depends on its version, its vector width or its graph optimizer.
EXCEPT = {
    "rsqrt/float32",
    "rsqrt/float64",
    "rsqrt/float16",
    "sinh/float16",
    "cosh/float16",
    "asinh/float16",
    "lgamma/float32",
    "lgamma/float64",
    "lgamma/float16",
    "digamma/float32",
    "digamma/float64",
    "digamma/float16",
    "truncatediv/error",
}
LOOSE = {"reduce_sum/float16/2/0", "reduce_sum/float16/2/1"}

pytestmark = [pytest.mark.tf, pytest.mark.slow]


@needed
@pytest.mark.filterwarnings("ignore")
def test_reference_kernels_agree_with_tensorflow(tmp_path: Path) -> None:
    ours, theirs = computed(WORKER, tmp_path)
    wrong = [
        f"{name}: {theirs[name]} expected, got {value}"
        for name, value in ours.items()
        if name not in EXCEPT and not _agree(name, theirs[name], value)
    ]
    assert not wrong, "\n".join(wrong)


def _agree(name: str, expected: np.ndarray, actual: np.ndarray) -> bool:
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.all(expected == actual))
    limit = 2e-2 if name in LOOSE else TOLERANCE.get(expected.dtype.name, 1e-6)
    return np.allclose(expected, actual, rtol=limit, atol=limit, equal_nan=True)
