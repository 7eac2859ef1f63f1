# SPDX-License-Identifier: Apache-2.0
"""Loop nests of clusters at the edges: what is reduced may have no axis left."""

from __future__ import annotations

import pytest

from numbaflow.jit.passes.fuse import Cluster
from numbaflow.jit.program.tensor_ir import Feed, Reduce, Value
from numbaflow.jit.schedule.loop_nest import nests

pytestmark = pytest.mark.pure


def test_an_axis_that_turns_out_to_be_of_size_one_is_a_loop_of_one_turn() -> None:
    given = Value("float32", (1,), Feed(0))
    node = Reduce((given,), "sum", frozenset({0}))
    total = Value("float32", (), node)
    node.outputs.append(total)
    cluster = Cluster((), [node], {node: (None,)}, frozenset())
    (nest,) = nests(cluster, {total})
    assert nest.kernel.form == "row" and [axis.kind for axis in nest.kernel.axes] == [
        "map",
        "reduce",
    ]
    assert nest.sizes == [1, 1] and [reduction.fn for reduction in nest.kernel.reductions] == [
        "sum"
    ]
