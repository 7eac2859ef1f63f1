# SPDX-License-Identifier: Apache-2.0
"""Programs drawn at random give the same compiled, by reference kernels and in TensorFlow.

Other programs every day, as many as fit into a few seconds, or half an hour with --deep.  A failure
is made shorter and printed as the program that it is, with its seed: NUMBAFLOW_TEST_SEED=<seed>
begins there.
"""

from __future__ import annotations

import datetime
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from .. import drawing
from . import graph_feeds, graph_programs, graph_reducing, graph_sessions, graph_ways
from .graph_programs import GraphProgram
from .graph_running import Outcome, Peer, differences, here

PYTHON = os.environ.get("NUMBAFLOW_TF_PYTHON", "")
# Errors of one of the two that the other one need not have, with the reason.
FREE = {
    "Wrong input container": "TensorFlow has no second derivatives of tensor arrays",
    "Total paddings must be": "later versions of TensorFlow refuse more than 1.15",
    "dilation rates larger than 1": "TensorFlow's kernels for processors have no such gradients",
    "TensorArray has size zero": "compiled loops know the shape of elements that there are none of",
    "from NextIteration:0 incompatible": "TensorFlow 2 takes zeros of loops for float32",
    "array is not resizeable": "TensorFlow fixes the size where gradients are asked for",
    "is not available with Keras 3": "TensorFlow 2 has no layers for sessions",
    "Tried to read from index 0 but array size is": "the same of its derivatives",
}


def is_free(*outcomes: Outcome) -> bool:
    """Whether an error is one that the other side need not have."""
    return any(text in outcome.message for text in FREE for outcome in outcomes)


def compared(want: Outcome, got: Outcome, tolerance: float = 5e-4) -> str:
    """What is wrong with an outcome, given the right one; "" for nothing."""
    if want.error or got.error:
        is_same = want.error == got.error or is_free(want, got)
        return "" if is_same else f"{want.error} {want.message}\n!=\n{got.error} {got.message}"
    return next(differences(want.runs, got.runs, tolerance), "")


def compiled_differs(program: GraphProgram) -> str:
    """Whether a program gives something else where it is compiled."""
    return compared(here(program, "never"), here(program, "always"), program.tolerance)


def feeds_differ(program: GraphProgram) -> str:
    """Whether a run of any shapes gives something else compiled; errors end no program."""
    want, got = (here(program, mode, goes_on=True) for mode in ("never", "always"))
    if want.error or got.error:
        return compared(want, got)
    for number, pair in enumerate(zip(want.runs, got.runs, strict=True)):
        errors = ["" if not run or run[0].dtype != object else str(run[0]) for run in pair]
        if any(text in error for text in FREE for error in errors):
            continue
        kinds = {error.split(":")[0] for error in errors}
        if len(kinds) > 1:
            return f"run {number}: {errors}"
        # (Sines of what grows without bound, and their slopes, are not the same in another order.)
        if kinds == {""} and max(map(_largest, pair[0]), default=0.0) < 1e4:
            found = next(differences(*([run] for run in pair), program.tolerance), "")
            if found:
                return f"of run {number}, {found}"
    return ""


def _largest(x: np.ndarray) -> float:
    return float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) if x.dtype.kind == "f" else 0.0


def sessions_differ(source: str) -> str:
    """Whether a program of sessions gives something else compiled."""
    want, got = (graph_sessions.results(source, mode) for mode in ("never", "always"))
    if len(want) != len(got):
        return f"{len(want)} results != {len(got)}"
    return next(differences([want], [got]), "")


_Draw = Callable[[random.Random], GraphProgram]


def programs(
    seconds: float, draw: _Draw = graph_programs.draw
) -> Iterator[tuple[int, GraphProgram]]:
    """Today's programs with their seeds, as long as there is time."""
    today = datetime.datetime.now(datetime.UTC).date().toordinal()
    first = int(os.environ.get("NUMBAFLOW_TEST_SEED") or today * 1_000_000)
    ends = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > ends:
            return
        yield seed, draw(random.Random(seed))


def check(
    seconds: float, failure: Callable[[GraphProgram], str], draw: _Draw = graph_programs.draw
) -> int:
    """Fails with the shortest form of the first program that fails; how many there were."""
    number = 0
    for seed, program in programs(seconds, draw):
        number += 1
        if failure(program):
            program = graph_reducing.reduced(program, failure)
            pytest.fail(f"NUMBAFLOW_TEST_SEED={seed}\n{program}\n{failure(program)}")
    return number


@pytest.mark.cpu
def test_compiled_programs_are_right() -> None:
    assert check(drawing.seconds(8, deep=900), compiled_differs)


@pytest.mark.cpu
def test_parts_of_programs_are_right() -> None:
    """Some fetches at a time, tensors of the middle fed, and nodes added between runs."""

    def failure(program: GraphProgram) -> str:
        seed = len(program.runs[0])
        want, got = (graph_ways.in_parts(program, mode, seed) for mode in ("never", "always"))
        return compared(want, got, program.tolerance)

    assert check(drawing.seconds(4, deep=600), failure)


@pytest.mark.cpu
def test_partial_runs_are_right() -> None:
    """Placeholders are fed by and by, and what follows from some is there before the others."""

    def failure(program: GraphProgram) -> str:
        seed = len(program.runs[0])
        want, got = (graph_ways.bit_by_bit(program, mode, seed) for mode in ("never", "always"))
        return compared(want, got, program.tolerance)

    assert check(drawing.seconds(4, deep=300), failure)


@pytest.mark.cpu
def test_sessions_at_once_give_the_bits_of_one_alone() -> None:
    assert check(drawing.seconds(4, deep=300), graph_ways.differs_at_once)


@pytest.mark.cpu
def test_feeds_of_other_shapes_are_right() -> None:
    """A graph is run with sizes that change, and ranks, of which some come back."""
    assert check(drawing.seconds(4, deep=600), feeds_differ, graph_feeds.draw)


@pytest.mark.cpu
def test_sessions_over_time_are_right() -> None:
    """Two graphs whose sessions open, train, save, restore and close, in threads, too."""

    def draw(random: random.Random) -> GraphProgram:
        return GraphProgram(graph_sessions.draw(random), ({},), False)

    assert check(drawing.seconds(4, deep=600), lambda p: sessions_differ(p.source), draw)


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="NUMBAFLOW_TF_PYTHON names no Python with TensorFlow")
def test_graphs_give_the_same_in_tensorflow(tmp_path: Path) -> None:
    peer = Peer(PYTHON, "tensorflow.compat.v1", tmp_path)

    def failure(program: GraphProgram) -> str:
        mine = here(program, "always")
        # (What cannot be built is no graph.)
        return compared(peer.run(program, mine), mine, program.tolerance) if mine.inits else ""

    try:
        assert check(drawing.seconds(20, deep=1800), failure)
    finally:
        peer.close()


@pytest.mark.programs
def test_programs_have_all_that_graphs_have() -> None:
    """Gradients, loops, branches, variables, order: within 200 programs all were drawn."""
    sources = [graph_programs.draw(random.Random(seed)).source for seed in range(200)]
    for text in (
        *("tf.gradients", "while_loop", "tf.cond", "map_fn", "tf.Variable", "control_dependencies"),
        *("use_resource=True", "use_resource=False", "apply_gradients", "scatter_add", "curves"),
        *("conv2d", "top_k", "boolean_mask", "TensorArray", "embedding_lookup", "where"),
        *("SparseTensor", "as_string", "TensorListStack", "layers.dense", "dynamic_rnn", "unique"),
        *(
            "int8",
            "bfloat16",
            "tf.complex",
            "tensor_scatter_add",
            "matrix_determinant",
            "tf.scatter_",
        ),
        *("get_single_element", "from_row_splits", "tf.bitwise.right_shift", ":0]", "truncatemod"),
    ):
        assert any(text in source for source in sources), text


@pytest.mark.programs
def test_a_wrong_program_becomes_short() -> None:
    """As if sums of squares were wrong: what is left is such a sum, and what it needs."""

    def failure(program: GraphProgram) -> str:
        outcome = here(program, "never")
        return program.source if outcome.runs and "tf.square" in program.source else ""

    whole = next(
        program
        for program in (graph_programs.draw(random.Random(seed)) for seed in itertools.count())
        if len(program.source.split("\n")) > 20 and failure(program)
    )
    short = graph_reducing.reduced(whole, failure, seconds=20)
    assert len(short.source.split("\n")) < 20, short
    assert len(short.runs) == 1


@pytest.mark.pure
def test_differences_are_seen() -> None:
    one, other = [[np.float32([1, 2])]], [[np.float32([1, 2.1])]]
    assert list(differences(one, one)) == []
    assert "fetch 0" in next(differences(one, other))
    assert "int32" in next(differences(one, [[np.int32([1, 2])]]))
    assert "(1, 2)" in next(differences(one, [[np.float32([[1, 2]])]]))
