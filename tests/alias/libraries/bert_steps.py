# SPDX-License-Identifier: Apache-2.0
"""A program for bert-tensorflow 1.0.1: three steps of a small model, without dropout."""

import numpy as np
import tensorflow as tf
from bert import modeling, optimization

tf.set_random_seed(1)
config = modeling.BertConfig(
    vocab_size=32,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
words = np.random.RandomState(0).randint(0, 32, (4, 6)).astype(np.int32)
model = modeling.BertModel(config, True, tf.constant(words))
loss = tf.reduce_mean(tf.square(model.get_pooled_output() - 0.5))
train = optimization.create_optimizer(loss, 1e-3, 10, 0, False)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print([float(session.run([loss, train])[0]) for _ in range(3)])
