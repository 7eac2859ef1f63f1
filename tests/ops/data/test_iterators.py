# SPDX-License-Identifier: Apache-2.0
"""Iterators of all kinds: initialized, fed by name, one-shot, saved and restored."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import functions

from .draining import all_of

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_an_iterator_that_was_not_initialized_says_so():
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element)
        session.run(iterator.initializer)
        assert all_of(session, element) == [0, 1, 2]


def test_each_session_reads_a_one_shot_iterator_for_itself():
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    for _ in range(2):
        with tf.Session() as session:
            assert all_of(session, element) == [0, 1, 2]


def test_one_shot_iterators_refuse_variables():
    variable = tf.get_variable("v", [], use_resource=True)
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) * variable)
    with pytest.raises(ValueError, match="does not support datasets that capture stateful"):
        tf.data.make_one_shot_iterator(dataset)


def test_captured_variables_are_read_when_elements_are():
    variable = tf.get_variable("v", initializer=2.0, use_resource=True)
    dataset = tf.data.Dataset.range(2).repeat().map(lambda x: tf.cast(x, tf.float32) + variable)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run([variable.initializer])
        session.run(iterator.initializer)
        first = session.run(element)
        session.run(variable.assign(10.0))
        assert (first, session.run(element)) == (2.0, 11.0)


def test_a_string_chooses_the_iterator_of_a_run():
    datasets = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    iterators = [tf.data.make_one_shot_iterator(dataset) for dataset in datasets]
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        first, second = session.run([iterator.string_handle() for iterator in iterators])
        chosen = [first, second, first, second]
        assert [session.run(element, {handle: h}) for h in chosen] == [0, 10, 1, 11]
        with pytest.raises(tf.errors.OpError):
            session.run(element, {handle: b"nothing"})


def test_an_iterator_of_a_structure_takes_any_dataset_that_fits():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    inits = [iterator.make_initializer(tf.data.Dataset.range(n)) for n in (2, 4)]
    element = iterator.get_next()
    with pytest.raises(TypeError, match="output types"):
        iterator.make_initializer(tf.data.Dataset.from_tensors(1.0))
    with tf.Session() as session:
        for init, count in zip(inits, (2, 4)):
            session.run(init)
            assert len(all_of(session, element)) == count


def _shuffled():
    dataset = tf.data.Dataset.range(40).map(lambda x: x * 3).shuffle(7, seed=3).repeat(2)
    return dataset.batch(3).prefetch(2)


def _nested():
    def inner(x):
        return tf.data.Dataset.range(x, x + 5).map(tf.as_string)

    return tf.data.Dataset.range(9).interleave(inner, 3, 2).padded_batch(4, [])


def _windows():
    dataset = tf.data.Dataset.range(60).map(lambda x: tf.py_func(abs, [x], tf.int64, False), 3)
    dataset = dataset.map(lambda x: tf.reshape(x, [])).filter(lambda x: x % 2 < 1)
    return tf.data.Dataset.zip((dataset.skip(1), dataset.cache())).batch(2)


@pytest.mark.parametrize("make", [_shuffled, _nested, _windows])
def test_a_restored_iterator_goes_on_where_it_was_saved(make, tmp_path):
    def parts():
        iterator = tf.data.make_initializable_iterator(make())
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        return iterator, iterator.get_next(), saver

    path = str(tmp_path / "input")
    iterator, element, saver = parts()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(element)
        saver.save(session, path, write_meta_graph=False)
        expected = all_of(session, element)
    assert len(expected) > 3
    with tf.Graph().as_default():
        iterator, element, saver = parts()
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            found = all_of(session, element)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected):
        np.testing.assert_array_equal(mine, theirs)


def test_optionals_tell_the_end_without_an_error():
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    optional = tf.data.experimental.get_next_as_optional(iterator)
    value = tf.cond(optional.has_value(), optional.get_value, lambda: tf.constant(-1, tf.int64))
    with tf.Session() as session:
        assert [session.run(value) for _ in range(3)] == [0, 1, -1]


def _threads():
    return [t for t in threading.enumerate() if t.name == "numbaflow-data" and t.is_alive()]


def test_threads_end_with_the_session():
    dataset = tf.data.Dataset.range(10**9).map(lambda x: tf.py_func(abs, [x], tf.int64), 4)
    element = tf.data.make_one_shot_iterator(dataset.prefetch(2)).get_next()
    with tf.Session() as session:
        assert session.run(element) == 0
        assert _threads()
    del session
    gc.collect()
    deadline = time.monotonic() + 5
    while _threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _threads()


def test_an_error_is_that_of_its_element_and_others_follow():
    data = np.float32([1, 2, np.nan, 4])
    dataset = tf.data.Dataset.from_tensor_slices(data)
    for parallel in (None, 2):
        checked = dataset.map(lambda x: tf.check_numerics(x, "bad"), parallel).prefetch(1)
        element = tf.data.make_one_shot_iterator(checked).get_next()
        with tf.Session() as session:
            assert [session.run(element) for _ in range(2)] == [1, 2]
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                session.run(element)
            assert session.run(element) == 4


def test_an_error_within_a_block_is_that_of_its_element():
    dataset = tf.data.Dataset.from_tensor_slices(np.int32([1, 2, 0, 4])).map(lambda x: 8 // x)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(2)] == [8, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(element)
        assert session.run(element) == 2


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_iterator_that_was_just_restored_can_be_saved(tmp_path, place):
    def pipeline():
        dataset = tf.data.Dataset.range(30).flat_map(lambda x: tf.data.Dataset.from_tensors(x))
        counted = dataset.map(lambda x: x + tf.py_func(abs, [x * 0 - 1], tf.int64, False), 3)
        iterator = tf.data.make_initializable_iterator(counted)
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator.initializer, iterator.get_next(), tf.train.Saver([saveable])

    found, expected = [], list(range(1, 31))
    for turn in range(6):
        with tf.Graph().as_default(), tf.Session() as session:
            begin, number, saver = pipeline()
            session.run(begin)
            if turn:
                saver.restore(session, str(tmp_path / "iterator"))
            found += [session.run(number) for _ in range(place)]
            saver.save(session, str(tmp_path / "iterator"))
    assert found == expected[: 6 * place]


def test_batches_are_handed_over_and_what_datasets_keep_is_not() -> None:
    slices = tf.data.Dataset.from_tensor_slices(np.arange(6.0))
    kept = slices.batch(3).cache().repeat(3)
    many = tf.data.Dataset.range(600)
    doubled = many.map(lambda x: tf.py_func(lambda y: 2 * y, [x], tf.int64)).batch(600)
    kept_next = tf.data.make_one_shot_iterator(kept).get_next()
    new_next = tf.data.make_one_shot_iterator(doubled).get_next()
    with tf.Session() as sess:
        for start in 0.0, 3.0, 0.0, 3.0, 0.0, 3.0:
            found = sess.run(kept_next)
            assert found.tolist() == [start, start + 1, start + 2]
            found[...] = -1  # what the program does with it changes nothing in the cache
        found = sess.run(new_next)
    assert found.tolist() == list(range(0, 1200, 2))
    # (A copy would own its memory; a batch lies on a boundary of cache lines.)
    assert found.base is not None and found.ctypes.data % 64 == 0


def test_what_is_fetched_can_be_written_to() -> None:
    file = tf.image.encode_png(tf.constant(np.arange(12, dtype=np.uint8).reshape(2, 2, 3)))
    pictures = tf.data.Dataset.from_tensors(file).map(tf.image.decode_png)
    element = tf.data.make_initializable_iterator(pictures)
    with tf.Session() as sess:
        sess.run(element.initializer)
        found = sess.run(element.get_next())
        found[...] = 0
        again = sess.run(tf.image.decode_png(file))
        again[...] = 0


@pytest.fixture
def made(monkeypatch):
    """What runs of functions were made, in order."""
    calls, make = [], functions.caller

    def noted(*given, **how):
        calls.append(1)
        return make(*given, **how)

    monkeypatch.setattr(functions, "caller", noted)
    return calls


def epochs(session, iterator, element, feeds):
    """All elements of one iteration after the other."""
    found = []
    for feed in feeds:
        session.run(iterator.initializer, feed)
        found.append([np.asarray(each).tolist() for each in all_of(session, element)])
    return found


def test_an_iterator_that_begins_anew_makes_no_functions_anew(made):
    x, factor = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [])
    dataset = tf.data.Dataset.from_tensor_slices(x).map(lambda row: tf.nn.relu(row * factor))
    dataset = dataset.filter(lambda row: tf.reduce_sum(row) > 1.0).flat_map(
        lambda row: tf.data.Dataset.from_tensors(row).map(lambda each: each + 1.0)
    )
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    rows = np.array([[1, 2], [0, 0], [3, -4]], np.float32)
    with tf.Session() as session:
        feeds = [{x: rows, factor: 1.0}, {x: rows[:1], factor: 1.0}]
        found = epochs(session, iterator, element, feeds)
        count = len(made)
        assert found == [[[2, 3], [4, 1]], [[2, 3]]]
        assert epochs(session, iterator, element, feeds * 3) == found * 3
        assert len(made) == count > 0
        # (What is captured belongs to the function.)
        feeds[0][factor] = feeds[1][factor] = 10.0
        assert epochs(session, iterator, element, feeds) == [[[11, 21], [31, 1]], [[11, 21]]]
        assert len(made) > count
    with tf.Session() as session:
        assert epochs(session, iterator, element, feeds[:1]) == [[[11, 21], [31, 1]]]


def test_functions_with_state_begin_anew_with_their_iterator():
    dataset = tf.data.Dataset.range(3).map(lambda n: tf.random_uniform([], seed=3) + 0.0)
    noise = np.random.RandomState(1)
    counted = dataset.map(lambda x: tf.py_func(lambda: noise.rand(), [], tf.float64))
    for each, is_same in ((dataset, True), (counted, False)):
        iterator = tf.data.make_initializable_iterator(each)
        element = iterator.get_next()
        with tf.Session() as session:
            first, second = epochs(session, iterator, element, [None, None])
        assert len(first) == 3 and len(set(first)) == 3
        assert (first == second) == is_same


def test_one_function_of_elements_of_several_shapes():
    def doubled(x):
        return x * 2 + tf.reduce_max(x)

    handles = [
        tf.data.Dataset.from_tensor_slices(np.arange(count * 3.0).reshape(count, *shape, 3))
        for count, shape in ((4, ()), (2, (1,)))
    ]
    iterator = tf.data.Iterator.from_structure(tf.float64, tf.TensorShape(None))
    element = iterator.get_next()
    begin = [iterator.make_initializer(each.map(doubled)) for each in handles]
    with tf.Session() as session:
        for _ in range(2):
            for start, shape in zip(begin, ((4, 3), (2, 1, 3))):
                session.run(start)
                found = np.array(all_of(session, element))
                rows = np.arange(np.prod(shape)).reshape(shape).astype(float)
                most = rows.reshape(len(rows), -1).max(1).reshape(-1, *[1] * (rows.ndim - 1))
                np.testing.assert_array_equal(found, rows * 2 + most)


def test_optionals_are_added_and_zeroed() -> None:
    """As gradients of what gives them are: element by element, and nothing stays nothing."""
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        inner = raw.OptionalFromValue(components=[tf.constant(3.0)])
        one = raw.OptionalFromValue(components=[tf.constant([1.0, 2.0]), inner])
        none = raw.OptionalNone()
        kinds = {"output_types": [tf.float32, tf.variant], "output_shapes": [[2], []]}
        inside = {"output_types": [tf.float32], "output_shapes": [[]]}
        for made, want, within in (
            (tf.add_n([one, one]), [2, 4], 6),
            (tf.zeros_like(one), [0, 0], 0),
        ):
            first, second = raw.OptionalGetValue(optional=made, **kinds)
            (third,) = raw.OptionalGetValue(optional=second, **inside)
            found = session.run([first, third])
            np.testing.assert_array_equal(found[0], want)
            assert found[1] == within
        for made in (tf.add_n([none, none]), tf.zeros_like(none)):
            assert not session.run(raw.OptionalHasValue(optional=made))
        with pytest.raises(tf.errors.InvalidArgumentError, match="one has a value"):
            session.run(tf.add_n([one, none]))


def test_an_iterator_that_begins_anew_while_it_is_read() -> None:
    """Who reads gets an element of what was read before, as whoever comes then gets of the new."""
    reached, may_go_on = threading.Event(), threading.Event()

    def numbers() -> Iterator[int]:
        yield 0
        reached.set()
        may_go_on.wait(20)
        yield from itertools.count(1)

    with tf.Graph().as_default(), tf.Session() as session:
        slow = tf.data.Dataset.from_generator(numbers, tf.int64, [])
        iterator = tf.data.Iterator.from_structure(tf.int64, [])
        begin = [iterator.make_initializer(d) for d in (slow, tf.data.Dataset.range(100, 200))]
        element = iterator.get_next()
        session.run(begin[0])
        assert session.run(element) == 0
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(session.run, element)
            assert reached.wait(20)
            session.run(begin[1])
            assert session.run(element) == 100
            may_go_on.set()
            assert second.result(20) == 1
        assert session.run(element) == 101


def test_begun_anew_again_and_again_while_others_read() -> None:
    """None of them finds the iterator without anything to read."""
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(10).repeat().map(lambda x: x * 2, 2).batch(4).prefetch(2)
        iterator = tf.data.make_initializable_iterator(dataset)
        element, is_over = iterator.get_next(), threading.Event()
        session.run(iterator.initializer)

        def read() -> int:
            count = 0
            while not is_over.is_set():
                assert session.run(element).shape == (4,)
                count += 1
            return count

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            for _ in range(50):
                session.run(iterator.initializer)
            is_over.set()
            assert all(reader.result(20) for reader in readers)


@pytest.mark.parametrize("number", range(4))
def test_a_session_that_is_closed_while_it_is_read(number: int) -> None:
    """Whoever reads is told so, and not that a dataset without end is at its end."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(10).repeat().map(lambda x: x * 2, 2).batch(4).prefetch(2)
        iterator = tf.data.make_initializable_iterator(dataset)
        element, session = iterator.get_next(), tf.Session()
        session.run(iterator.initializer)
        have_read = [threading.Event() for _ in range(3)]

        def read(event: threading.Event) -> None:
            while True:
                assert session.run(element).shape == (4,)
                event.set()

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read, event) for event in have_read]
            assert all(event.wait(20) for event in have_read)
            session.close()
            for reader in readers:
                error = reader.exception(20)
                # (Who came too late finds the session closed.)
                assert isinstance(error, (tf.errors.CancelledError, RuntimeError)), error
