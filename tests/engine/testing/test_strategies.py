# SPDX-License-Identifier: Apache-2.0
"""`numbaflow.testing.strategies`: what is drawn is what was asked for, and it shrinks to little."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow import testing
from numbaflow.engine import settings as numbaflow_settings
from numbaflow.engine.graph import registry
from numbaflow.testing import strategies

from ...drawing import examples

pytestmark = pytest.mark.programs

few = examples(20)
FIND = settings(derandomize=True, database=None, max_examples=100, deadline=None)


@few
@given(st.data())
def test_shapes_axes_slices(data):
    first, second = data.draw(strategies.broadcastable_shapes(2))
    np.broadcast_shapes(first, second)
    shape = data.draw(strategies.shapes(min_side=0))
    x = np.zeros(shape)
    axes = data.draw(strategies.axes(x.ndim))
    assert np.sum(x, axes).ndim == x.ndim - len(axes)
    assert np.transpose(x, data.draw(strategies.permutations(x.ndim))).ndim == x.ndim
    assert isinstance(x[data.draw(strategies.slices(shape))], (np.ndarray, np.floating))
    partial = data.draw(strategies.partial_shapes(shape))
    assert partial.is_compatible_with(tf.TensorShape(shape))


@examples(8)
@given(strategies.arrays(dtype=strategies.dtypes(), special=True))
def test_arrays_are_of_the_type(array):
    kinds = {dtype.as_numpy_dtype for dtype in map(tf.as_dtype, ALL)}
    assert array.dtype.type in kinds


ALL = (
    *("float64", "float32", "float16", "bfloat16", "complex128", "complex64", "bool"),
    *("int32", "int64", "uint8", "int8", "int16", "uint16"),
)


@pytest.mark.parametrize("wanted", [-np.inf, 2.0**-1074])
def test_special_values_are_drawn_and_shrink_to_one_element(wanted):
    found = find(strategies.arrays(special=True), lambda x: np.any(x == wanted), settings=FIND)
    assert found.size == 1


def test_ties_are_drawn():
    found = find(strategies.arrays(shape=(4,)), lambda x: len({*x}) < 4 and np.all(x != 0))
    assert found.shape == (4,)


@few
@given(st.data())
def test_feeds_and_tensors_of_a_graph(data):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        i = tf.placeholder(tf.int32, [])
        y = tf.tanh(x) * tf.cast(i, tf.float32)
        feeds = data.draw(strategies.feeds([x, i]))
        with numbaflow_settings.override(jit="never"):
            assert session.run(y, feeds).shape == (2, 2)
        assert data.draw(strategies.tensors(graph, "float")).dtype == tf.float32


@examples(10, deep=2000)
@given(strategies.programs(control_flow=True))
def test_programs_of_the_registry_have_right_gradients(program):
    """What is drawn from the ops of the table passes: in two orders, in branches and loops."""
    report = testing.gradient_report(program, *program.arrays)
    assert report.passed or known(report), str(report)


def known(report: testing.Report) -> bool:
    """Derivatives in which numbaflow follows TensorFlow, which has them wrong at some points."""
    types = {fault.op.forward_type for fault in report.faults if fault.op is not None}
    return bool(types) and types <= LIKE_TENSORFLOW


# Of 0 times what is infinite, of powers at 0, and where a denominator is 0.
LIKE_TENSORFLOW = {"Xlogy", "Xdivy", "MulNoNan", "DivNoNan", "Pow"}


@pytest.mark.parametrize(
    "around", ["", *(pytest.param(kind, marks=pytest.mark.deep) for kind in ("cond", "while"))]
)
def test_a_wrong_op_shrinks_to_itself(monkeypatch, around):
    definition = registry.lookup("Tanh")
    wrong = dataclasses.replace(definition, gradient=lambda op, g: g * (1 - op.outputs[0]))
    monkeypatch.setitem(registry._TABLE, "Tanh", wrong)

    def fails(program):
        options = testing.Options(order=1, modes=("reverse",), find_op=False)
        return not testing.gradient_report(program, *program.arrays, options=options).passed

    drawn = strategies.programs(["Tanh", "Mul", "Sin"], max_steps=3).map(
        lambda program: dataclasses.replace(program, around=around)
    )
    found = find(drawn, fails, settings=settings(FIND, phases=[Phase.generate, Phase.shrink]))
    assert [step.op for step in found.steps] == ["Tanh"]
    assert [x.size for x in found.arrays] == [1]
    # What is printed is a program that fails in the same way.
    with pytest.raises(testing.GradientError) as raised:
        exec(repr(found), {"np": np, "tf": tf, "testing": testing})
    (fault,) = raised.value.report.faults
    assert fault.op is not None and fault.op.type == "Tanh"


def test_values_that_go_out_of_bounds_are_left_out():
    steps = (strategies.Step("Log", (0,)), strategies.Step("Sin", (1,)))
    program = strategies.Program((np.array([-1.0]),), steps).well_conditioned()
    assert [step.op for step in program.steps] == ["Sin"]
    program = strategies.Program((np.array([-1.0]),), steps[:1]).well_conditioned()
    assert np.all(np.isfinite(program.values()[-1]))


@examples(3)
@given(strategies.training_steps())
def test_training_steps_change_their_variable(training):
    with tf.Graph().as_default(), tf.Session() as session:
        variable, loss, train = training.build()
        with numbaflow_settings.override(jit="never"):
            session.run(tf.global_variables_initializer())
            before = session.run(loss)
            session.run(train)
            assert np.isfinite(before) and np.all(np.isfinite(session.run(variable)))
