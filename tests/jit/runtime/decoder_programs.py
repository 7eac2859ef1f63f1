# SPDX-License-Identifier: Apache-2.0
"""Programs that write one word after the other, as people do it in TensorFlow 1.

Each takes the module (numbaflow or TensorFlow) and gives what to run and what to feed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Program = tuple[list[Any], list[dict[str, Any]]]


def values(*shape: int, seed: int = 0, scale: float = 0.3) -> np.ndarray:
    """Some numbers."""
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype("f4")


def gpt2_sampling(tf: Any) -> Program:
    """GPT-2: tokens and the cache of keys and values grow by one per turn; top-k, multinomial."""
    layers, heads, width, vocabulary, length = 2, 2, 16, 50, 12

    def norm(x, scope):
        with tf.variable_scope(scope):
            g = tf.get_variable("g", [width], initializer=tf.constant_initializer(1))
            b = tf.get_variable("b", [width], initializer=tf.constant_initializer(0))
            u = tf.reduce_mean(x, axis=-1, keepdims=True)
            s = tf.reduce_mean(tf.square(x - u), axis=-1, keepdims=True)
            return (x - u) * tf.rsqrt(s + 1e-5) * g + b

    def conv1d(x, scope, nf, seed):
        with tf.variable_scope(scope):
            *start, nx = [
                d.value if d.value is not None else tf.shape(x)[i]
                for i, d in enumerate(x.shape.dims)
            ]
            w = tf.get_variable(
                "w", [1, nx, nf], initializer=tf.constant_initializer(values(1, nx, nf, seed=seed))
            )
            b = tf.get_variable("b", [nf], initializer=tf.constant_initializer(0))
            return tf.reshape(
                tf.matmul(tf.reshape(x, [-1, nx]), tf.reshape(w, [-1, nf])) + b, [*start, nf]
            )

    def split_heads(x):
        b, s = tf.shape(x)[0], tf.shape(x)[1]
        return tf.transpose(tf.reshape(x, [b, s, heads, width // heads]), [0, 2, 1, 3])

    def attention(x, layer, past):
        q, k, v = map(split_heads, tf.split(conv1d(x, "c_attn", 3 * width, layer), 3, axis=2))
        present = tf.stack([k, v], axis=1)
        if past is not None:
            pk, pv = tf.unstack(past, axis=1)
            k, v = tf.concat([pk, k], axis=-2), tf.concat([pv, v], axis=-2)
        w = tf.matmul(q, k, transpose_b=True) * (1.0 / np.sqrt(width // heads))
        nd, ns = tf.shape(w)[2], tf.shape(w)[3]
        i, j = tf.range(nd)[:, None], tf.range(ns)
        b = tf.reshape(tf.cast(i >= j - ns + nd, w.dtype), [1, 1, nd, ns])
        w = tf.nn.softmax(w * b - tf.cast(1e10, w.dtype) * (1 - b))
        a = tf.transpose(tf.matmul(w, v), [0, 2, 1, 3])
        a = tf.reshape(a, [tf.shape(a)[0], tf.shape(a)[1], width])
        return conv1d(a, "c_proj", width, 10 + layer), present

    def model(tokens, past=None):
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            wpe = tf.get_variable(
                "wpe", [64, width], initializer=tf.constant_initializer(values(64, width, seed=1))
            )
            wte = tf.get_variable(
                "wte",
                [vocabulary, width],
                initializer=tf.constant_initializer(values(vocabulary, width, seed=2)),
            )
            past_length = 0 if past is None else tf.shape(past)[-2]
            batch, sequence = tf.shape(tokens)[0], tf.shape(tokens)[1]
            positions = tf.tile(tf.expand_dims(past_length + tf.range(sequence), 0), [batch, 1])
            h = tf.gather(wte, tokens) + tf.gather(wpe, positions)
            presents = []
            pasts = tf.unstack(past, axis=1) if past is not None else [None] * layers
            for layer in range(layers):
                with tf.variable_scope(f"h{layer}"):
                    a, present = attention(norm(h, "ln_1"), layer, pasts[layer])
                    h = h + a
                    m = conv1d(norm(h, "ln_2"), "fc", 4 * width, 20 + layer)
                    m = 0.5 * m * (1 + tf.tanh(np.sqrt(2 / np.pi) * (m + 0.044715 * tf.pow(m, 3))))
                    h = h + conv1d(m, "proj", width, 30 + layer)
                    presents.append(present)
            h = norm(h, "ln_f")
            logits = tf.reshape(
                tf.matmul(tf.reshape(h, [-1, width]), wte, transpose_b=True),
                [batch, sequence, vocabulary],
            )
            return logits, tf.stack(presents, axis=1)

    context = tf.placeholder(tf.int32, [2, None], name="context")

    def step(tokens, past=None):
        logits, presents = model(tokens, past)
        presents.set_shape([2, layers, 2, heads, None, width // heads])
        return logits[:, :, :vocabulary], presents

    def top_k(logits, k):
        found, _ = tf.nn.top_k(logits, k=k)
        least = found[:, -1, tf.newaxis]
        return tf.where(logits < least, tf.ones_like(logits, dtype=logits.dtype) * -1e10, logits)

    _, first = step(context[:, :-1])

    def body(past, prev, output):
        logits, presents = step(prev[:, tf.newaxis], past=past)
        logits = top_k(logits[:, -1, :] / tf.to_float(0.7), 10)
        samples = tf.multinomial(logits, num_samples=1, output_dtype=tf.int32, seed=7)
        return [
            tf.concat([past, presents], axis=-2),
            tf.squeeze(samples, axis=[1]),
            tf.concat([output, samples], axis=1),
        ]

    _, _, tokens = tf.while_loop(
        cond=lambda *args: True,
        body=body,
        maximum_iterations=length,
        loop_vars=[first, context[:, -1], context],
        shape_invariants=[
            tf.TensorShape([2, layers, 2, heads, None, width // heads]),
            tf.TensorShape([2]),
            tf.TensorShape([2, None]),
        ],
        back_prop=False,
    )
    feeds = {"context:0": np.array([[3, 1, 4, 1], [2, 7, 1, 8]])}
    return [tokens], [feeds]


def greedy_decoder(tf: Any) -> Program:
    """A decoder that ends early once every sequence has given the end mark; the output grows."""
    units, vocabulary = 16, 20
    embedding = tf.get_variable("e", initializer=values(vocabulary, units, seed=1, scale=1.0))
    cell = tf.nn.rnn_cell.GRUCell(
        units,
        kernel_initializer=tf.constant_initializer(0.05),
        bias_initializer=tf.constant_initializer(0.1),
    )
    weight = tf.get_variable("w", initializer=values(units, vocabulary, seed=3, scale=1.0))
    start = tf.placeholder(tf.int32, [None], name="start")
    limit = tf.placeholder(tf.int32, [], name="limit")
    state = tf.gather(embedding, start)

    def body(step, token, state, finished, output):
        _, state = cell(tf.gather(embedding, token), state)
        token = tf.argmax(
            tf.matmul(tf.tanh(state), weight)
            + tf.cast(step, tf.float32)
            * tf.one_hot(tf.zeros_like(token), vocabulary, on_value=0.2),
            axis=-1,
            output_type=tf.int32,
        )
        token = tf.where(finished, tf.zeros_like(token), token)
        return (
            step + 1,
            token,
            state,
            tf.logical_or(finished, tf.equal(token, 0)),
            tf.concat([output, token[:, None]], 1),
        )

    steps, _, _, _, output = tf.while_loop(
        lambda step, token, state, finished, output: tf.logical_and(
            step < limit, tf.logical_not(tf.reduce_all(finished))
        ),
        body,
        [0, start, state, tf.zeros_like(start, tf.bool), start[:, None]],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([None]),
            tf.TensorShape([None, units]),
            tf.TensorShape([None]),
            tf.TensorShape([None, None]),
        ],
    )
    return [steps, output], [{"start:0": [3, 5, 9], "limit:0": 30}]


def beam_search(tf: Any) -> Program:
    """The Transformer's beam search: live sequences grow, gathered by what they descend from."""
    batch, beams, vocabulary, units = 2, 3, 11, 8
    table = tf.get_variable("t", initializer=values(vocabulary, units, seed=1, scale=1.0))
    weight = tf.get_variable("w", initializer=values(units, vocabulary, seed=2, scale=1.0))
    first = tf.placeholder(tf.int32, [batch], name="first")
    ids = tf.tile(first[:, None, None], [1, beams, 1])
    logs = tf.tile(tf.constant([[0.0] + [-1e7] * (beams - 1)]), [batch, 1])

    def gather(x, beam):
        where = tf.tile(tf.range(batch)[:, None], [1, tf.shape(beam)[1]])
        return tf.gather_nd(x, tf.stack([where, beam], axis=2))

    def body(i, ids, logs, finished, scores):
        flat = tf.reshape(ids, [batch * beams, -1])
        h = tf.reduce_mean(tf.gather(table, flat), axis=1)
        logits = tf.reshape(tf.matmul(tf.tanh(h), weight), [batch, beams, vocabulary])
        candidates = tf.nn.log_softmax(logits) + logs[:, :, None]
        penalty = tf.pow((5.0 + tf.to_float(i + 1)) / 6.0, 0.6)
        found, at = tf.nn.top_k(
            tf.reshape(candidates / penalty, [batch, beams * vocabulary]), k=beams
        )
        beam, token = at // vocabulary, at % vocabulary
        grown = tf.concat([gather(ids, beam), token[:, :, None]], axis=2)
        padded = tf.concat([finished, tf.zeros([batch, beams, 1], tf.int32)], axis=2)
        done = tf.where(tf.equal(token, 0), found, tf.fill([batch, beams], -1e7))
        best, which = tf.nn.top_k(tf.concat([scores, done], axis=1), k=beams)
        return (
            i + 1,
            grown,
            found * penalty + tf.to_float(tf.equal(token, 0)) * -1e7,
            gather(tf.concat([padded, grown], axis=1), which),
            best,
        )

    def going(i, ids, logs, finished, scores):
        return tf.logical_and(
            i < 10, tf.reduce_any(tf.reduce_max(logs, 1) > tf.reduce_min(scores, 1))
        )

    result = tf.while_loop(
        going,
        body,
        [0, ids, logs, ids, tf.fill([batch, beams], -1e7)],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([batch, beams, None]),
            tf.TensorShape([batch, beams]),
            tf.TensorShape([batch, beams, None]),
            tf.TensorShape([batch, beams]),
        ],
        back_prop=False,
    )
    return list(result[1:]), [{"first:0": [4, 7]}]


def raw_rnn(tf: Any) -> Program:
    """tf.nn.raw_rnn: a TensorArray that grows, the state copied through where a sequence ended."""
    units = 12
    x = tf.placeholder(tf.float32, [None, None, 6], name="x")  # time, batch
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    cell = tf.nn.rnn_cell.LSTMCell(units, initializer=tf.constant_initializer(0.07))
    inputs = tf.TensorArray(tf.float32, size=tf.shape(x)[0], element_shape=[None, 6]).unstack(x)

    def loop(time, output, state, _):
        ended = time >= lengths
        if output is None:
            state = cell.zero_state(tf.shape(x)[1], tf.float32)
        more = tf.logical_not(tf.reduce_all(ended))
        given = tf.cond(more, lambda: inputs.read(time), lambda: tf.zeros([tf.shape(x)[1], 6]))
        return ended, given, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    stacked = outputs.stack()
    w = tf.get_variable("w", initializer=values(units, 1))
    loss = tf.reduce_mean(tf.square(tf.tensordot(stacked, w, 1) - 1.0)) + tf.reduce_sum(state.h)
    grads = tf.gradients(loss, tf.trainable_variables())
    return [stacked, state.h, loss, *grads], [{"x:0": values(9, 4, 6), "lengths:0": [9, 3, 5, 1]}]


def dynamic_decode(tf: Any) -> Program:
    """What tf.contrib.seq2seq.dynamic_decode does: arrays of unknown size, zeroed at the end."""
    units, vocabulary = 10, 15
    embedding = tf.get_variable("e", initializer=values(vocabulary, units, scale=1.0))
    weight = tf.get_variable("w", initializer=values(units, vocabulary, seed=2, scale=1.0))
    cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=tf.constant_initializer(0.1))
    start = tf.placeholder(tf.int32, [None], name="start")
    logits_array = tf.TensorArray(
        tf.float32, size=0, dynamic_size=True, element_shape=[None, vocabulary]
    )
    ids_array = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[None])

    def body(time, logits_array, ids_array, state, token, finished, lengths):
        output, new = cell(tf.gather(embedding, token), state)
        logits = tf.matmul(output, weight)
        ids = tf.argmax(logits, -1, output_type=tf.int32)
        ended = tf.logical_or(finished, tf.equal(ids, time % vocabulary))
        emit = tf.where(finished, tf.zeros_like(logits), logits)
        new = tf.where(finished, state, new)
        lengths = tf.where(
            tf.logical_and(tf.logical_not(finished), ended),
            tf.fill(tf.shape(lengths), time + 1),
            lengths,
        )
        return (
            time + 1,
            logits_array.write(time, emit),
            ids_array.write(time, ids),
            new,
            ids,
            ended,
            lengths,
        )

    out = tf.while_loop(
        lambda time, a, b, c, d, finished, e: tf.logical_and(
            time < 25, tf.logical_not(tf.reduce_all(finished))
        ),
        body,
        [
            0,
            logits_array,
            ids_array,
            tf.gather(embedding, start),
            start,
            tf.zeros_like(start, tf.bool),
            tf.zeros_like(start),
        ],
    )
    return [out[1].stack(), tf.transpose(out[2].stack()), out[6]], [{"start:0": [1, 2, 3, 4]}]


def attention_decoder(tf: Any) -> Program:
    """An attention decoder in a loop, its outputs and alignments in TensorArrays, trained."""
    units = 12
    memory = tf.placeholder(tf.float32, [None, None, units], name="memory")
    targets = tf.placeholder(tf.float32, [None, None, units], name="targets")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=tf.constant_initializer(0.08))
    wq, wm, v = (
        tf.get_variable(n, initializer=values(*s, seed=i))
        for i, (n, s) in enumerate([("q", (units, units)), ("m", (units, units)), ("v", (units,))])
    )
    keys = tf.tensordot(memory, wm, 1)
    steps = tf.shape(targets)[1]
    inputs = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(targets, [1, 0, 2]))
    mask = tf.sequence_mask(lengths, tf.shape(memory)[1])

    def body(t, state, context, outputs, alignments):
        output, state = cell(tf.concat([inputs.read(t), context], 1), state)
        score = tf.reduce_sum(v * tf.tanh(keys + tf.expand_dims(tf.matmul(output, wq), 1)), 2)
        score = tf.where(mask, score, tf.fill(tf.shape(score), -1e9))
        alignment = tf.nn.softmax(score)
        context = tf.squeeze(tf.matmul(tf.expand_dims(alignment, 1), memory), 1)
        return (
            t + 1,
            state,
            context,
            outputs.write(t, tf.concat([output, context], 1)),
            alignments.write(t, alignment),
        )

    zero = tf.zeros([tf.shape(memory)[0], units])
    _, _, _, outputs, alignments = tf.while_loop(
        lambda t, *_: t < steps,
        body,
        [0, zero, zero, tf.TensorArray(tf.float32, steps), tf.TensorArray(tf.float32, steps)],
    )
    out = tf.transpose(outputs.stack(), [1, 0, 2])
    loss = tf.reduce_mean(tf.square(out - tf.concat([targets, targets], 2)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [loss, train, out, alignments.stack()], [
        {
            "memory:0": values(3, 8, units),
            "targets:0": values(3, 5, units, seed=1),
            "lengths:0": [8, 3, 5],
        }
    ]


DECODERS = [gpt2_sampling, greedy_decoder, beam_search, raw_rnn, dynamic_decode, attention_decoder]
