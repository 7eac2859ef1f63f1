# SPDX-License-Identifier: Apache-2.0
"""Profiles of a small network, as TensorFlow 1.15 gives them."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure

builder = tf.profiler.ProfileOptionBuilder
analyzer = tf.contrib.tfprof.model_analyzer


@pytest.fixture(autouse=True)
def network():
    with tf.Graph().as_default():
        w, w2 = tf.get_variable("DW", [3, 3, 3, 6]), tf.get_variable("DW2", [2, 2, 6, 12])
        scale = tf.get_variable("ScalarW", [])
        x = tf.zeros([2, 6, 6, 3])
        y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
        tf.nn.conv2d(y * scale, w2, [1, 2, 2, 1], "SAME")
        yield


PARAMETERS = """node name | # parameters
_TFProfRoot (--/451 params)
  DW (3x3x3x6, 162/162 params)
  DW2 (2x2x6x12, 288/288 params)
  ScalarW (1, 1/1 params)
"""
FLOAT_OPS = """node name | # float_ops
_TFProfRoot (--/11.45k flops)
  Conv2D (5.83k/5.83k flops)
  Conv2D_1 (4.61k/4.61k flops)
  DW2/Initializer/random_uniform (288/577 flops)
    DW2/Initializer/random_uniform/mul (288/288 flops)
    DW2/Initializer/random_uniform/sub (1/1 flops)
  DW/Initializer/random_uniform (162/325 flops)
    DW/Initializer/random_uniform/mul (162/162 flops)
    DW/Initializer/random_uniform/sub (1/1 flops)
  mul (108/108 flops)
  ScalarW/Initializer/random_uniform (1/3 flops)
    ScalarW/Initializer/random_uniform/mul (1/1 flops)
    ScalarW/Initializer/random_uniform/sub (1/1 flops)
"""


def test_parameters_are_printed_by_scopes(capsys):
    options = analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    stats = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options)
    assert capsys.readouterr().out == PARAMETERS
    assert stats.total_parameters == 451
    assert [child.name for child in stats.children] == ["DW", "DW2", "ScalarW"]


def test_float_ops_are_counted_by_scopes_and_by_types(capsys):
    assert tf.profiler.profile(options=builder.float_operation()).total_float_ops == 11453
    assert capsys.readouterr().out == FLOAT_OPS
    by_type = tf.profiler.profile(cmd="op", options=builder.float_operation())
    lines = capsys.readouterr().out.splitlines()
    assert by_type.total_float_ops == 11453
    assert [line.split() for line in lines[1:]] == [
        ["Conv2D", "10.44k", "float_ops", "(100.00%,", "91.16%)"],
        ["Mul", "559", "float_ops", "(8.84%,", "4.88%)"],
        ["Add", "451", "float_ops", "(3.96%,", "3.94%)"],
        ["Sub", "3", "float_ops", "(0.03%,", "0.03%)"],
    ]


def test_options_say_what_is_shown_and_where(tmp_path, capsys):
    path = tmp_path / "report"
    options = (
        builder(builder.trainable_variables_parameter())
        .with_node_names(hide_name_regexes=["DW2"])
        .with_file_output(str(path))
        .order_by("params")
        .build()
    )
    assert tf.profiler.profile(options=options).total_parameters == 163
    assert path.read_text().splitlines()[2:] == [
        "  DW (3x3x3x6, 162/162 params)",
        "  ScalarW (1, 1/1 params)",
    ]
    assert capsys.readouterr().out == ""


def test_gradients_and_layers_count():
    with tf.Graph().as_default() as graph:
        x = tf.zeros([4, 8, 8, 2])
        y = tf.layers.max_pooling2d(tf.layers.conv2d(x, 3, 3, activation=tf.nn.relu), 2, 2)
        loss = tf.reduce_mean(tf.layers.dense(tf.layers.flatten(y), 5) ** 2)
        tf.gradients(loss, tf.trainable_variables())
    options = builder(builder.float_operation()).with_empty_output().build()
    options["account_type_regexes"] = ["MatMul", "Conv2D.*", "MaxPool.*", "Sum", "BiasAddGrad"]
    assert tf.profiler.profile(graph, options=options).total_float_ops == RECORDED


# By TensorFlow 1.15.5.
RECORDED = 75523


@pytest.mark.parametrize(
    ("change", "cmd", "error"),
    [
        ({}, "nothing", tf.errors.InvalidArgumentError),
        ({"select": ["tensor_value"]}, "scope", NotImplementedError),
        ({"output": "pprof:outfile=t"}, "code", NotImplementedError),
        ({"output": "timeline:outfile=t"}, "op", NotImplementedError),
    ],
)
def test_what_profiles_do_not_hold_is_an_error(change, cmd, error):
    with pytest.raises(error):
        tf.profiler.profile(cmd=cmd, options={**builder.float_operation(), **change})


def test_logs_name_what_is_trained(tmp_path):
    tf.profiler.write_op_log(None, str(tmp_path))
    message = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in message.log_entries}
    assert list(entries["DW"].types) == ["_trainable_variables"]
    assert entries["Conv2D"].float_ops == 5832
