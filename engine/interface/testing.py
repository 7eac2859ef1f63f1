# SPDX-License-Identifier: Apache-2.0
"""`tf.test`: a TestCase with sessions and numeric assertions, for programs' own tests."""

from __future__ import annotations

import random
import re
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from absl.testing import absltest

from .. import errors
from ..graph import defaults, seed
from ..graph.graph import Graph
from ..graph.tensor import IndexedSlicesValue, SparseTensorValue
from ..session.device_placement import gpus
from ..session.session import Session

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
    import os

    return os.path.join(os.getcwd(), relative_path)


def main(argv: list[str] | None = None) -> None:
    """Runs the tests of the main program, as unittest.main: what stands at the end of a test file.

    With `--benchmarks=<regular expression>` on the command line benchmarks are run instead.

    Args:
        argv: the command line; that of the process if None.

    Raises:
        SystemExit: when all tests are done.

    Example:
        >>> if __name__ == "a test file":
        ...     tf.test.main()
    """
    from .benchmark import benchmarks_main

    benchmarks_main(lambda: unittest.main(argv=argv), argv)


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


class TestCase(absltest.TestCase):
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

    def _value(self, value: TensorLike) -> Any:
        if isinstance(value, (IndexedSlicesValue, SparseTensorValue)):
            return value
        if hasattr(value, "graph") or hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        return value

    def assertAllClose(  # noqa: N802 - TensorFlow's name
        self,
        a: TensorLike,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        msg: str | None = None,
    ) -> None:
        """Asserts that arrays are equal but for small differences.

        Args:
            a: what was expected: an array, a number, a Tensor, or a structure of such.
            b: what was found, alike.
            rtol: how much of the numbers of `b` they may differ.
            atol: by how much they may differ besides.
            msg: a text to be shown.

        Raises:
            AssertionError: they differ by more, or in shape.
        """
        a, b = self._value(a), self._value(b)
        if isinstance(a, Mapping):
            self.assertCountEqual(a, b, msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
            return
        try:
            x, y = np.asarray(a), np.asarray(b)
        except ValueError:
            x = y = np.empty((), object)
        if x.dtype == object and isinstance(a, (list, tuple)):
            self.assertEqual(len(a), len(b), msg)
            for one, other in zip(a, b):
                self.assertAllClose(one, other, rtol, atol, msg)
            return
        if x.dtype == np.float16 or y.dtype == np.float16:
            rtol, atol = max(rtol, 1e-3), max(atol, 1e-3)
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: {x.shape} and {y.shape}. {msg or ''}")
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=msg or "", equal_nan=True)

    def assertAllEqual(self, a: bytes | str, b: bytes | str, msg: str | None = None) -> None:  # noqa: N802
        """Asserts that arrays are equal; what is not a number equals itself.

        Args:
            a: what was expected: an array, a number or a Tensor.
            b: what was found, alike.
            msg: a text to be shown.

        Raises:
            AssertionError: they differ.
        """
        x, y = np.asarray(self._value(a)), np.asarray(self._value(b))
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: {x.shape} and {y.shape}. {msg or ''}")
        if x.dtype.kind in "OSU" or y.dtype.kind in "OSU":
            self.assertEqual(_texts(x), _texts(y), msg)
            return
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertAllCloseAccordingToType(  # noqa: N802 - TensorFlow's name
        self,
        a: TensorLike,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with tolerances by type."""
        x, y = np.asarray(self._value(a)), np.asarray(self._value(b))
        kinds = {x.dtype.name, y.dtype.name}
        for name, r, t in (
            ("float32", float_rtol, float_atol),
            ("complex64", float_rtol, float_atol),
            ("float16", half_rtol, half_atol),
            ("bfloat16", bfloat16_rtol, bfloat16_atol),
        ):
            if name in kinds:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(x, y, rtol, atol, msg)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:  # noqa: N802
        """Asserts that two vectors are within `err` of each other."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2):
            self.assertNear(float(x), float(y), err, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Asserts that two numbers are within `err` of each other."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err} {msg or ''}")

    def assertNDArrayNear(  # noqa: N802
        self, ndarray1: object, ndarray2: object, err: float, msg: str | None = None
    ) -> None:
        """Asserts that the Euclidean distance of two arrays is at most `err`."""
        distance = float(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)))
        self.assertTrue(distance <= err, f"distance {distance} > {err}: {msg or ''}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:  # noqa: N802
        """Asserts that a tensor has the static shape of an array."""
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(), msg)

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

    # Gone from unittest in newer Pythons, used by TensorFlow 1 programs.
    assertItemsEqual = unittest.TestCase.assertCountEqual
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex
    assertRegexpMatches = unittest.TestCase.assertRegex
    assertEquals = unittest.TestCase.assertEqual


def _texts(array: np.ndarray) -> list[Any]:
    return [x.decode() if isinstance(x, bytes) else x for x in array.ravel().tolist()]
