# SPDX-License-Identifier: Apache-2.0
"""The numbers of steps that members of collectives have in common."""

from __future__ import annotations

import pytest

from numbaflow.train.cluster.step_sequences import StepSequences, graph_key

pytestmark = pytest.mark.pure


def test_keys_are_of_the_set_of_instances():
    assert graph_key([]) == 0
    assert graph_key([5, 3, 3]) == graph_key([3, 5]) != graph_key([3])
    # As TensorFlow 1.15's masters ask their leader for.
    assert graph_key([101]) == 2714584368877053981
    assert graph_key([101, 104]) == -4331444885509193653


def test_the_leader_counts_on_from_what_went_well():
    leader, other = StepSequences(), StepSequences()
    step = leader.begin(7)
    assert leader.begin(7) == step and other.find(7) is None
    assert other.note(7, step) == other.find(7) == step
    for one in (leader, other):
        one.retire(7, step)
        # Twice is once.
        one.retire(7, step)
        assert one.find(7) == (step + 1) % (1 << 57)
    other.forget(7)
    assert other.find(7) is None and leader.begin(7) == (step + 1) % (1 << 57)
