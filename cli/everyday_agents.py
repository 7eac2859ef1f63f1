# SPDX-License-Identifier: Apache-2.0
"""Everyday programs that learn by acting, whose runs are several; see cli/everyday.py.

Of each, the fetches of its runs.  As in cli/everyday_nets.py, sizes do not matter.  `tf` is this
package.  Imports nothing.
"""

from __future__ import annotations

from typing import Any

_STATES, _ACTIONS = 40, 20
_LOG_OF_CIRCLE = 1.8378770664093453  # log 2π


def _layers(tf: Any, h: Any, outputs: int, activation: Any, last: Any = None) -> Any:
    for _ in range(2):
        h = tf.layers.dense(h, 48, activation)
    return tf.layers.dense(h, outputs, last)


def _log_likelihood(tf: Any, x: Any, mean: Any, log_spread: Any) -> Any:
    apart = ((x - mean) / (tf.exp(log_spread) + 1e-8)) ** 2
    return tf.reduce_sum(-0.5 * (apart + 2 * log_spread + _LOG_OF_CIRCLE), axis=1)


def _adam(tf: Any, loss: Any, scope: str, rate: float = 1e-3) -> Any:
    return tf.train.AdamOptimizer(rate).minimize(loss, var_list=tf.trainable_variables(scope))


def _batch(tf: Any) -> tuple[Any, ...]:
    """States, those behind them, actions, rewards, and whether it was the end."""
    states = [tf.placeholder(tf.float32, [None, _STATES]) for _ in range(2)]
    action = tf.placeholder(tf.float32, [None, _ACTIONS])
    return (*states, action, *(tf.placeholder(tf.float32, [None]) for _ in range(2)))


def _followed(tf: Any, share: float) -> Any:
    """What brings one network's variables nearer to another's."""
    pairs = zip(tf.trainable_variables("main"), tf.trainable_variables("slow"), strict=True)
    return tf.group([tf.assign(slow, share * slow + (1 - share) * own) for own, slow in pairs])


def surrogate(tf: Any) -> list[list[Any]]:
    """A policy over numbers whose steps are kept short by a clipped ratio, and a value beside."""
    state = tf.placeholder(tf.float32, [None, _STATES])
    action = tf.placeholder(tf.float32, [None, _ACTIONS])
    gain, worth, before = (tf.placeholder(tf.float32, [None]) for _ in range(3))
    with tf.variable_scope("policy"):
        mean = _layers(tf, state, _ACTIONS, tf.tanh)
        log_spread = tf.get_variable("log_spread", initializer=[-0.5] * _ACTIONS)
        drawn = mean + tf.random_normal(tf.shape(mean)) * tf.exp(log_spread)
    with tf.variable_scope("value"):
        value = tf.squeeze(_layers(tf, state, 1, tf.tanh), axis=1)
    likely = _log_likelihood(tf, action, mean, log_spread)
    ratio = tf.exp(likely - before)
    least = tf.where(gain > 0, 1.2 * gain, 0.8 * gain)
    cost = -tf.reduce_mean(tf.minimum(ratio * gain, least))
    clipped = -tf.reduce_mean(tf.minimum(ratio * gain, tf.clip_by_value(ratio, 0.8, 1.2) * gain))
    wrong = tf.reduce_mean((worth - value) ** 2)
    moved, entropy = tf.reduce_mean(before - likely), tf.reduce_mean(-likely)
    outside = tf.logical_or(ratio > 1.2, ratio < 0.8)
    runs = [[_adam(tf, loss, "policy", 3e-4), loss, moved] for loss in (cost, clipped)]
    told = [moved, entropy, tf.reduce_mean(tf.cast(outside, tf.float32))]
    acting = [drawn, value, _log_likelihood(tf, drawn, mean, log_spread)]
    return [*runs, [_adam(tf, wrong, "value"), wrong], told, acting]


def deterministic(tf: Any) -> list[list[Any]]:
    """A policy that follows the slope of two values, with slow copies of all three."""
    state, later, action, reward, end = _batch(tf)

    def policy(state: Any) -> Any:
        with tf.variable_scope("policy"):
            return _layers(tf, state, _ACTIONS, tf.nn.relu, tf.tanh)

    with tf.variable_scope("main"):
        chosen = policy(state)
        values = [_valued(tf, f"value{i}", state, action) for i in range(2)]
        best = _valued(tf, "value0", state, chosen)
    with tf.variable_scope("slow"):
        then = policy(later)
        noise = tf.clip_by_value(tf.random_normal(tf.shape(then), stddev=0.2), -0.5, 0.5)
        then = tf.clip_by_value(then + noise, -1, 1)
        after = [_valued(tf, f"value{i}", later, then) for i in range(2)]
    runs = []
    for least in (after[0], tf.minimum(*after)):
        wanted = tf.stop_gradient(reward + 0.99 * (1 - end) * least)
        wrong = tf.add_n([tf.reduce_mean((v - wanted) ** 2) for v in values])
        runs.append([_adam(tf, wrong, "main/value"), wrong, *values])
    cost = -tf.reduce_mean(best)
    step = _adam(tf, cost, "main/policy")
    with tf.control_dependencies([step]):
        runs.append([_followed(tf, 0.995), step, cost])
    return [*runs, [chosen]]


def _valued(tf: Any, scope: str, state: Any, action: Any) -> Any:
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        both = tf.concat([state, action], -1)
        return tf.squeeze(_layers(tf, both, 1, tf.nn.relu), axis=1)


def soft(tf: Any) -> list[list[Any]]:
    """A squashed policy that is paid for being uncertain, two values, and their slow copies."""
    state, later, action, reward, end = _batch(tf)

    def policy(state: Any) -> tuple[Any, Any, Any]:
        with tf.variable_scope("policy", reuse=tf.AUTO_REUSE):
            h = tf.layers.dense(tf.layers.dense(state, 48, tf.nn.relu), 48, tf.nn.relu)
            mean, log_spread = tf.layers.dense(h, _ACTIONS), tf.layers.dense(h, _ACTIONS, tf.tanh)
        log_spread = -20 + 11 * (log_spread + 1)
        drawn = mean + tf.random_normal(tf.shape(mean)) * tf.exp(log_spread)
        likely = _log_likelihood(tf, drawn, mean, log_spread)
        likely -= tf.reduce_sum(2 * (0.6931472 - drawn - tf.nn.softplus(-2 * drawn)), axis=1)
        return tf.tanh(mean), tf.tanh(drawn), likely

    with tf.variable_scope("main"):
        sure, drawn, likely = policy(state)
        _, then, then_likely = policy(later)
        values = [_valued(tf, f"value{i}", state, action) for i in range(2)]
        chosen = [_valued(tf, f"value{i}", state, drawn) for i in range(2)]
    with tf.variable_scope("slow"), tf.variable_scope("value"):
        after = [_valued(tf, f"value{i}", later, then) for i in range(2)]
    worth = tf.minimum(*after) - 0.2 * then_likely
    wanted = tf.stop_gradient(reward + 0.99 * (1 - end) * worth)
    cost = tf.reduce_mean(0.2 * likely - tf.minimum(*chosen))
    wrong = tf.add_n([0.5 * tf.reduce_mean((wanted - v) ** 2) for v in values])
    first = _adam(tf, cost, "main/policy")
    with tf.control_dependencies([first]):
        second = _adam(tf, wrong, "main/value")
    pairs = zip(tf.trainable_variables("main/value"), tf.trainable_variables("slow"), strict=True)
    with tf.control_dependencies([second]):
        near = tf.group([tf.assign(slow, 0.995 * slow + 0.005 * own) for own, slow in pairs])
    return [[cost, wrong, *values, likely, first, second, near], [sure], [drawn]]


AGENTS = (surrogate, deterministic, soft)
