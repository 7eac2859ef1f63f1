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
simulation = importlib.import_module("benchmarks.cluster_simulation")

pytestmark = pytest.mark.pure
RATES = simulation.Rates(
    latency=2e-4,
    per_byte=1e-10,
    step=1e-3,
    mapped_byte=1e-9,
    processors=2,
    apart_latency=8e-4,
    apart_byte=1e-9,
)


def seconds(phases, workers, processors, is_sync=False):
    made = [simulation.Phase(is_ps, time) for is_ps, time in phases]
    return simulation.Simulation(made, workers, processors, is_sync).seconds_per_step(50)


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
    alone = 2 * RATES.exchange(simulation.PARAMETERS) + RATES.step
    assert alone / 2 <= asynchronous * 1.02 < synchronous < 2 * alone
    shown = model.table(RATES, dict.fromkeys(model.ROWS, 1.0), {(2, True): 100.0})
    assert shown.count("\n| ") == 31


def test_large_clusters_are_predicted():
    apart = RATES.apart(1e9)
    servers = {n: simulation.steps_per_second(apart, 1000, False, n, 5) for n in (1, 8)}
    # A parameter server is asked twice a step, and does one thing at a time.
    assert servers[1] == pytest.approx(1 / apart.exchange(simulation.PARAMETERS), rel=0.05)
    assert servers[8] > servers[1]
    # The update is one for all of a round, the tokens are each one's.
    synchronous = simulation.steps_per_second(apart, 1000, True, 1, 5)
    token = apart.latency / 2
    wanted = 1 / (apart.exchange(simulation.PARAMETERS) + token)
    assert synchronous == pytest.approx(wanted, rel=0.05)
    few = simulation.steps_per_second(apart, 2, False)
    alone = 2 * apart.exchange(simulation.PARAMETERS) + apart.step
    assert few == pytest.approx(2 / alone, rel=0.05)


def test_synchronous_workers_wait_for_the_slowest():
    even, uneven = (
        simulation.Simulation([simulation.Phase(False, 1e-3, True)], 100, 1e9, True, spread)
        for spread in (0.0, 1e-3)
    )
    assert even.seconds_per_step(20) == pytest.approx(1e-5, rel=1e-6)
    # The mean of the largest of a hundred draws is the sum of 1 / i.
    slowest = 1 + sum(1 / i for i in range(1, 101))
    assert uneven.seconds_per_step(200) == pytest.approx(1e-5 * slowest, rel=0.1)
