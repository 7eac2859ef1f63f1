# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators give what TensorFlow 1.15.5 gives, in variables of the same names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import numbaflow as tf

from .canned_program import results

pytestmark = pytest.mark.cpu

RECORDED = json.loads((Path(__file__).parent / "canned_1_15.json").read_text())


def test_variables_and_metrics_are_those_of_tensorflow() -> None:
    found = results(tf)
    assert list(found) and set(found) == set(RECORDED)
    for name, parts in RECORDED.items():
        for part, values in parts.items():
            assert found[name][part] == pytest.approx(values, rel=1e-4, abs=1e-5), (name, part)
