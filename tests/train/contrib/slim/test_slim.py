# SPDX-License-Identifier: Apache-2.0
"""Training and evaluation with slim, its data, its summaries and its analyses of models."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def model(training: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Classes of points by their quadrant, and the labels."""
    tf.set_random_seed(1)
    points = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
    labels = (points[:, 0] > 0) * 2 + (points[:, 1] > 0)
    with slim.arg_scope([slim.fully_connected], weights_regularizer=slim.l2_regularizer(1e-4)):
        net = slim.stack(tf.constant(points), slim.fully_connected, [16, 16], scope="hidden")
        net = slim.batch_norm(net, is_training=training, decay=0.9)
        scores = slim.fully_connected(net, 4, activation_fn=None, scope="scores")
    return scores, tf.constant(labels.astype(np.int64))


# The supervisor is stopped twice, as TensorFlow's, and says so to a writer that is closed.
@pytest.mark.filterwarnings("ignore:Attempting to use a closed FileWriter")
def test_a_model_is_trained_saved_and_evaluated(tmp_path):
    scores, labels = model(True)
    slim.losses.sparse_softmax_cross_entropy(scores, labels)
    step = slim.learning.create_train_op(
        slim.losses.get_total_loss(),
        tf.train.GradientDescentOptimizer(0.5),
        clip_gradient_norm=5.0,
        gradient_multipliers={"scores/biases": 2.0},
        summarize_gradients=True,
    )
    loss = slim.learning.train(step, str(tmp_path), number_of_steps=60, log_every_n_steps=20)
    assert loss < 0.3
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-60")
    with tf.Graph().as_default():
        scores, labels = model(False)
        names = slim.metrics.aggregate_metric_map(
            {"accuracy": slim.metrics.streaming_accuracy(tf.argmax(scores, 1), labels)}
        )
        values, updates = names
        accuracy = slim.evaluation.evaluation_loop(
            "",
            str(tmp_path),
            str(tmp_path / "eval"),
            num_evals=2,
            eval_op=list(updates.values()),
            final_op=values["accuracy"],
            max_number_of_evaluations=1,
        )
    assert accuracy > 0.9


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"number_of_steps": 0}, "positive number"),
        ({"logdir": None, "trace_every_n_steps": 2}, "trace_every_n_steps because logdir=None"),
        ({"logdir": None, "summary_op": "given"}, "summary_op because logdir=None"),
        ({"train_op": None}, "train_op cannot be None"),
    ],
)
def test_training_refuses_what_does_not_fit(arguments, text, tmp_path):
    given = {"train_op": tf.constant(0.0), "logdir": str(tmp_path), **arguments}
    with pytest.raises(ValueError, match=text):
        slim.learning.train(**given)


def test_records_are_read_decoded_and_prefetched(tmp_path):
    path = str(tmp_path / "numbers.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(10):
            feature = {
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "square": tf.train.Feature(float_list=tf.train.FloatList(value=[i * i] * 4)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"n": tf.FixedLenFeature([], tf.int64), "square": tf.VarLenFeature(tf.float32)},
        {
            "n": slim.tfexample_decoder.Tensor("n"),
            "square": slim.tfexample_decoder.Tensor("square", shape=[2, 2]),
        },
    )
    dataset = slim.dataset.Dataset([path], tf.TFRecordReader, decoder, 10, {}, classes=3)
    assert dataset.classes == 3
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    with pytest.raises(ValueError, match="other"):
        provider.get(["other"])
    n, square = provider.get(["n", "square"])
    queue = slim.prefetch_queue.prefetch_queue({"n": n, "square": tf.reshape(square, [2, 2])})
    element = queue.dequeue()
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with slim.queues.QueueRunners(session):
            with pytest.raises(slim.queues.NestedQueueRunnerError):
                with slim.queues.QueueRunners(session):
                    pass
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    found.append(session.run(element))
    assert [int(f["n"]) for f in found] == list(range(10))
    assert all((f["square"] == f["n"] ** 2).all() for f in found)


def test_variables_and_results_are_counted(capsys):
    slim.fully_connected(tf.zeros([5, 3]), 4, scope="layer")
    assert slim.model_analyzer.analyze_vars(slim.get_variables(), print_info=True) == (16, 64)
    assert "layer/weights:0 (float32_ref 3x4) [12, bytes: 48]" in capsys.readouterr().out
    assert slim.model_analyzer.analyze_ops(tf.get_default_graph()) > 16


def test_summaries_have_the_names_of_tensors():
    x = tf.constant([0.0, 0.0, 1.0, 2.0], name="x")
    slim.summaries.add_zero_fraction_summary(x, prefix="p")
    slim.summaries.add_histogram_summary(x)
    slim.summaries.add_scalar_summary(tf.reduce_sum(x, name="sum"), print_summary=True)
    text = tf.Session().run(tf.summary.merge_all())
    tags = {value.tag: value for value in tf.Summary.FromString(text).value}
    # Names that operations have are taken.
    assert set(tags) == {"p/x/Fraction_of_Zero_Values", "x_1", "sum_1"}
    assert tags["p/x/Fraction_of_Zero_Values"].simple_value == 0.5
