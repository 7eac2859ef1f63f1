# SPDX-License-Identifier: Apache-2.0
"""`tf.test`: a TestCase with sessions and numeric assertions, for programs' own tests."""

from __future__ import annotations

import os
import random
import re
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from absl.testing import absltest

from .. import errors
from ..graph import defaults, seed
from ..graph.graph import Graph
from ..session.device_placement import gpus
from ..session.session import Session
from .array_assertions import ArrayAssertions

if TYPE_CHECKING:
    from ..graph.annotations import TensorLike

__all__ = ["mock"]


def get_temp_dir() -> str:
    """A folder for the files of tests."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="numbaflow_test_")
    return _folder


_folder: str | None = None


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether sessions of this process have a GPU.

    Args:
        cuda_only: taken; all GPUs are CUDA's.
        min_cuda_compute_capability: (major, minor) that one must have at least.
    """
    del cuda_only
    least = min_cuda_compute_capability or (0, 0)
    found = (device.capability for device in gpus())
    return any((has.major, has.minor) >= least for has in found)


def is_built_with_cuda() -> bool:
    """Whether CUDA is there, for which a GPU is needed."""
    return bool(gpus())


def is_built_with_rocm() -> bool:
    """False: there is nothing for AMD's GPUs."""
    return False


def is_built_with_xla() -> bool:
    """False: graphs are compiled without XLA."""
    return False


is_built_with_gpu_support = is_built_with_cuda


def gpu_device_name() -> str:
    """The name of the first GPU, "/device:GPU:0"; "" if there is none."""
    return "/device:GPU:0" if gpus() else ""


def test_src_dir_path(relative_path: str) -> str:
    """A path relative to the working directory."""
    return os.path.join(os.getcwd(), relative_path)


def main(argv: list[str] | None = None) -> None:
    """Runs the tests of the main program: what stands at the end of a test file.

    The command line's flags are parsed before, as `tf.app.run` does; what is left, names of tests
    and unittest's options, goes to absl's tests.  With `--benchmarks=<regular expression>`
    benchmarks are run instead.  The process ends with them.

    Args:
        argv: the command line; that of the process if None.

    Example:
        >>> if __name__ == "a test file":
        ...     tf.test.main()
    """
    from .benchmark import benchmarks_main
    from .flags import run

    benchmarks_main(lambda: run(lambda rest: absltest.main(argv=rest), argv), argv)


def assert_equal_graph_def(
    actual: Any,
    expected: Any,
    checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:
    """Asserts that two GraphDefs hold the same nodes, in whatever order.

    The order of control inputs and attributes that begin with "_" do not count.

    Args:
        checkpoint_v2: the random names of temporary files in savers do not count.
        hash_table_shared_name: the random names by which hash tables are shared do not count.
    """
    for which, graph in (("actual", actual), ("expected", expected)):
        if type(graph).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {which}, got {type(graph).__name__}")
    first, second = (
        {node.name: _compared(node, checkpoint_v2, hash_table_shared_name) for node in graph.node}
        for graph in (actual, expected)
    )
    if first != second:
        names = sorted(n for n in {*first, *second} if first.get(n) != second.get(n))
        raise AssertionError(f"the graphs differ in {', '.join(names[:20])}")


_TEMPORARY_FILE = re.compile(rb"_temp_[0-9a-z]{32}/part")
_RANDOM_TABLE = re.compile(rb"hash_table_[0-9a-z\-]+")


def _compared(node: Any, checkpoint_v2: bool, hash_table_shared_name: bool) -> Any:
    """A copy of a node without what does not count."""
    copy = type(node)()
    copy.CopyFrom(node)
    data = [name for name in node.input if not name.startswith("^")]
    del copy.input[:]
    copy.input.extend(data + sorted(name for name in node.input if name.startswith("^")))
    for key, value in node.attr.items():
        texts = value.tensor.string_val
        is_file = len(texts) == 1 and _TEMPORARY_FILE.match(texts[0])
        is_table = key == "shared_name" and _RANDOM_TABLE.match(value.s)
        if (
            key.startswith("_")
            or (checkpoint_v2 and is_file)
            or (hash_table_shared_name and is_table)
        ):
            del copy.attr[key]
    return copy


class StubOutForTesting:
    """Replaces attributes for the time of a test."""

    def __init__(self) -> None:
        self._old: list[tuple[Any, str, Any]] = []

    def Set(self, parent: object, child_name: str, new_child: object) -> None:  # noqa: N802
        """Replaces parent.child_name."""
        self._old.append((parent, child_name, getattr(parent, child_name)))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj: object, attr_name: str, new_attr: object) -> None:  # noqa: N802
        """Replaces obj.attr_name."""
        self.Set(obj, attr_name, new_attr)

    def UnsetAll(self) -> None:  # noqa: N802 - TensorFlow's name
        """Puts everything back."""
        for parent, name, value in reversed(self._old):
            setattr(parent, name, value)
        self._old.clear()

    SmartUnsetAll = CleanUp = UnsetAll


def _new_session(graph: Graph | None, config: Any, force_gpu: bool) -> Session:
    """A session that may place operations elsewhere than asked for, unless a GPU is demanded."""
    from ...io import protos

    if config is None:
        config = protos.ConfigProto(allow_soft_placement=not force_gpu)
    elif force_gpu and config.allow_soft_placement:
        config = protos.ConfigProto(allow_soft_placement=False)
    return Session(graph=graph, config=config)


@contextmanager
def _placed(sess: Session, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    """A session and its graph as default ones, and the device of operations made within."""
    with sess.graph.as_default(), sess.as_default():
        if use_gpu and not force_gpu:
            yield
            return
        name = (gpu_device_name() or "/device:GPU:0") if force_gpu else "/device:CPU:0"
        with sess.graph.device(name):
            yield


class TestCase(ArrayAssertions):
    """A test case of absl with a fresh default graph and fixed seeds for every test.

    `self.session()` and `self.cached_session()` are contexts with a session.  There are assertions
    on arrays and errors besides absl's: `assertAllClose`, `assertRaisesOpError` …

    Args:
        methodName: the name of the method that is the test.

    Example:
        >>> class AddTest(tf.test.TestCase):
        ...     def test_adds(self):
        ...         with self.session():
        ...             self.assertAllEqual(tf.add([1, 2], 3).eval(), [4, 5])
        >>> AddTest("test_adds").run().wasSuccessful()
        True
    """

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803 - unittest's name
        super().__init__(methodName)
        # Not in setUp: tests have their own, which need not call this class's.
        self._cached: Session | None = None
        self._cached_for: tuple[Any, Any, bool] = (None, None, False)
        self._folder: str | None = None

    def setUp(self) -> None:  # noqa: N802 - unittest's name
        super().setUp()
        self._close_cached()
        random.seed(87654321)
        np.random.seed(87654321)
        defaults.graphs.reset()
        seed.set_random_seed(87654321)

    def tearDown(self) -> None:  # noqa: N802 - unittest's name
        self._close_cached()

    def _close_cached(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder for this test's files."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    @contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: object = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A new session as the default one; operations made within are placed as asked for."""
        with (
            _new_session(graph, config, force_gpu) as sess,
            _placed(sess, use_gpu, force_gpu),
        ):
            yield sess

    @contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: object = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """One session for the whole test, as the default one; ValueError for other arguments."""
        sess = self._get_cached_session(graph, config, force_gpu)
        with _placed(sess, use_gpu, force_gpu):
            yield sess

    def _get_cached_session(
        self,
        graph: Graph | None = None,
        config: object = None,
        force_gpu: bool = False,
        crash_if_inconsistent_args: bool = True,
    ) -> Session:
        asked = (graph, config, force_gpu)
        if self._cached is None:
            self._cached, self._cached_for = _new_session(*asked), asked
        elif crash_if_inconsistent_args:
            for what, new, old in zip(
                ("graph", "config", "force_gpu value"), asked, self._cached_for
            ):
                if new is not old:
                    raise ValueError(
                        f"The {what} used to get the cached session is different than the one that "
                        "was used to create the session. Maybe create a new session with "
                        "self.session()"
                    )
        return self._cached

    def test_session(
        self,
        graph: Graph | None = None,
        config: object = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Any:
        """The cached session, whatever its arguments were, or a new one for another graph."""
        if self.id().endswith(".test_session"):
            # Runners take it for a test, by its name.
            self.skipTest("Not a test.")
        if graph is not None:
            return self.session(graph, config, use_gpu, force_gpu)
        return self._shared_session(config, use_gpu, force_gpu)

    @contextmanager
    def _shared_session(self, config: object, use_gpu: bool, force_gpu: bool) -> Iterator[Session]:
        sess = self._get_cached_session(None, config, force_gpu, False)
        with _placed(sess, use_gpu, force_gpu):
            yield sess

    def evaluate(self, tensors: TensorLike) -> Any:
        """The values of tensors, in the default session."""
        sess = defaults.get_default_session()
        if sess is not None:
            return sess.run(tensors)
        with self.cached_session() as cached:
            return cached.run(tensors)

    def assertProtoEquals(  # noqa: N802
        self, expected_message_maybe_ascii: object, message: object, msg: str | None = None
    ) -> None:
        """Asserts that a message equals another, or the text form of one."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format

            text = expected
            expected = type(message)()
            text_format.Merge(text, expected)
        self.assertEqual(expected, message, msg)

    def assertProtoEqualsVersion(  # noqa: N802
        self,
        expected: str | bytes,
        actual: object,
        producer: int = 134,
        min_consumer: int = 0,
        msg: str | None = None,
    ) -> None:
        """Asserts that a GraphDef has a text form, and versions: those of graphs made here."""
        text = expected.decode() if isinstance(expected, bytes) else expected
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }}"
        self.assertProtoEquals(f"{text}\n{versions}", actual, msg)

    def assertStartsWith(  # noqa: N802
        self, actual: str, expected_start: str, msg: str | None = None
    ) -> None:
        """Asserts that a text begins with another."""
        failure = msg or f"{actual!r} / {expected_start!r}"
        self.assertTrue(actual.startswith(expected_start), failure)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:  # noqa: N802
        """Asserts that two device names mean the same."""
        from ..graph.devices import canonical_name

        self.assertEqual(canonical_name(device1), canonical_name(device2), msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override] # noqa: N802 - TensorFlow's name
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], bool]
    ) -> Iterator[None]:
        """Asserts that an exception is raised which fits a pattern or predicate."""
        try:
            yield
        except exception_type as error:
            wanted = expected_err_re_or_predicate
            text = error.message if isinstance(error, errors.OpError) else str(error)
            fits = wanted(error) if callable(wanted) else re.search(wanted, text)
            self.assertTrue(fits, f"unexpected message: {text}")
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:  # noqa: N802
        """Asserts that an OpError is raised which fits."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def checkedThread(  # noqa: N802
        self,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> CheckedThread:
        """A thread of the test, to be started and joined: `join` fails if `target` raised."""
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self.addCleanup(thread.check_termination)
        return thread

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:  # noqa: N802
        """What is written within to a file such as sys.stderr, by whatever means, as `contents()`.

        Args:
            stream: a file of the system's, with a descriptor.
        """
        number = stream.fileno()
        path = os.path.join(tempfile.mkdtemp(dir=get_temp_dir()), "writes")
        stream.flush()
        kept = os.dup(number)
        try:
            with open(path, "wb") as file:
                os.dup2(file.fileno(), number)
                try:
                    yield CapturedWrites(path)
                finally:
                    stream.flush()
                    os.dup2(kept, number)
        finally:
            os.close(kept)

    # Gone from unittest in newer Pythons, used by TensorFlow 1 programs.
    assertItemsEqual = unittest.TestCase.assertCountEqual
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex
    assertRegexpMatches = unittest.TestCase.assertRegex
    assertEquals = unittest.TestCase.assertEqual


class CapturedWrites:
    """What was written to a stream: see `TestCase.captureWritesToStream`."""

    def __init__(self, capture_location: str) -> None:
        self.capture_location = capture_location

    def contents(self) -> str:
        """All of it so far, as text."""
        with open(self.capture_location, encoding="utf-8", errors="replace") as file:
            return file.read()


class CheckedThread:
    """A thread whose errors are those of the test: see `TestCase.checkedThread`."""

    def __init__(
        self,
        test: unittest.TestCase,
        target: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._test, self._is_joined = test, False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(target, args, kwargs))

    def _run(
        self, target: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Starts it."""
        self._thread.start()

    def join(self) -> None:
        """Waits for its end; AssertionError if it ended by an exception."""
        self._is_joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """AssertionError if nobody joined it, by the end of the test."""
        if not self._is_joined:
            self._test.fail("A checked thread was not joined.")
