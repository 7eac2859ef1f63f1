# SPDX-License-Identifier: Apache-2.0
"""Errors say what to do below TensorFlow's message: every row of the table, by a program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.hints import HINTS

# Programs of which the last statement fails, and what the notes below the message must say; `x` is
# a placeholder of two floats, `v` a variable, `other` a tensor of another graph.
ADVICE = {
    "tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5]))": (
        *("tf.transpose", "Node 'MatMul' (op: 'MatMul')"),
        "b = 'zeros_1:0', float32, shape (4, 5), made at <program>:1",
    ),
    "tf.zeros([2, 3]) + tf.zeros([4])": ("make the sizes agree", "Node 'add' (op: 'AddV2')"),
    "tf.concat([tf.zeros([2, 3]), tf.zeros([3, 2])], 0)": ("make the sizes agree", "'ConcatV2'"),
    "tf.stack([tf.zeros([2]), tf.zeros([3])])": ("make the sizes agree", "values = ['zeros:0'"),
    "tf.assign(v, tf.zeros([3]))": ("make the sizes agree", "ref = 'v:0', float32_ref, shape (2,)"),
    "v.load([1.0], tf.Session())": ("None for sizes that vary",),
    "tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([4]))": ("make the sizes agree", "'BiasAdd'"),
    "tf.losses.mean_squared_error(tf.zeros([2]), tf.zeros([3]))": ("make the sizes agree",),
    "x.set_shape([3])": ("make the sizes agree",),
    "y = tf.placeholder('float'); tf.Session().run(x + y, {x: [1, 2], y: [1, 2, 3]})": (
        *("make the sizes agree", "y = 'Placeholder:0', float32, shape <unknown>, made at"),
    ),
    "tf.reshape(x, [3])": ("number of elements", "(op: 'Reshape')"),
    "tf.Session().run(tf.reshape(tf.placeholder_with_default([1.0], [None]), [3]))": (
        *("number of elements", "(op: 'Reshape')"),
    ),
    "tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 4, 8]), 1, 'SAME')": ("channels",),
    "tf.split(tf.zeros([4]), 3)": ("sizes of the parts",),
    "x[5]": ("indices count from 0", "(op: 'StridedSlice')"),
    "tf.matmul(tf.zeros([3]), tf.zeros([3, 2]))": ("tf.expand_dims", "shape (3,)"),
    "tf.reduce_sum(x, axis=5)": ("axis counts from", "(op: 'Sum')", "reduction_indices = int 5"),
    "tf.layers.dense(x, 3)": ("tf.expand_dims",),
    "tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), x, dtype='float')": ("tf.expand_dims",),
    "tf.squeeze(x, 0)": ("tf.squeeze removes",),
    "x + tf.constant(1)": ("tf.cast", "x = 'x:0', float32, shape (2,), made at"),
    "tf.convert_to_tensor(x, tf.int32)": ("tf.cast(tensor, dtype)",),
    "tf.cond(tf.constant(True), lambda: 1.0, lambda: 1)": ("tf.cast(tensor, dtype)",),
    "tf.constant('a', tf.float32)": ("ask for the type that it has",),
    "tf.one_hot([1.0], 3)": ("does not take this type",),
    "tf.nn.sparse_softmax_cross_entropy_with_logits("
    "labels=tf.zeros([2, 3], tf.int32), logits=tf.zeros([2, 3]))": ("one class number",),
    "tf.get_variable('w', [1]); tf.get_variable('w', [1])": ("tf.AUTO_REUSE", "reset_default"),
    "with tf.variable_scope('s', reuse=True): tf.get_variable('w', [1])": (
        *("create it with tf.get_variable first",),
    ),
    "tf.get_variable('w', [1]); tf.get_variable_scope().reuse_variables(); "
    "tf.get_variable('w', [2])": ("the shape and type that the variable has",),
    "tf.get_variable('w')": ("pass a shape",),
    "tf.Variable(tf.placeholder('float'))": ("validate_shape=False",),
    "tf.Session().run(x * 2.0)": ("feed_dict={placeholder: value}",),
    "tf.Session().run(x, {x: [1.0]})": ("None for sizes that vary",),
    "tf.Session().run(x, {x: tf.zeros([2])})": ("feed the tensor's value",),
    "tf.Session().run(x, {'y:0': 1})": ("keys are tensors",),
    "tf.Session().run(None)": ("missing return",),
    "tf.Session().run('nothing')": ("end in the output's number",),
    "tf.get_default_graph().get_tensor_by_name('x')": ("end in the output's number",),
    "tf.Session().run(v + 1.0)": ("tf.global_variables_initializer()",),
    "tf.Session().run(tf.Variable(1.0, use_resource=True).read_value())": (
        *("tf.global_variables_initializer()",),
    ),
    "tf.Session().run(tf.gradients(tf.constant(1.0), x))": ("a gradient that has no path",),
    "tf.Session().run(tf.gather([1, 2], [7]))": ("less than the size", "(op: 'GatherV2')"),
    "tf.Session().run(other)": ("within one graph",),
    "tf.add(x, other)": ("within one graph",),
    "tf.Session(graph=tf.Graph()).run(x)": ("tf.Session(graph=graph)",),
    "s = tf.Session(); s.close(); s.run(x)": ("open another session",),
    "x.eval()": ("with tf.Session()",),
    "tf.get_default_graph().finalize(); x + 1.0": ("before the loop",),
    "tf.get_default_graph().finalize(); tf.constant(1.0)": ("before the loop",),
    "if x: pass": ("tf.cond",),
    "for row in x: pass": ("tf.unstack",),
    "len(x)": ("tf.shape(tensor)[0]",),
    "np.asarray(x)": ("session.run(tensor)",),
    "tf.train.AdamOptimizer().minimize(tf.constant(1.0))": ("tf.gradients",),
    "tf.train.AdamOptimizer().minimize(x, var_list=[])": ("tf.gradients",),
    "tf.convert_to_tensor(None)": ("a gradient has no path",),
    "tf.constant([[1], [1, 2]])": ("pad the shorter ones",),
    "tf.zeros([], name='a b')": ("names are made of letters",),
    "tf.layers.dense(tf.placeholder('float', [None, None]), 3)": ("weights need the size",),
    "tf.while_loop(lambda i: True, lambda i: tf.concat([i, i], 0), [tf.zeros([1])])": (
        *("shape_invariants",),
    ),
    "tf.cond(tf.constant(True), lambda: 1.0, lambda: [1.0, 2.0])": ("same structure",),
    "tf.train.Saver().restore(tf.Session(), None)": ("tf.train.latest_checkpoint",),
    "with tf.Graph().as_default(): tf.train.Saver()": ("make the Saver after",),
    "y = tf.while_loop(lambda a: a[0] < 9.0, lambda a: a * x, [x]); "
    "tf.gradients(tf.gradients(y, x), x)": ("tf.enable_control_flow_v2()",),
    "s.run(v.initializer); "
    "tf.train.Saver({'missing': v}).restore(s, tf.train.Saver().save(s, path))": (
        *("tf.train.list_variables",),
    ),
}

pytestmark = pytest.mark.pure


def notes_of(program: str, folder: Path) -> str:
    """What a failing program's error says below its message."""
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with tf.Graph().as_default() as graph:
        names = {"tf": tf, "np": np, "other": other, "path": str(folder / "model")}
        names["x"] = tf.placeholder(tf.float32, [2], name="x")
        names["v"] = tf.Variable([1.0, 2.0], name="v")
        names["s"] = tf.Session(graph=graph)
        with pytest.raises(Exception) as caught:
            exec(compile(program, "<program>", "exec"), names)
    notes = "\n".join(getattr(caught.value, "__notes__", ()))
    assert "Hint: " not in str(caught.value), "TensorFlow's message is as it was"
    return notes


@pytest.mark.programs
@pytest.mark.parametrize("program", ADVICE)
@pytest.mark.parametrize("mode", ["short", "full"])
def test_errors_say_what_to_do(
    program: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBAFLOW_TRACEBACK", mode)
    notes = notes_of(program, tmp_path)
    assert notes.count("Hint: ") == 1
    for text in ADVICE[program]:
        assert text in notes


@pytest.mark.programs
def test_every_hint_is_given_by_a_program(tmp_path: Path) -> None:
    given = "\n".join(notes_of(program, tmp_path) for program in ADVICE)
    assert not [text for _, text in HINTS if f"Hint: {text}." not in given]


def test_hints_take_two_lines_at_most() -> None:
    assert all(len(f"Hint: {text}.") <= 200 for _, text in HINTS)


def test_errors_of_inner_calls_are_explained_once() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        tf.while_loop(lambda i: True, lambda i: tf.matmul(i, i), [tf.constant(0)])
    assert [note.split()[0] for note in caught.value.__notes__] == ["Node", "Hint:"]


def test_what_the_programs_own_functions_raise_is_theirs_to_explain() -> None:
    def body(i: tf.Tensor) -> tf.Tensor:
        raise ValueError("None values not supported.")

    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        tf.while_loop(lambda i: True, body, [tf.constant(0)])
    assert not hasattr(caught.value, "__notes__")


class Unwilling:
    """An object that says nothing about itself."""

    @property
    def shape(self) -> object:
        raise RuntimeError("no shape")

    dtype = op = name = shape


INPUTS = {
    "tf.SparseTensor([[0]], [1.0], [2])": "SparseTensor with values 'SparseTensor/values:0'",
    "tf.IndexedSlices(x, tf.constant([0, 1]))": "IndexedSlices with values 'x:0', float32",
    "v": "'v:0', float32_ref, shape (2,), made at",
    "tf.Variable([1.0, 2.0], use_resource=True, name='r')": "'r/Read/ReadVariableOp:0', float32",
    "np.zeros([2, 2])": "float64, shape (2, 2)",
    "'a' * 1000": "str 'aaaaaaaa",
    "[x, v]": "['x:0', float32, shape (2,), made at",
    "Unwilling()": "Unwilling",
}


@pytest.mark.parametrize("value", INPUTS)
def test_notes_describe_all_kinds_of_inputs(value: str) -> None:
    with tf.Graph().as_default():
        x, v = tf.placeholder(tf.float32, [2], name="x"), tf.Variable([1.0, 2.0], name="v")
        given = eval(value, {"tf": tf, "np": np, "x": x, "v": v, "Unwilling": Unwilling})
        with pytest.raises((TypeError, ValueError)) as caught:
            tf.raw_ops.MatMul(a=tf.zeros([2, 3]), b=given)
    note = caught.value.__notes__[0]
    assert f"b = {INPUTS[value]}" in note and len(note.splitlines()[-1]) < 200


def test_many_inputs_and_long_values_are_not_listed_whole() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError) as caught:
        tf.strings.join(["a" * 1000, tf.zeros([2])], name="joined")
    assert all(len(line) < 300 for note in caught.value.__notes__ for line in note.splitlines())
