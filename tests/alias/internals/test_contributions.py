# SPDX-License-Identifier: Apache-2.0
"""Names of modules below `tensorflow.contrib` that programs import and that are not public."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias import finder
from numbaflow.alias.restore.reading import missing_because

_PURE = pytest.mark.pure


def view(path: str) -> Any:
    return finder.resolve(f"tensorflow.contrib.{path}")


@_PURE
@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("learn.python.learn", "numpy_input_fn pandas_input_fn MetricKey ClusterConfig"),
        ("learn.python.learn.learn_io", "HAS_PANDAS HAS_DASK extract_pandas_data"),
        ("learn.python.learn.monitored_session", "MonitoredSession Scaffold"),
        ("learn.python.learn.session_run_hook", "SessionRunHook SessionRunArgs"),
        ("learn.python.learn.basic_session_run_hooks", "LoggingTensorHook StopAtStepHook"),
        ("learn.python.learn.summary_writer_cache", "SummaryWriterCache get_summary_writer"),
        ("layers.python.layers", "bucketize scattered_embedding_lookup conv2d"),
        ("layers.python.layers.normalization", "DATA_FORMAT_NCHW"),
        ("cudnn_rnn.python.layers.cudnn_rnn", "CUDNN_RNN_UNIDIRECTION CUDNN_LSTM"),
        ("optimizer_v2.adam", "AdamOptimizer"),
        ("rnn.python.ops.core_rnn_cell", "_WEIGHTS_VARIABLE_NAME _BIAS_VARIABLE_NAME"),
        ("seq2seq.python.ops.helper", "_unstack_ta _transpose_batch_time"),
        ("slim.python.slim.nets.inception_v3", "trunc_normal"),
    ],
)
def test_internal_modules_have_their_names(module: str, names: str) -> None:
    found = view(module)
    assert all(hasattr(found, name) for name in names.split())
    assert not hasattr(found, "there_never_was")


@_PURE
def test_marks_of_autograph_have_their_internal_module() -> None:
    module = finder.resolve("tensorflow.python.autograph.impl.api")
    assert module.do_not_convert(len)([1, 2]) == 2


@_PURE
def test_names_without_counterpart_can_be_imported_and_fail_when_used() -> None:
    convert = view("tensorrt").create_inference_graph
    with pytest.raises(NotImplementedError, match=r"tensorflow\.contrib\.tensorrt\.create_infer"):
        convert()
    path = "tensorflow.contrib.tensorrt.create_inference_graph"
    assert missing_because(path) == "can be imported, and fails when it is used"
    assert not missing_because("tensorflow.contrib.slim.conv2d")


def attention(memory: Any, **options: Any) -> Any:
    """A mechanism of a program's own, on the base of TensorFlow's."""
    base = view("seq2seq.python.ops.attention_wrapper")._BaseAttentionMechanism

    class Dot(base):  # type: ignore[misc, valid-type]
        def __call__(self, query: Any, state: Any) -> Any:
            score = tf.reduce_sum(self._keys * tf.expand_dims(query, 1), 2)
            weights = self._probability_fn(score, state)
            return weights, weights

    ones = tf.ones_initializer()
    layer = tf.layers.Dense(3, use_bias=False, kernel_initializer=ones, dtype=tf.float32)
    return Dot(None, memory, lambda score, _: tf.nn.softmax(score), memory_layer=layer, **options)


@pytest.mark.cpu
def test_attention_of_a_programs_own_and_masks() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        lengths = tf.constant([2, 1])
        mechanism = attention(tf.ones([2, 3, 4]), memory_sequence_length=lengths)
        weights, _ = mechanism(tf.ones([2, 3]), None)
        wrapper = view("seq2seq.python.ops.attention_wrapper")
        mask = tf.constant([[True, False, True], [False, True, True]])
        masked = wrapper._maybe_mask_score(tf.zeros([2, 3]), None, mask, -1.0)
        memory = wrapper._prepare_memory(tf.ones([2, 3, 2]), memory_mask=mask)
        session.run(tf.global_variables_initializer())
        given = session.run([weights, masked, memory])
    np.testing.assert_allclose(given[0], [[0.5, 0.5, 0], [1, 0, 0]])
    np.testing.assert_array_equal(given[1], [[0, -1, 0], [-1, 0, 0]])
    np.testing.assert_array_equal(given[2][:, :, 1], [[1, 0, 1], [0, 1, 1]])
    with pytest.raises(ValueError, match="can't be provided at same time"):
        wrapper._maybe_mask_score(tf.zeros([2, 3]), lengths, mask)


@pytest.mark.cpu
def test_private_steps_of_a_beam_search() -> None:
    search = view("seq2seq.python.ops.beam_search_decoder")
    with tf.Graph().as_default(), tf.Session() as session:
        indices = tf.constant([[1, 0], [1, 1]])
        given = tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]])
        beams = search._maybe_tensor_gather_helper(indices, given, 2, 2, [4, -1])
        scalar = tf.constant(5.0)
        assert search._maybe_tensor_gather_helper(indices, scalar, 2, 2, [4, -1]) is scalar
        lengths = tf.constant([[[1], [7]]])
        scores = search._get_scores(-given, lengths, 1.0, 0.0, None, None)
        outputs = view("seq2seq.python.ops.decoder")._create_zero_outputs(3, tf.int32, 2)
        found = session.run([beams, scores, outputs])
    np.testing.assert_array_equal(found[0][:, :, 0], [[2, 1], [4, 4]])
    np.testing.assert_allclose(found[1][:, :, 0], [[-1, -1], [-3, -2]])
    assert found[2].shape == (2, 3)


@pytest.mark.process
def test_slim_shows_the_modules_that_its_layers_import() -> None:
    lines = (
        "from numbaflow.alias import install; install()",
        "import tensorflow.contrib.slim as slim",
        "from tensorflow.contrib.layers.python.layers import layers",
        "from tensorflow.python.ops import init_ops",
        "assert slim.init_ops is init_ops and layers.init_ops is init_ops",
        "assert slim.nest.flatten([[1]]) == [1] and slim.vs is slim.variable_scope",
        "assert 'math_ops' in dir(slim)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
