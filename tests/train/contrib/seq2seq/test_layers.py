# SPDX-License-Identifier: Apache-2.0
"""Attention, decoders and samplers that are layers of Keras: as those that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.seq2seq import attention_layers as layers
from numbaflow.train.contrib.seq2seq import sampler as samplers
from numbaflow.train.contrib.seq2seq.beam_search_layer import BeamSearchDecoderV2
from numbaflow.train.contrib.seq2seq.decoder_layer import BasicDecoderV2

pytestmark = pytest.mark.programs
seq2seq = tf.contrib.seq2seq
KINDS = {
    "Luong": {"scale": True},
    "Bahdanau": {"normalize": True},
    "LuongMonotonic": {"scale": True, "score_bias_init": 0.5},
    "BahdanauMonotonic": {"normalize": True, "mode": "recursive"},
}


def values(*fetches: Any) -> list[Any]:
    """Their values, computed by the reference kernels, with all weights alike."""
    with tf.Session() as session:
        for variable in tf.global_variables():
            variable.load(np.full(variable.shape.as_list(), 0.3, np.float32), session)
        return session.run(list(fetches))


@pytest.fixture(autouse=True)
def interpreted() -> Any:
    from numbaflow.engine import settings

    with settings.override(jit="never"), tf.Graph().as_default():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_weighs_as_the_mechanism_does(kind: str) -> None:
    memory = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
    query = tf.constant([[0.1, 0.2, 0.3], [0.5, 0.2, 0.7]])
    layer = getattr(layers, f"{kind}AttentionV2")(3, memory, **KINDS[kind])
    mechanism = getattr(seq2seq, f"{kind}Attention")(3, memory, **KINDS[kind])
    first = mechanism.initial_alignments(2, tf.float32)
    found, wanted, start = values(
        layer([query, first])[0], mechanism(query, first)[0], layer.initial_alignments(2, "float32")
    )
    assert found.shape == (2, 4)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert start[0, 0] == ("Monotonic" in kind)
    assert layer.alignments_size == layer.state_size == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_made_of_its_configuration(kind: str) -> None:
    made = getattr(layers, f"{kind}AttentionV2")(3, np.zeros([2, 4, 3], np.float32), **KINDS[kind])
    config = made.get_config()
    again = type(made).from_config(config)
    assert again.get_config() == config
    assert config["memory"] is None
    with pytest.raises(ValueError, match="before the setup of memory"):
        again([tf.zeros([2, 3]), tf.zeros([2, 4])])
    again(tf.zeros([2, 4, 3]), setup_memory=True)
    assert again([tf.zeros([2, 3]), tf.zeros([2, 4])])[0].shape == (2, 4)
    with pytest.raises(ValueError, match="2 or 3 tensors, got 1"):
        again([tf.zeros([2, 3])])
    with pytest.raises(ValueError, match="already been setup"):
        again.call(tf.zeros([2, 4, 3]), setup_memory=True)


def test_a_mask_hides_places_and_lengths_hide_memory_alone() -> None:
    memory = tf.ones([1, 3, 2])
    masked = layers.LuongAttentionV2(2, None)
    masked(memory, setup_memory=True, mask=tf.constant([[True, True, False]]))
    short = layers.LuongAttentionV2(2, memory, memory_sequence_length=[2])
    ones, start = tf.ones([1, 2]), tf.zeros([1, 3])
    hidden, weighed, kept = values(masked([ones, start])[0], short([ones, start])[0], short.values)
    np.testing.assert_allclose(hidden, [[0.5, 0.5, 0]])
    assert weighed[0, 2] > 0
    assert (kept[0, 2] == 0).all()
    with pytest.raises(ValueError, match="Invalid probability function: other"):
        layers.LuongAttentionV2(2, None, probability_fn="other")


def test_a_decoder_that_is_a_layer_decodes_as_one_that_is_none() -> None:
    inputs = np.random.default_rng(1).normal(size=(2, 4, 3)).astype(np.float32)
    cell = tf.nn.rnn_cell.GRUCell(3, name="cell")
    state = cell.zero_state(2, tf.float32)
    layer = BasicDecoderV2(cell, samplers.TrainingSampler(), impute_finished=True)
    outputs, _, lengths = layer(inputs, initial_state=state, sequence_length=[4, 2])
    helper = seq2seq.TrainingHelper(inputs, [4, 2])
    decoder = seq2seq.BasicDecoder(cell, helper, state)
    plain = seq2seq.dynamic_decode(decoder, impute_finished=True)
    found, wanted, ends = values(outputs, plain[0], lengths)
    np.testing.assert_array_equal(found.rnn_output, wanted.rnn_output)
    np.testing.assert_array_equal(found.sample_id, wanted.sample_id)
    assert ends.tolist() == [4, 2]
    assert type(outputs) is seq2seq.BasicDecoderOutput
    with pytest.raises(ValueError, match="sequence_length is required"):
        samplers.TrainingSampler().initialize(tf.constant(inputs))
    with pytest.raises(TypeError, match="sampler must be a Sampler"):
        BasicDecoderV2(cell, helper)


def test_a_greedy_sampler_and_a_beam_of_one_say_the_same() -> None:
    embedding = np.random.default_rng(2).normal(size=(5, 3)).astype(np.float32)
    cell, layer = tf.nn.rnn_cell.GRUCell(3, name="cell"), tf.layers.Dense(5)
    state = cell.zero_state(2, tf.float32)
    greedy = BasicDecoderV2(cell, samplers.GreedyEmbeddingSampler(), layer, maximum_iterations=3)
    beam = BeamSearchDecoderV2(cell, 1, output_layer=layer, maximum_iterations=3)
    said = greedy(embedding, initial_state=state, start_tokens=[1, 2], end_token=0)[0]
    searched = beam(embedding, start_tokens=[1, 2], end_token=0, initial_state=state)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ids, best = session.run([said.sample_id, searched.predicted_ids])
    np.testing.assert_array_equal(ids, best[:, :, 0])
    with pytest.raises(ValueError, match="cannot be provided at same time"):
        BeamSearchDecoderV2(cell, 1, lambda ids: ids).initialize(embedding, [1], 0, state)
    with pytest.raises(ValueError, match="before initialize"):
        print(samplers.GreedyEmbeddingSampler().batch_size)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_scheduled_samplers_take_inputs_or_outputs(probability: float) -> None:
    inputs = tf.constant(np.arange(12, dtype=np.float32).reshape(1, 4, 3))
    outputs = tf.constant([[7.0, 90.0, 8.0]])
    by_output = samplers.ScheduledOutputTrainingSampler(probability)
    by_output.initialize(inputs, sequence_length=[4])
    by_id = samplers.ScheduledEmbeddingTrainingSampler(probability)
    by_id.initialize(inputs, sequence_length=[4], embedding=tf.eye(3))
    taken = []
    for sampler in (by_output, by_id):
        ids = sampler.sample(0, outputs, state=())
        taken.append(sampler.next_inputs(0, outputs, (), ids)[1])
    direct, embedded = values(*taken)
    following = [[3.0, 4.0, 5.0]]
    assert direct.tolist() == (outputs_of(probability, [[7.0, 90.0, 8.0]], following))
    assert embedded.tolist() == (outputs_of(probability, [[0.0, 1.0, 0.0]], following))


def outputs_of(probability: float, sampled: list[Any], known: list[Any]) -> list[Any]:
    return sampled if probability else known
