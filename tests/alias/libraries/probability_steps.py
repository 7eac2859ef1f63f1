# SPDX-License-Identifier: Apache-2.0
"""Steps of a Sonnet network with a distribution over it, and of a flow; prints both losses."""

import json

import numpy as np
import sonnet as snt
import tensorflow as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors


def losses(loss):
    step = tf.train.AdamOptimizer(1e-2).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [float(sess.run([step, loss])[1]) for _ in range(4)]


def numbers(seed, *shape):
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype("f"))


tf.set_random_seed(1)
out = snt.Sequential([snt.Linear(16), tf.nn.tanh, snt.BatchFlatten(), snt.Linear(4)])(
    numbers(0, 64, 5)
)
normal = tfd.MultivariateNormalDiag(out[:, :2], tf.nn.softplus(out[:, 2:]))
network = losses(-tf.reduce_mean(normal.log_prob(numbers(1, 64, 2))))

tf.reset_default_graph()
tf.set_random_seed(1)
net = tfb.masked_autoregressive_default_template([16, 16])
flow = tfd.TransformedDistribution(
    tfd.MultivariateNormalDiag(tf.zeros(3)),
    tfb.MaskedAutoregressiveFlow(shift_and_log_scale_fn=net),
)
print(json.dumps([network, losses(-tf.reduce_mean(flow.log_prob(numbers(0, 32, 3))))]))
