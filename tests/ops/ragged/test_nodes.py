# SPDX-License-Identifier: Apache-2.0
"""Functions of ragged tensors build TensorFlow 1.15's nodes, under its names and in its order."""

from __future__ import annotations

import json

import pytest

import numbaflow as tf

from .node_programs import RECORDED, nodes, programs

pytestmark = pytest.mark.programs
THEIRS = json.loads(RECORDED.read_text())
OURS = programs(tf)


def test_all_programs_are_recorded() -> None:
    assert list(OURS) == list(THEIRS)


@pytest.mark.parametrize("name", THEIRS)
def test_nodes_are_those_of_tensorflow(name: str) -> None:
    assert nodes(tf, OURS[name]) == THEIRS[name]
