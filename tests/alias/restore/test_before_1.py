# SPDX-License-Identifier: Apache-2.0
"""`numbaflow run --api 0.12`: names and orders of arguments of before TensorFlow 1.0."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow.alias import finder
from numbaflow.alias.restore import before_1

pytestmark = pytest.mark.process

PROGRAM = """
import numpy as np
import tensorflow as tf
from tensorflow.models.rnn import rnn as old_rnn
from tensorflow.contrib.rnn.python.ops import core_rnn, core_rnn_cell_impl
from tensorflow.python.ops import rnn, rnn_cell

x = tf.placeholder(tf.types.float32, [None, 4])
left, right = tf.split(1, 2, x)
again, _ = tf.split(x, 2, 1)
joined = tf.concat(1, [left, right])
same = tf.concat([left, right], 1)
turned = tf.reverse(tf.constant([[1, 2, 3, 4]]), [False, True])
product = tf.mul(tf.sub(x, 1.0), tf.neg(tf.inv(tf.select(x > 0.0, x, -x))))
packed = tf.unpack(tf.pack([left, right]))[1]
loss = tf.nn.softmax_cross_entropy_with_logits(x, tf.ones([1, 4]) / 4.0)
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(x, [2])
sampled = tf.nn.nce_loss(tf.ones([9, 4]), tf.zeros([9]), x, tf.constant([[1]], tf.int64), 2, 9)
cell = rnn_cell.MultiRNNCell([rnn_cell.BasicLSTMCell(5, 1.0, 2)])
outputs, _ = rnn.rnn(cell, [left, right], dtype=tf.float32)
assert outputs[0].shape.as_list() == [None, 5] and old_rnn.rnn is tf.nn.static_rnn
assert tf.python.framework.ops.Graph is tf.Graph and tf.nn.rnn_cell.GRUCell(3, 2).state_size == 3
with tf.variable_scope("lin"):
    mapped = rnn_cell._linear([left, right], 3, True, 0.5)
    tf.get_variable_scope().reuse_variables()
    assert rnn_cell._linear([left, right], 3, True).shape.as_list() == [None, 3]
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(mapped))
assert [v.op.name for v in tf.trainable_variables("lin")] == [
    "lin/Linear/Matrix", "lin/Linear/Bias"
]
assert rnn_cell._zero_state_tensors is not None
assert core_rnn.static_rnn is tf.nn.static_rnn and core_rnn._rnn_step is not None
assert core_rnn_cell_impl.GRUCell is tf.contrib.rnn.GRUCell is rnn_cell.GRUCell
with tf.variable_scope("one"):
    assert core_rnn_cell_impl._linear([left, right], 3, True).shape.as_list() == [None, 3]
assert rnn_cell.DropoutWrapper(cell, 0.5)._cell is cell
twice = rnn_cell.MultiRNNCell([rnn_cell.GRUCell(4)] * 2)
for name, parts in (("near", [left]), ("far", [x, x]), ("near", [left])):
    with tf.variable_scope(name, reuse=name == "near" and bool(tf.trainable_variables("near"))):
        tf.nn.rnn(twice, parts, dtype=tf.float32)
sizes = {n: [v.shape[0].value for v in tf.trainable_variables(n)] for n in ("near", "far")}
assert sizes == {"near": [6, 8, 6, 4, 8, 8, 8, 4], "far": [8, 8, 8, 4, 8, 8, 8, 4]}, sizes
tf.flags.FLAGS.made_here = [1, 2]
assert tf.flags.FLAGS.made_here == [1, 2] and tf.app.flags.FLAGS.made_here[0] == 1
tf.app.flags.DEFINE_boolean("skip-it", True, "As argparse has it.")
assert tf.app.flags.FLAGS.skip_it is True and not hasattr(tf.app.flags.FLAGS, "skip_that")
tf.scalar_summary("a loss", tf.reduce_sum(loss))
summary = tf.merge_all_summaries()
assert summary.op.inputs[0].op.type == "ScalarSummary"
sess = tf.Session()
sess.run(tf.initialize_all_variables())
feed = {x: np.float32([[1, 2, 3, 4]])}
values = sess.run([left, again, joined, same, turned, packed], feed)
assert (values[0] == values[1]).all() and (values[2] == values[3]).all()
assert values[4].tolist() == [[4, 3, 2, 1]] and values[5].tolist() == [[3, 4]]
assert sess.run([loss, sparse, sampled, product], feed)[0].shape == (1,)
assert b"a loss" in sess.run(summary, feed)
first = sess.run(mapped, feed)
sess.run(step, feed)
assert (sess.run(mapped, feed) < first).all()
print("as of old")
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "old.py").write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-m", "numbaflow", "run", *options]
    return subprocess.run(
        [*command, "old.py"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )


def test_a_program_of_that_time_runs(tmp_path: Path) -> None:
    done = run(tmp_path, "--api", "0.12")
    assert done.stdout == "as of old\n", done.stderr


def test_without_it_the_names_are_not_there(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 1 and "tensorflow.models" in done.stderr
    done = run(tmp_path, "--api", "1.0")
    assert "--api takes one of 0.12, 0.11" in done.stderr


@pytest.mark.pure
def test_what_names_are_now_is_there() -> None:
    import numbaflow as tf

    for new in (*before_1.RENAMED.values(), *before_1.MODULES.values()):
        if "legacy_seq2seq" not in new:
            before_1._find(tf, new)
    for name in before_1.CHANGED:
        assert "summary" in name or before_1._find(tf, name)
    for old in before_1.RENAMED:
        assert finder._MISSING is not old
