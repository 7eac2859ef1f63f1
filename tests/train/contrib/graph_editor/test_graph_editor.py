# SPDX-License-Identifier: Apache-2.0
"""Parts of graphs selected, copied and connected anew, as programs do that save memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import numbaflow as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.pure
def test_walks_go_step_by_step_and_stop(graph):
    a = tf.constant([1.0], name="a")
    b = tf.square(a, name="b")
    c = tf.negative(b, name="c")
    with tf.control_dependencies([c]):
        d = tf.constant(2.0, name="d")
    names = [op.name for op in ge.get_forward_walk_ops(a.op)]
    assert names == ["a", "b", "c"]
    assert ge.get_forward_walk_ops(a.op, control_outputs=ge.ControlOutputs(graph))[-1] is d.op
    assert ge.get_backward_walk_ops(c, stop_at_ts=[b]) == [c.op]
    assert ge.get_backward_walk_ops(c, inclusive=False, within_ops=[b.op, c.op]) == [b.op]
    assert ge.get_walks_intersection_ops(b.op, b.op) == [b.op]
    assert ge.select_ops("^(a|c)$", graph=graph) == [a.op, c.op]
    assert ge.filter_ts_from_regex([b.op], "a|b") == [a, b]


@pytest.mark.programs
def test_copies_take_other_inputs_and_are_renamed(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("inner"):
        y = tf.square(x, name="y") + 1.0
    tf.add_to_collection("mine", y)
    other = tf.constant([3.0, 4.0])
    view = ge.sgv_scope("inner", graph)
    copied, info = ge.copy_with_input_replacements(view, {x: other}, dst_scope="copy")
    y_ = info.transformed(y)
    assert y_.name == "copy/inner/add:0" and info.original(y_) is y
    assert [t.name for t in copied.outputs] == ["copy/inner/add:0"]
    assert tf.get_collection("copy/mine") == [y_]
    elsewhere = tf.Graph()
    _, info = ge.copy(view, dst_graph=elsewhere)
    assert "inner/y" in [op.name for op in elsewhere.get_operations()]
    assert elsewhere.get_operations()[0].type == "Placeholder"
    with tf.Session() as session:
        assert session.run(y_).tolist() == [10.0, 17.0]


@pytest.mark.cpu
def test_loops_are_replaced_whole(graph):
    x, other = tf.constant(2.0), tf.constant(3.0)
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, 1.0])[1]
    (again,) = ge.graph_replace([y], {x: other})
    with tf.Session() as session:
        assert session.run([y, again]) == [8.0, 27.0]


@pytest.mark.programs
def test_parts_are_detached_connected_and_passed_by(graph):
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    z = tf.negative(y, name="z")
    _, placeholders = ge.detach_inputs(z.op)
    assert z.op.inputs[0] is placeholders[0] and placeholders[0].op.name == "geph__y_0"
    ge.connect(y.op, z.op)
    with tf.Session() as session:
        assert session.run(z) == -4.0
        ge.bypass(y.op)
        assert session.run(z) == -2.0
    with pytest.raises(ValueError, match="not compatible"):
        ge.swap_ts([x], [tf.constant(1)])
    ge.add_control_inputs(z.op, x.op)
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(z.op, x.op)


def _checkpointed_gradients(loss, variables, checkpoints):
    """Gradients for which what lies before each checkpoint is computed again."""
    backward = ge.get_backward_walk_ops(loss.op, inclusive=True)
    forward = ge.get_forward_walk_ops([v.op for v in variables], within_ops=backward)
    forward = [op for op in forward if op.inputs and not op.name.endswith(("/read", "/Assign"))]
    kept = {}
    for tensor in checkpoints:
        with tf.control_dependencies(None):
            kept[tensor] = tf.stop_gradient(tensor)

    def copied(target, others):
        walk = ge.get_backward_walk_ops(target.op, stop_at_ts=others, within_ops=forward)
        _, info = ge.copy_with_input_replacements(ge.sgv(walk), {})
        copies = list(info._transformed_ops.values())
        ge.reroute_ts([kept[o] for o in others], others, can_modify=copies)
        return info._transformed_ops[target.op].outputs[0], copies

    target, _ = copied(loss, checkpoints)
    found = tf.gradients(target, [*kept.values(), *variables])
    by_kept, total = dict(zip(kept, found)), found[len(kept) :]
    for tensor in reversed(checkpoints):
        others = [o for o in checkpoints if o is not tensor]
        target, copies = copied(tensor, others)
        for op in copies:
            ge.add_control_inputs(op, [by_kept[tensor].op])
        parts = tf.gradients(
            target, [*(kept[o] for o in others), *variables], grad_ys=by_kept[tensor]
        )
        for i, part in enumerate(parts):
            if part is None:
                continue
            if i < len(others):
                old = by_kept[others[i]]
                by_kept[others[i]] = part if old is None else old + part
            else:
                old = total[i - len(others)]
                total[i - len(others)] = part if old is None else old + part
    return total


@pytest.mark.cpu
def test_gradients_of_recomputed_parts_are_the_same(graph):
    tf.set_random_seed(1)
    x: tf.Tensor = tf.constant(np.random.RandomState(0).randn(4, 8).astype(np.float32))
    variables, layers = [], []
    for i in range(4):
        w = tf.get_variable(f"w{i}", [8, 8], initializer=tf.random_normal_initializer(stddev=0.3))
        variables.append(w)
        x = tf.nn.relu(tf.matmul(x, w))
        layers.append(x)
    loss = tf.reduce_mean(tf.square(x))
    plain = tf.gradients(loss, variables)
    saving = _checkpointed_gradients(loss, variables, [layers[0], layers[2]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for ours, theirs in zip(*session.run([plain, saving])):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.process
def test_programs_find_it_by_its_modules():
    code = (
        "from numbaflow.alias.finder import install; install()\n"
        "import tensorflow.contrib.graph_editor as ge\n"
        "from tensorflow.contrib.graph_editor.util import make_list_of_t\n"
        "from tensorflow.contrib.graph_editor import select\n"
        "from tensorflow.contrib.image.python.ops import image_ops, dense_image_warp\n"
        "assert select.filter_ts is ge.filter_ts and callable(make_list_of_t)\n"
        "assert dense_image_warp._interpolate_bilinear and image_ops.rotate\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
