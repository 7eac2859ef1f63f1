# SPDX-License-Identifier: Apache-2.0
"""Sizes that only a run tells are taken for equal where they are compared, and the run looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def turns(steps: tf.Tensor) -> tf.Tensor:
    """1, 2, 4 …: a vector whose size is the number of turns that a loop makes."""
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    _, _, array = tf.while_loop(
        lambda i, *_: i < steps,
        lambda i, x, a: (i + 1, x * 2, a.write(i, x)),
        (0, 1.0, array),
    )
    return array.stack()


def runs(fetches: list[tf.Tensor], feeds: list[dict[tf.Tensor, object]]) -> int:
    """Compares compiled runs with those by reference kernels; how many plans they came to."""
    with settings.override(jit="never"), tf.Session() as session:
        want = [session.run(fetches, feed) for feed in feeds]
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, fetches, [], list(feeds[0]))
        assert isinstance(run, runner.Runner)
        for feed, results in zip(feeds, want, strict=True):
            got = run([np.asarray(value, t.dtype.as_numpy_dtype) for t, value in feed.items()])
            for actual, expected in zip(got, results, strict=True):
                np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
        return 1 + len(list(run.later_plans()))


def test_a_sum_with_what_is_fed_is_one_plan() -> None:
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    made = turns(steps)
    results = [tf.reduce_sum(made * fed), tf.concat([made[:, None], fed[:, None]], 1)]
    feeds = [{steps: n, fed: RNG.standard_normal(n)} for n in (4, 7, 3)]
    assert runs(results, feeds) == 1


def test_a_slice_up_to_a_measured_size_is_one_plan() -> None:
    """What a decoder does with its targets: `targets[:, :tf.shape(logits)[1]]`."""
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2, None])
    made = turns(steps)
    results = [tf.square(fed[:, : tf.shape(made)[0]] - made), fed[:, : tf.size(made)] * 2]
    feeds = [{steps: n, fed: RNG.standard_normal((2, size))} for n, size in ((4, 4), (3, 8))]
    assert runs(results, feeds) == 1


def test_sizes_that_turn_out_to_differ_are_broadcast_or_refused() -> None:
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    added = turns(steps) + fed
    feeds = [{steps: n, fed: RNG.standard_normal(size)} for n, size in ((4, 4), (1, 5), (3, 1))]
    assert runs([added], feeds) > 1
    with settings.override(jit="always"), tf.Session() as session:
        session.run(added, feeds[0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            session.run(added, {steps: 3, fed: np.ones(4)})
        np.testing.assert_array_equal(session.run(added, {steps: 2, fed: [1, 1]}), [2, 3])


def test_nothing_is_done_twice_where_an_assumption_fails() -> None:
    """Effects come behind the look, or nothing is assumed."""
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
    with tf.control_dependencies([tf.assign_add(count, 1.0)]):
        made = turns(steps)
    total = tf.reduce_sum(made + fed)
    with settings.override(jit="always"), tf.Session() as session:
        session.run(count.initializer)
        for number, (n, size) in enumerate(((4, 4), (1, 5), (6, 1), (3, 3)), 1):
            session.run(total, {steps: n, fed: np.ones(size)})
            assert session.run(count) == number


def test_a_loop_compares_sizes_from_outside() -> None:
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    made = turns(steps)
    _, summed = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, total: (i + 1, total + tf.reduce_sum(made * fed) * tf.cast(i, tf.float32)),
        (0, 0.0),
    )
    feeds = [{steps: n, fed: RNG.standard_normal(n)} for n in (4, 6)]
    assert runs([summed], feeds) == 1


def test_levels_of_a_pyramid_of_which_some_are_empty_are_one_plan() -> None:
    """Boxes are sorted by size, cropped from pictures of several scales, and put in order again."""
    boxes, levels = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    pictures = [tf.constant(RNG.uniform(0, 1, (1, n, n, 2)), tf.float32) for n in (8, 4, 2)]
    chosen = tf.boolean_mask(tf.concat([boxes, levels_of(levels)], 1), levels >= 0)
    parts, order = [], []
    for level, picture in enumerate(pictures):
        at = tf.where(tf.equal(chosen[:, 4], level))
        some = tf.gather_nd(chosen[:, :4], at)
        order.append(tf.cast(at, tf.int32))
        parts.append(
            tf.image.crop_and_resize(picture, some, tf.zeros([tf.shape(some)[0]], tf.int32), [3, 3])
        )
    behind = tf.concat(order, 0)[:, 0]
    cropped = tf.gather(tf.concat(parts, 0), tf.nn.top_k(-behind, tf.shape(behind)[0]).indices)
    flat = tf.layers.flatten(tf.reshape(cropped, [-1, 3, 3, 2]))
    results = [flat, *tf.gradients(tf.square(flat), pictures)]
    feeds = [
        {boxes: RNG.uniform(0, 1, (6, 4)), levels: some}
        for some in ([0, 1, 2, 2, 0, 1], [0, -1, 0, 1, 1, 0], [2, 0, 0, -1, -1, 2])
    ]
    assert runs(results, feeds) == 1


def levels_of(levels: tf.Tensor) -> tf.Tensor:
    """Numbers of levels as a column beside boxes."""
    return tf.cast(levels, tf.float32)[:, None]


def test_experts_are_given_their_share_and_put_together_in_one_plan() -> None:
    """Some experts have nothing to do in a run, and others as much as each other."""
    x, marks = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), marks, 3)
    shares = tf.dynamic_partition(x, marks, 3)
    made = [tf.tanh(share) * (i + 1.0) for i, share in enumerate(shares)]
    together = tf.reshape(tf.dynamic_stitch(places, made), [-1, 3])
    flags = tf.dynamic_stitch(places, [share[:, 0] > 0 for share in shares])
    results = [together + x, flags, *tf.gradients(tf.square(together), [x])]
    feeds = [
        {x: RNG.standard_normal((6, 3)), marks: some}
        for some in ([0, 1, 2, 2, 2, 1], [0, 0, 0, 1, 1, 1], [2, 0, 2, 0, 1, 1], [1] * 6)
    ]
    assert runs(results, feeds) == 1


def test_what_is_stitched_twice_is_what_came_last() -> None:
    first, second = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [2])
    rows = [tf.cast(first, tf.float32), tf.constant([7.0, 8.0])]
    feeds = [{first: some, second: [1, 0]} for some in ([0, 1, 3], [1, 1], [], [2])]
    assert runs([tf.dynamic_stitch([first, second], rows)], feeds) == 1


def test_a_place_below_zero_is_refused_by_its_number() -> None:
    at = tf.placeholder(tf.int32, [None])
    made = tf.dynamic_stitch([at], [tf.cast(at, tf.float32)])
    with settings.override(jit="always"), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[-2\] is out of range"):
            session.run(made, {at: [1, -2, 4]})


def test_classes_that_are_drawn_by_accident_are_found_in_one_plan() -> None:
    """As many as there are, which may be none; of a class that is drawn twice the last place."""
    true, drawn = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64, [5])
    rows, places, weights = tf.nn.compute_accidental_hits(true, drawn, 2)
    logits = tf.sparse_to_dense(
        tf.stack([tf.cast(rows, tf.int64), places], 1), [4, 5], weights, validate_indices=False
    )
    feeds = [
        {true: some, drawn: [3, 1, 4, 1, 5]}
        for some in (
            [[1, 2], [3, 9], [5, 1], [0, 0]],
            [[0, 0]] * 4,
            [[1, 1], [9, 9], [9, 5], [7, 8]],
            [[8, 4], [9, 9], [9, 9], [7, 8]],
        )
    ]
    assert runs([rows, places, logits], feeds) == 1


def test_only_what_a_run_finds_to_be_otherwise_is_doubted() -> None:
    """What was taken for granted before, and is so, is no reason for another plan."""
    steps, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    other = tf.placeholder(tf.float32, [None])
    chosen, roots = (tf.boolean_mask(x, other > 0) for x in (other, tf.sqrt(tf.abs(other))))
    first = chosen * roots
    made = turns(steps + tf.cast(tf.reduce_sum(first) * 0, tf.int32)) + fed
    sizes = [(4, 4), (1, 5), (4, 4), (5, 5)]
    feeds = [
        {steps: n, fed: RNG.standard_normal(size), other: RNG.uniform(-1, 1, 9)}
        for n, size in sizes
    ]
    assert runs([first, tf.tanh(made)], feeds) == 2


def test_nothing_is_cut_out_of_what_is_chosen_by_one_plan() -> None:
    """As where an expert that nobody was sent to has its gradient."""
    x, w = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
    chosen = tf.where(x[:, 0] > 0)[:, 0]
    rows = tf.gather(x, chosen) * tf.gather(w, chosen)[:, None]
    y = tf.scatter_nd(chosen[:, None], tf.square(rows), tf.shape(x, out_type=tf.int64))
    positive, negative = np.ones((4, 3)), -np.ones((4, 3))
    some = np.array([[1.0, 2, 3], [-1, 2, 3]])
    feeds = [{x: given, w: np.arange(1.0, 1 + len(given))} for given in (positive, negative, some)]
    found = [y, *map(tf.convert_to_tensor, tf.gradients(y, [x, w]))]
    assert runs(found, feeds) == 1


def test_a_size_that_is_padded_along_no_axis_stays_one() -> None:
    """What object detectors do with the number of boxes, as with all that they cut or pad."""
    fed = tf.placeholder(tf.float32, [None, 2])
    count = tf.shape(tf.boolean_mask(fed, fed[:, 0] > 0))[0]
    padded = tf.pad(count, tf.zeros([0, 2], tf.int32))
    rows = tf.ones(tf.stack([padded, 2])) * 3
    text = tf.pad(tf.as_string(count), tf.zeros([0, 2], tf.int32))
    feeds = [{fed: RNG.standard_normal((n, 2))} for n in (6, 9, 5)]
    with tf.Session() as session:
        for feed in feeds:
            want = int((feed[fed][:, 0].astype(np.float32) > 0).sum())
            got = session.run([padded, rows, text], feed)
            assert got[0] == want and got[1].shape == (want, 2) and got[2] == b"%d" % want
