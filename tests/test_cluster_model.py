# SPDX-License-Identifier: Apache-2.0
"""The simulation of docs/cluster_costs.md."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
model = importlib.import_module("benchmarks.cluster_model")

pytestmark = pytest.mark.pure
RATES = model.Rates(latency=2e-4, per_byte=1e-10, step=1e-3, mapped_byte=1e-9, processors=2)


def seconds(phases, workers, processors, is_sync=False):
    made = [model.Phase(is_ps, time) for is_ps, time in phases]
    return model.Simulation(made, workers, processors, is_sync).seconds_per_step(50)


def test_a_worker_alone_takes_the_sum_of_its_phases():
    found = seconds([(False, 1e-3), (True, 5e-4)], 1, 8)
    assert found == pytest.approx(1.5e-3, rel=0.02)


def test_processors_are_shared():
    assert seconds([(False, 1e-3)], 4, 4) == pytest.approx(1e-3 / 4, rel=0.03)
    assert seconds([(False, 1e-3)], 4, 2) == pytest.approx(1e-3 / 2, rel=0.03)


def test_a_parameter_server_does_one_thing_at_a_time():
    assert seconds([(False, 1e-4), (True, 1e-3)], 4, 8) == pytest.approx(1e-3, rel=0.05)


def test_synchronous_workers_wait_for_each_other():
    phases = [(False, 1e-3), (True, 5e-4)]
    # The second one's turn at the parameter server comes before anybody's next step.
    assert seconds(phases, 2, 8, True) == pytest.approx(1e-3, rel=0.05)
    assert seconds(phases, 2, 8) < 0.85e-3


def test_rows_are_predicted():
    scalar, tensor, asynchronous, synchronous = (model.predicted(n, RATES) for n in model.ROWS)
    assert scalar == 2e-4
    assert tensor == pytest.approx(0.1053, rel=1e-3)
    alone = 2 * RATES.exchange(model.PARAMETERS) + RATES.step
    assert alone / 2 <= asynchronous * 1.02 < synchronous < 2 * alone
    shown = model.table(RATES, dict.fromkeys(model.ROWS, 1.0))
    assert shown.count("\n| ") == 13
