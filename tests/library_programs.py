# SPDX-License-Identifier: Apache-2.0
"""The operations that library functions make, here or in TensorFlow 1.15, whose Python is 3.7.

    python library_programs.py tensorflow FILE

Each case's operations are written as [[name, type], ...], in the order in which they are made: by
how many there are before a random operation its seed is chosen, and programs name them.
"""

import importlib
import json
import sys


def sequence_cases(tf):
    """(name, function that builds a graph) of decoders, cells and chains of tags."""
    cells, contrib, seq = tf.nn.rnn_cell, tf.contrib.rnn, tf.contrib.seq2seq

    def given(*shape, dtype=tf.float32):
        return tf.placeholder(dtype, shape)

    def unrolled(cell, *shapes):
        inputs = tuple(given(*shape) for shape in shapes)
        tf.nn.dynamic_rnn(cell, inputs if shapes[1:] else inputs[0], dtype=tf.float32)

    def decoded(helper):
        attention = seq.BahdanauAttention(4, given(2, 6, 5))
        cell = seq.AttentionWrapper(cells.LSTMCell(4), attention, attention_layer_size=3)
        state = cell.zero_state(2, tf.float32)
        seq.dynamic_decode(seq.BasicDecoder(cell, helper, state, tf.layers.Dense(3)))

    def scheduled():
        inputs, lengths = given(2, 6, 3), given(2, dtype=tf.int32)
        decoded(seq.ScheduledEmbeddingTrainingHelper(inputs, lengths, given(10, 3), 0.5))

    def beams():
        state = seq.tile_batch(given(2, 4), 3)
        start, layer = tf.zeros([2], tf.int32), tf.layers.Dense(10)
        table, cell = given(10, 3), cells.GRUCell(4)
        decoder = seq.BeamSearchDecoder(cell, table, start, 1, state, 3, layer)
        seq.dynamic_decode(decoder, maximum_iterations=5)

    def tags():
        crf, scores, lengths = tf.contrib.crf, given(2, None, 3), given(2, dtype=tf.int32)
        crf.crf_log_likelihood(scores, given(2, None, dtype=tf.int32), lengths)
        crf.crf_decode(scores, given(3, 3), lengths)

    def frequencies():
        cell = contrib.TimeFreqLSTMCell(4, feature_size=1, frequency_skip=1)
        tf.nn.static_rnn(cell, [given(2, 3), given(2, 3)], dtype=tf.float32)

    return [
        ("training_helper", lambda: decoded(seq.TrainingHelper(given(2, 6, 3), [6, 5]))),
        ("scheduled_helper", scheduled),
        ("beams", beams),
        ("monotonic", lambda: seq.monotonic_attention(given(2, 5), given(2, 5), "parallel")),
        ("tags", tags),
        ("phased_lstm", lambda: unrolled(contrib.PhasedLSTMCell(4), (2, 5, 1), (2, 5, 3))),
        ("indy_lstm", lambda: unrolled(contrib.IndyLSTMCell(4), (2, 5, 3))),
        ("time_freq_lstm", frequencies),
    ]


def function_cases(tf):
    """(name, function that builds a graph) of losses, layers, distributions and optimizers."""
    layers, kinds = tf.contrib.layers, tf.distributions

    def given(*shape, dtype=tf.float32):
        return tf.placeholder(dtype, shape)

    def trained():
        loss = tf.reduce_sum(tf.square(tf.get_variable("w", [3, 4])))
        tf.contrib.opt.GGTOptimizer().minimize(loss)

    def student(which):
        getattr(kinds.StudentT(given(3), given(3), given(3)), which)()

    def padded():
        data = tf.data.Dataset.range(3).padded_batch(2, [])
        data.make_initializable_iterator().get_next()

    def looked_up():
        table, ids = tf.get_variable("e", [10, 4]), tf.sparse_placeholder(tf.int64)
        layers.safe_embedding_lookup_sparse([table], ids)

    return [
        ("loss", lambda: tf.contrib.losses.absolute_difference(given(4, 3), given(4, 3))),
        ("gdn", lambda: layers.gdn(given(2, 8, 8, 4))),
        ("unit_norm", lambda: layers.unit_norm(given(2, 3), 1)),
        ("safe_embedding", looked_up),
        ("bow_encoder", lambda: layers.bow_encoder(given(2, 3, dtype=tf.int64), 10, 4)),
        ("spatial_softmax", lambda: layers.spatial_softmax(given(2, 8, 8, 4))),
        ("normal_log_cdf", lambda: kinds.Normal(given(3), given(3)).log_cdf(given(3))),
        ("laplace_cdf", lambda: kinds.Laplace(given(3), given(3)).cdf(given(3))),
        ("student_variance", lambda: student("variance")),
        ("student_entropy", lambda: student("entropy")),
        ("uniform_cdf", lambda: kinds.Uniform(given(3), given(3)).cdf(given(3))),
        ("beta_mode", lambda: kinds.Beta(given(3), given(3)).mode()),
        ("dirichlet_entropy", lambda: kinds.Dirichlet(given(2, 3)).entropy()),
        ("ggt", trained),
        ("padded_batch", padded),
    ]


def head_cases(tf):
    """(name, function that builds a graph) of heads that evaluate."""

    def evaluated(head):
        tf.train.get_or_create_global_step()
        logits = tf.placeholder(tf.float32, [4, head.logits_dimension])
        labels = tf.placeholder(tf.int64, [4, 1])
        head.create_estimator_spec({}, "eval", logits, labels)

    heads = tf.contrib.estimator
    return [
        ("binary", lambda: evaluated(heads.binary_classification_head(thresholds=[0.3]))),
        ("multi_class", lambda: evaluated(heads.multi_class_head(3))),
    ]


def cases(tf):
    """The operations of each case, in a graph of its own."""
    found = {}
    for name, build in sequence_cases(tf) + function_cases(tf) + head_cases(tf):
        with tf.Graph().as_default() as graph:
            build()
            found[name] = [[op.name, op.type] for op in graph.get_operations()]
    return found


if __name__ == "__main__":
    with open(sys.argv[2], "w") as file:
        json.dump(cases(importlib.import_module(sys.argv[1])), file)
