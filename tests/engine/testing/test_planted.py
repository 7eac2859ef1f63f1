# SPDX-License-Identifier: Apache-2.0
"""Planted faults are all found, and correct functions pass, however nasty; and what peers say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numbaflow import testing

from . import namespaces
from .planted import NASTY, PLANTED

HERE = Path(__file__).parent
PEERS = json.loads((HERE / "peers.json").read_text())

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def m():
    """The words of the rows."""
    return namespaces.numbaflow()[0]


@pytest.mark.parametrize("row", PLANTED, ids=lambda row: row.name)
def test_a_planted_fault_is_found(m, row):
    report = testing.gradient_report(namespaces.planted_call(m, row), *row.arrays)
    (fault,) = report.faults
    assert fault.order == row.order or fault.mode == "forward"
    assert len(str(fault).splitlines()[0]) < 250
    assert (fault.op is not None and fault.op.file.endswith("planted.py")) or fault.op.forward


@pytest.mark.parametrize("row", NASTY, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.deep)])
def test_a_correct_function_passes(m, row, seed):
    options = testing.Options(seed=seed)
    report = testing.gradient_report(lambda *xs: row.f(m, *xs), *row.arrays, options=options)
    assert report.passed, str(report)
    assert report.rows


def test_the_correct_gradients_of_complex_numbers_pass(m):
    """What the rows of a wrong conj differ from: the fault is what is planted, no other."""
    for row in PLANTED:
        if row.kind == "wrong conj":
            assert testing.check_gradients(lambda *xs, row=row: row.f(m, *xs), *row.arrays).passed


def test_there_are_thirty_of_each_and_peers_were_asked_about_all():
    assert (len(PLANTED), len(NASTY)) == (30, 30)
    for name, found in PEERS.items():
        assert list(found["planted"]) == [row.name for row in PLANTED], name
        assert list(found["nasty"]) == [row.name for row in NASTY], name
