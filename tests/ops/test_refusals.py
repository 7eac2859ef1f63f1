# SPDX-License-Identifier: Apache-2.0
"""Compiled plans refuse what reference kernels refuse, in the same words, and accept the rest.

Every op with a lowering gets inputs of wrong ranks and sizes and integers out of range, in graphs
that know nothing, something or nearly all of the shapes.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import errors, settings
from numbaflow.engine.graph import registry
from numbaflow.jit.runtime.runner import Runner, make_runner

from .bad_inputs import FORMS, bad_cases, build, good_cases
from .samples import Case, needs_more_than_arrays

LOWERED = [
    definition.name
    for definition in registry.definitions()
    if definition.lower is not None and not needs_more_than_arrays(definition)
]
# What happened: an error's class and message, or None and the results.
Outcome = tuple[Any, Any]


def outcome(run: Any) -> Outcome:
    """What a call gives or raises; a fault of the compiler's is no outcome."""
    try:
        return None, run()
    except errors.OpError as error:
        return type(error), error.message


def run_once(definition: Any, good: Case, bad: Case, form: str, mode: str) -> Outcome:
    """One run of a case in a graph and session of its own; ValueError if the graph refuses it."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        tf.set_random_seed(7)
        outputs, feeds = build(definition, good, bad, form)
        return outcome(lambda: session.run(outputs, feeds))


def trace_once(definition: Any, good: Case, bad: Case, form: str) -> None:
    """Traces what `run_once` would run, without compiling it; a refusal is left to the run."""
    with tf.Graph().as_default() as graph, settings.override(jit="always"), tf.Session() as session:
        tf.set_random_seed(7)
        outputs, feeds = build(definition, good, bad, form)
        runner = make_runner(session, graph, outputs, [], list(feeds))
        if isinstance(runner, Runner):
            outcome(lambda: runner._first.trace(list(feeds.values())))


def compare(definition: Any, good: Case, what: str, bad: Case, form: str) -> bool:
    """Holds the compiled way against the reference; whether the graph allowed it at all."""
    try:
        expected = run_once(definition, good, bad, form, "never")
    except (ValueError, TypeError):
        return False
    if expected[0] is None:
        # Results are compared by tests/ops/test_registry.py.
        trace_once(definition, good, bad, form)
        return True
    actual = run_once(definition, good, bad, form, "always")
    assert actual == expected, f"{what}, {form}: {[a.shape for a in bad.arrays()]} {bad.attrs}"
    return True


@pytest.mark.cpu
@pytest.mark.parametrize("name", LOWERED)
def test_compiled_refuses_what_the_reference_refuses(name):
    definition = registry.lookup(name)
    for good in good_cases(definition, 1):
        for what, bad in bad_cases(good):
            compare(definition, good, what, bad, FORMS[zlib.crc32(what.encode()) % len(FORMS)])


@pytest.mark.cpu
@pytest.mark.deep
@pytest.mark.parametrize("name", LOWERED)
def test_compiled_refuses_in_every_form(name):
    definition = registry.lookup(name)
    for good in good_cases(definition, 3):
        for what, bad in bad_cases(good):
            for form in FORMS:
                compare(definition, good, what, bad, form)


def reused(definition: Any, good: Case, bad: Case, mode: str) -> Outcome:
    """The outcome of a bad case in a session whose plan served a good one."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        tf.set_random_seed(7)
        outputs, feeds = build(definition, good, bad, "unknown")
        session.run(outputs, dict(zip(feeds, good.arrays())))
        return outcome(lambda: session.run(outputs, feeds))


# A few here, the others when there is time.
QUICK = ("AddN", "BatchMatMulV2", "ConcatV2", "GatherV2", "MatMul", "Pack", "Select", "Split")


@pytest.mark.cpu
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.deep) for n in LOWERED]
)
def test_a_plan_that_served_good_inputs_refuses_bad_ones(name):
    definition = registry.lookup(name)
    for good in good_cases(definition, 1):
        for what, bad in bad_cases(good):
            try:
                expected = reused(definition, good, bad, "never")
            except (ValueError, TypeError):
                continue
            if expected[0] is not None:
                assert reused(definition, good, bad, "always") == expected, what


# Variables


def program_outcome(mode: str, program: Any) -> Any:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        return program(session)


def same_in_both(program: Any) -> Any:
    """The outcome of a program, which is the same compiled and by reference."""
    expected = program_outcome("never", program)
    actual = program_outcome("always", program)
    np.testing.assert_equal(actual, expected)
    return expected


def training(session: Any) -> Any:
    ids, labels = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int64, [None])
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3) / 9, name="table")
    weights = tf.Variable(np.eye(3, dtype=np.float32), name="weights")
    logits = tf.matmul(tf.nn.embedding_lookup(table, ids), weights)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_mean(loss))
    session.run(tf.global_variables_initializer())
    found = []
    for feed in ({ids: [0, 9], labels: [0, 1]}, {ids: [0, 1], labels: [0, 7]}):
        found.append(outcome(lambda feed=feed: session.run(step, feed)))
        found.append(session.run(table).tolist())
        found.append(session.run(weights).tolist())
    return found


@pytest.mark.cpu
def test_a_step_that_fails_changes_no_variable_and_names_the_index():
    found = same_in_both(training)
    assert found[0][1].startswith("indices[1] = 9 is not in [0, 4)\n")
    assert found[3][1].startswith("Received a label value of 7 which is outside the valid range")
    assert found[2] == found[5] == np.eye(3).tolist()


@pytest.mark.cpu
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("indices", [[1, 2, 8, 3], [-1, 2], [4, 0], [0, 1]])
def test_scatters_stop_at_the_index_that_is_outside(resource, indices):
    def program(session):
        at = tf.placeholder(tf.int32, [None])
        v = tf.Variable(np.zeros((4, 2), np.float32), use_resource=resource)
        rows = tf.ones([tf.size(at), 2])
        update = v.scatter_add(tf.IndexedSlices(rows, at)) if resource else None
        update = tf.scatter_add(v, at, rows) if update is None else update
        session.run(v.initializer)
        found = outcome(lambda: session.run(update, {at: indices}))
        return found[0], found[1] if found[0] else None, session.run(v).tolist()

    kind, message, _ = same_in_both(program)
    bad = [i for i, index in enumerate(indices) if not 0 <= index < 4]
    assert (kind is not None) == bool(bad)
    if bad:
        assert f"indices[{bad[0]}] = {indices[bad[0]]} is not in [0, 4)" in message


@pytest.mark.cpu
def test_what_follows_a_failed_check_is_not_done():
    def program(session):
        divisor = tf.placeholder(tf.int32, [None])
        v = tf.Variable(np.zeros(3, np.int32), use_resource=False)
        quotient = tf.constant([6, 6, 6]) // divisor
        with tf.control_dependencies([quotient]):
            update = tf.assign_add(v, [1, 1, 1])
        session.run(v.initializer)
        found = outcome(lambda: session.run(update, {divisor: [1, 0, 2]}))
        return found, session.run(v).tolist(), session.run(update, {divisor: [1, 1, 1]}).tolist()

    (kind, _), after, later = same_in_both(program)
    assert kind is errors.InvalidArgumentError
    assert after == [0, 0, 0] and later == [1, 1, 1]


@pytest.mark.cpu
@pytest.mark.parametrize("rows", [2, 3])
def test_shapes_that_do_not_fit_are_no_error_in_a_branch_that_is_not_taken(rows):
    def program(session):
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        fits = tf.equal(tf.shape(x)[0], tf.shape(y)[0])
        either = tf.cond(fits, lambda: tf.add_n([x, y]), lambda: x)
        feed = {x: np.ones((2, 3), np.float32), y: np.ones((rows, 3), np.float32)}
        return session.run(either, feed).tolist()

    assert same_in_both(program) == [[1.0 + (rows == 2)] * 3] * 2


VARIABLE_OPS = [
    definition.name
    for definition in registry.definitions()
    if definition.lower is not None
    and len(definition.inputs) > 1
    and any(arg.name in ("var", "ref", "resource") for arg in definition.inputs)
]
LIKE_VARIABLE = ("grad", "value", "delta", "updates", "gradient")


def variable_op(name: str, wrong: int, shape: Any) -> Any:
    """A program that runs an op on variables, one of its other inputs being of a given shape."""
    definition = registry.lookup(name)

    def program(session):
        inputs, variables, feeds = [], [], {}
        for place, arg in enumerate(definition.inputs):
            is_resource = arg.dtype == tf.resource
            if arg.is_ref or is_resource:
                initial = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
                variables.append(tf.Variable(initial, use_resource=is_resource))
                inputs.append(variables[-1].handle if is_resource else variables[-1]._ref())
                continue
            like = np.ones((3, 2)) if arg.name in LIKE_VARIABLE else np.array(0.5)
            kind = np.float32
            if arg.name == "indices":
                like, kind = np.array([0, 2, 1]), np.int32
            elif arg.name == "global_step":
                like, kind = np.array(1), np.int64
            tensor = tf.placeholder(kind)
            feeds[tensor] = np.resize(like, shape if place == wrong else like.shape).astype(kind)
            inputs.append(tensor)
        made = getattr(tf.raw_ops, name, None) or registry_function(name)
        made = made(*inputs)
        session.run([v.initializer for v in variables])
        operation = made if isinstance(made, tf.Operation) else made.op
        found = outcome(lambda: session.run(operation, feeds))
        # The two differ in the last bits of powers.
        return found, [session.run(v).round(4).tolist() for v in variables]

    return program


def registry_function(name: str) -> Any:
    from numbaflow.engine.graph.build import OpFunction

    return OpFunction(name)


@pytest.mark.cpu
@pytest.mark.deep
@pytest.mark.parametrize("name", VARIABLE_OPS)
def test_updates_of_variables_refuse_the_same_shapes(name):
    definition = registry.lookup(name)
    for place, arg in enumerate(definition.inputs):
        if not arg.is_ref and arg.dtype != tf.resource:
            for shape in ((), (1,), (2, 2), (3, 3), (1, 3, 2), (0, 2)):
                same_in_both(variable_op(name, place, shape))
