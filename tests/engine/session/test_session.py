# SPDX-License-Identifier: Apache-2.0
"""Sessions: fetch structures, feeds, errors, partial runs, callables."""

from __future__ import annotations

import collections
import contextvars
import threading
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.graph.build import define
from numbaflow.engine.session import fetches
from numbaflow.io import protos

pytestmark = pytest.mark.programs


def test_fetch_structures() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")
    Pair = collections.namedtuple("Pair", "x y")
    with tf.Session() as session:
        value = session.run(a)
        assert type(value) is np.float32 and value == 1.0
        assert session.run([a, b.op, "b:0"])[1] is None
        result = session.run({"p": Pair(a, [b]), "q": (a, a)})
        assert isinstance(result["p"], Pair) and result["p"].y[0].tolist() == [2, 3]
        ordered = session.run(collections.OrderedDict([("z", a), ("a", b)]))
        assert type(ordered) is collections.OrderedDict and list(ordered) == ["z", "a"]
        assert session.run([]) == [] and session.run("a") is None


def test_results_share_no_memory() -> None:
    b = tf.constant([2, 3])
    with tf.Session() as session:
        first = session.run(b)
        first[0] = 99
        assert session.run(b).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("fetch", "error", "text"),
    [
        (None, TypeError, "Fetch argument None has invalid type"),
        ([1], TypeError, "Fetch argument 1 has invalid type .*must be a string or Tensor"),
        ("nope:0", ValueError, "Fetch argument 'nope:0' cannot be interpreted as a Tensor"),
        ("a b", ValueError, "cannot be interpreted as a Tensor"),
    ],
)
def test_bad_fetches(fetch: object, error: type, text: str) -> None:
    tf.constant(1)
    with tf.Session() as session, pytest.raises(error, match=text):
        session.run(fetch)


def test_feeding() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    total = tf.reduce_sum(x)
    with tf.Session() as session:
        assert session.run(total, {x: [[1, 2]]}) == 3.0
        assert session.run(total, {"x:0": np.ones((2, 2))}) == 4.0
        assert session.run([total, x], {total: 7.0, x: [[1, 2]]})[0] == 7.0
        a = tf.constant(1.0)
        assert session.run(a + 1.0, {a: 4.0}) == 5.0
        for feed, error, text in (
            (
                {x: [1, 2]},
                ValueError,
                r"Cannot feed value of shape \(2,\) for Tensor 'x:0', which "
                r"has shape '\(\?, 2\)'",
            ),
            ({x: total}, TypeError, "The value of a feed cannot be a tf.Tensor object"),
            ({"y:0": 1}, TypeError, "Cannot interpret feed_dict key as Tensor: The name 'y:0'"),
            ({tf.Graph(): 1}, TypeError, "Cannot interpret feed_dict key as Tensor"),
        ):
            with pytest.raises(error, match=text):
                session.run(total, feed)


def test_feeds_of_integers_must_fit() -> None:
    x = tf.placeholder(tf.int8, [])
    with tf.Session() as session:
        assert session.run(x + 1, {x: 5}) == 6
        with pytest.raises(TypeError, match="is not compatible with Tensor type"):
            session.run(x, {x: 300})


def test_feeds_of_text_become_bytes() -> None:
    x = tf.placeholder(tf.string)
    y = tf.identity(x)
    with tf.Session() as session:
        assert session.run(y, {x: "é"}) == "é".encode()
        assert session.run(y, {x: [b"a\x00", "b"]}).tolist() == [b"a\x00", b"b"]
        assert session.run(y, {x: np.array(["a", "bc"])}).tolist() == [b"a", b"bc"]


@pytest.mark.parametrize("value", [[1, 2], [None], np.array(["a", 1.5], object), [object()]])
def test_what_is_no_text_is_not_fed_to_strings(value: object) -> None:
    x = tf.placeholder(tf.string, name="words")
    with tf.Session() as session, pytest.raises(tf.errors.InternalError) as caught:
        session.run(tf.identity(x), {x: value})
    assert "Unsupported object type" in str(caught.value)
    assert "'words:0'" in str(caught.value)


def test_callables_of_messages_name_tensors_as_the_runtime_does() -> None:
    x = tf.placeholder(tf.float32, [], "x")
    y = tf.add(x, 1.0, name="y")
    wanted = protos.CallableOptions(feed=["x"], fetch=["y", "y:0"])
    with tf.Session() as session:
        assert session._make_callable_from_options(wanted)(2.0) == [3.0, 3.0]
    assert y.name == "y:0"


def test_feeds_of_structures() -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    sparse = tf.sparse_placeholder(tf.float32)
    with tf.Session() as session:
        for _ in range(2):
            assert session.run(x - y, {(x, y): (5.0, 3.0)}) == 2.0
        value = tf.SparseTensorValue([[0]], [1.5], [2])
        for _ in range(2):
            assert session.run(sparse.values, {sparse: value}).tolist() == [1.5]


def test_missing_feed_names_the_node_and_the_line() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0
    with (
        tf.Session() as session,
        pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"You must feed a value for placeholder tensor 'x' with dtype float and shape "
            r"\[2\]\n\t \[\[node x \(defined at .*test_session.py:\d+\) \]\]",
        ) as caught,
    ):
        session.run(y)
    assert caught.value.op is x.op and caught.value.node_def.name == "x"
    assert 'x = tf.placeholder(tf.float32, [2], name="x")' in str(caught.value)


def test_uninitialized_variables() -> None:
    v = tf.Variable(1.0, name="v")
    with tf.Session() as session:
        with pytest.raises(
            tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v"
        ):
            session.run(v)
        session.run(v.initializer)
        assert session.run(tf.assign_add(v, 2.0)) == 3.0 and v.eval() == 3.0
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError):
        session.run(v)


def test_closed_and_empty_sessions() -> None:
    session = tf.Session(graph=tf.Graph())
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        session.run([])
    session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run([])
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.partial_run_setup([])


def test_default_sessions() -> None:
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="Cannot evaluate tensor using `eval\\(\\)`: No default"):
        x.eval()
    with pytest.raises(ValueError, match="Cannot execute operation using `run\\(\\)`: No default"):
        x.op.run()
    with tf.Session() as session:
        assert tf.get_default_session() is session and x.eval() == 2.0
        with pytest.raises(RuntimeError, match="not re-entrant"):
            session.__enter__()
    other = tf.Session(graph=tf.Graph())
    with pytest.raises(ValueError, match="the tensor's graph is different from the session's"):
        x.eval(session=other)


@pytest.mark.pure
def test_session_arguments() -> None:
    for arguments, text in (
        ({"target": 37}, "target must be a string, but got <class 'int'>"),
        ({"target": tf.ConfigProto()}, r'Did you do "Session\(config\)" instead of'),
        ({"config": 37}, "config must be a tf.ConfigProto, but got <class 'int'>"),
        ({"graph": 37}, "graph must be a tf.Graph, but got <class 'int'>"),
    ):
        with pytest.raises(TypeError, match=text):
            tf.Session(**arguments)
    with pytest.raises(tf.errors.NotFoundError, match='No session factory .*target: "no://x"'):
        tf.Session("no://x")


def test_interactive_session() -> None:
    session = tf.InteractiveSession()
    try:
        assert tf.constant(3).eval() == 3
        with pytest.warns(UserWarning, match="An interactive session is already active"):
            tf.InteractiveSession().close()
    finally:
        session.close()
    assert tf.get_default_session() is None


def test_stateful_operations_run_in_order_of_creation() -> None:
    v = tf.Variable(1.0)
    double = tf.assign(v, v * 2.0)
    add = tf.assign_add(v, 10.0)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run([add.op, double.op])
        assert session.run(v) == 12.0


@pytest.mark.usefixtures("own_ops")
def test_only_what_is_needed_runs() -> None:
    ran: list[int] = []

    def kernel(c: object) -> np.ndarray:
        ran.append(1)
        return np.float32(0)

    noisy = define("NoisyForTest", "-> y: float32", kernel=kernel, stateful=True)()
    x = tf.placeholder_with_default(1.0, []) + 1.0
    y = noisy + x
    with tf.Session() as session:
        session.run(x)
        session.run(y + 1.0, {y: 5.0})
        assert ran == []
        session.run(y)
        assert ran == [1]


def test_control_edges_added_later_are_kept() -> None:
    v = tf.Variable(0.0)
    read = v.read_value()
    write = tf.assign(v, 5.0)
    read.op._add_control_input(write.op)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(read) == 5.0
    write.op._add_control_input(read.op)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle with 2 nodes"),
    ):
        session.run(read)


@pytest.mark.pure
def test_partial_runs() -> None:
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    r1 = a + b
    r2 = r1 * c
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        first = session.partial_run(handle, r1, {a: 1.0, b: 2.0})
        assert first == 3.0
        assert session.partial_run(handle, r2, {c: first * 17}) == 153.0
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="from the feeds that have been fed"
        ):
            session.partial_run(handle, r2, {a: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been fed"):
            session.partial_run(handle, r1, {a: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run("nope", r1, {})


def test_callables() -> None:
    x = tf.placeholder(tf.float32)
    call = tf.Session().make_callable([x * 2.0], feed_list=[x])
    assert call(4.0) == [8.0] and call(5.0) == [10.0]
    with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
        tf.Session().make_callable(x, feed_list=x)


def test_traces() -> None:
    x = tf.constant([1.0, 2.0]) + 1.0
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        assert session.run(x, options=options, run_metadata=metadata).tolist() == [2.0, 3.0]
    names = {node.node_name for node in metadata.step_stats.dev_stats[0].node_stats}
    assert x.op.name in names


def test_concurrent_runs() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    session, wrong = tf.Session(), []

    def work(start: int) -> None:
        for i in range(start, start + 200):
            if session.run(y, {x: float(i)}) != 2.0 * i:
                wrong.append(i)

    # The setting "never compile" belongs to the context, which threads do not inherit.
    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, 1000 * i))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.pure
def test_list_devices() -> None:
    (device,) = tf.Session().list_devices()
    assert device.name.endswith("/device:CPU:0") and device.device_type == "CPU"


@pytest.mark.usefixtures("own_ops")
def test_deadlines_reach_the_kernels() -> None:
    limited = define(
        "LimitedForTest",
        "-> y: bool",
        kernel=lambda c: np.bool_(c.deadline is not None),
        stateful=True,
    )()
    with tf.Session() as session:
        assert not session.run(limited)
        assert session.run(limited, options=tf.RunOptions(timeout_in_ms=1000))
        assert not session.run(limited)


def test_a_graph_that_grows_with_every_run_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant([1.0, 2.0])
    with tf.Session() as session:
        for _ in range(30):
            session.run(x + 1.0)
    (record,) = [r for r in caplog.records if "adds nodes to the graph" in r.getMessage()]
    assert "test_session.py" in record.getMessage()


def test_reset_closes_local_sessions() -> None:
    v = tf.Variable(1.0)
    session = tf.Session()
    session.run(v.initializer)
    tf.Session.reset("")
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        session.run(v)


def test_handles_of_kept_tensors() -> None:
    x = tf.constant([1.0, 2.0]) * 3.0
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(x))
        assert handle.eval().tolist() == [3.0, 6.0]
        assert session.run(tf.constant([0.0, 0.0]) + x, {x: handle}).tolist() == [3.0, 6.0]
        holder, kept = tf.get_session_tensor(handle.handle, tf.float32)
        assert session.run(kept * 2.0, {holder: handle.handle}).tolist() == [6.0, 12.0]
        text = handle.handle
        handle.delete()
        with pytest.raises(TypeError, match="may have already been deleted"):
            handle.eval()
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
            session.run(kept, {holder: text})


def test_objects_with_conversions_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubled:
        def __init__(self) -> None:
            self.x = tf.placeholder(tf.float32, [])

    monkeypatch.setattr(fetches, "_EXPANSIONS", list(fetches._EXPANSIONS))
    fetches.register_session_run_conversion_functions(
        Doubled,
        lambda fetch: ([fetch.x], lambda values: values[0] / 2.0),
        lambda feed, value: [(feed.x, 2.0 * value)],
        lambda feed: [feed.x],
    )
    thing = Doubled()
    with tf.Session() as session:
        for _ in range(2):
            assert session.run([thing, thing.x + 1.0], {thing: 3.0}) == [3.0, 7.0]
    with pytest.raises(ValueError, match="has already been registered"):
        fetches.register_session_run_conversion_functions(Doubled, lambda fetch: fetch)


@pytest.mark.parametrize(
    ("device", "settings", "expected"),
    [
        ("/gpu:0", {}, "was explicitly assigned to /device:GPU:0 but available devices are [ /"),
        ("/gpu:0", {"allow_soft_placement": True}, None),
        ("/cpu:1", {}, "explicitly assigned to /device:CPU:1"),
        ("/cpu:1", {"device_count": {"CPU": 2}}, None),
        ("/job:ps/task:0", {"allow_soft_placement": True}, "explicitly assigned to /job:ps/task:0"),
        ("/task:1", {}, "explicitly assigned to /task:1"),
        ("/job:localhost/replica:0/task:0/device:cpu:0", {}, None),
        ("/device:TPU:0", {}, "Make sure the device specification refers to a valid device."),
    ],
)
def test_a_device_that_does_not_exist(device: str, settings: Any, expected: str | None) -> None:
    other = tf.constant(2.0)
    with tf.Session(config=tf.ConfigProto(**settings)) as session:
        assert session.run(other) == 2.0
        with tf.device(device):
            tf.identity(tf.constant(1.0, name="a"), name="b")
        if expected is None:
            assert session.run("b:0") == 1.0
            return
        for fetch in (other, "b:0", other + 1.0):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(fetch)
            text = str(caught.value)
            assert text.startswith("Cannot assign a device for operation b: {{node b}}")
            assert expected in text


@pytest.mark.pure
def test_partial_runs_of_one_kind_share_nothing_but_their_preparation():
    x, y = tf.placeholder(tf.float32, [], name="x1"), tf.placeholder(tf.float32, [], name="y1")
    a = x + 1.0
    b = a * y
    with tf.Session() as session:
        one, two = (session.partial_run_setup([a, b], [x, y]) for _ in range(2))
        assert session.partial_run(one, a, {x: 1.0}) == 2.0
        assert session.partial_run(two, a, {x: 5.0}) == 6.0
        assert session.partial_run(one, b, {y: 10.0}) == 20.0
        assert session.partial_run(two, b, {y: 10.0}) == 60.0
        c = b - 1.0
        three = session.partial_run_setup([a, c], [x, y])
        assert session.partial_run(three, a, {x: 2.0}) == 3.0
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="from the feeds that have been fed"
        ):
            session.partial_run(three, c)
        assert session.partial_run(three, c, {y: 2.0}) == 5.0
