# SPDX-License-Identifier: Apache-2.0
"""Library functions make TensorFlow 1.15's operations, by its names and in its order."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import numbaflow as tf

from .workers import answer, loaded

WORKER = Path(__file__).with_name("library_programs.py")
# What TensorFlow 1.15 makes: how many, and the checksum of their names and types in order.
RECORDED = {
    "training_helper": (386, 0xAE54725F),
    "scheduled_helper": (490, 0x28C0483A),
    "beams": (544, 0x252F57BF),
    "monotonic": (21, 0x1BE45CF4),
    "tags": (634, 0x4790D507),
    "phased_lstm": (263, 0x2940B0A3),
    "indy_lstm": (159, 0xBF6BA859),
    "time_freq_lstm": (208, 0x79783D92),
    "loss": (34, 0xEF96AE2C),
    "gdn": (34, 0x1DC875B5),
    "unit_norm": (20, 0xE83BC71C),
    "safe_embedding": (75, 0x4B730B5D),
    "bow_encoder": (60, 0xBC57C5D1),
    "spatial_softmax": (58, 0xC1DF0DB2),
    "normal_log_cdf": (82, 0x2EE8058E),
    "laplace_cdf": (18, 0x8DCB4B55),
    "student_variance": (37, 0x7F919535),
    "student_entropy": (51, 0xF0BB7E57),
    "uniform_cdf": (20, 0x54597C0F),
    "beta_mode": (17, 0x1C5AD73D),
    "dirichlet_entropy": (27, 0x406E727A),
    "ggt": (142, 0xDD2EF4B5),
    "padded_batch": (16, 0x76165925),
    "binary": (1034, 0xA00BB2BB),
    "multi_class": (221, 0x6C3971B9),
}


def _summary(operations: list[list[str]]) -> tuple[int, int]:
    lines = "\n".join(" ".join(operation) for operation in operations)
    return len(operations), zlib.crc32(lines.encode())


@pytest.mark.cpu
def test_operations_are_those_recorded_from_tensorflow() -> None:
    found = {name: _summary(operations) for name, operations in loaded(WORKER).cases(tf).items()}
    assert found == RECORDED


@pytest.mark.tf
def test_operations_are_those_of_an_installed_tensorflow(tmp_path: Path) -> None:
    file = tmp_path / "operations.json"
    answer("NUMBAFLOW_TF115_PYTHON", WORKER, "tensorflow", file)
    found = json.loads(json.dumps(loaded(WORKER).cases(tf)))
    for name, operations in json.loads(file.read_text()).items():
        assert found[name] == operations, name
