# SPDX-License-Identifier: Apache-2.0
"""What `tf.test.TestCase` asserts of arrays, and of tensors by their values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from absl.testing import absltest

from ..graph.tensor import IndexedSlicesValue, SparseTensorValue

if TYPE_CHECKING:
    from ..graph.annotations import DTypeLike, TensorLike

# So many of the elements that are not as they should be are shown.
_SHOWN = 10


class ArrayAssertions(absltest.TestCase):
    """A test case of absl with assertions on arrays; `evaluate` gives the values of tensors."""

    def evaluate(self, tensors: TensorLike) -> Any:
        """The values of tensors."""
        raise NotImplementedError("a test case says in which session tensors are evaluated")

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

    def assertNotAllEqual(self, a: TensorLike, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Asserts that arrays differ in an element or in shape."""
        self._assert_fails(self.assertAllEqual, "equal at all elements", a, b, msg)

    def assertNotAllClose(self, a: TensorLike, b: Any, **kwargs: Any) -> None:  # noqa: N802
        """Asserts that `assertAllClose`, with these keywords, fails."""
        self._assert_fails(self.assertAllClose, "close at all elements", a, b, **kwargs)

    def _assert_fails(self, check: Callable[..., None], what: str, *args: Any, **kw: Any) -> None:
        try:
            check(*args, **kw)
        except AssertionError:
            return
        raise AssertionError(f"The two values are {what}")

    def assertAllGreater(self, a: TensorLike, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are greater than a number."""
        self._assert_each(a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllLess(self, a: TensorLike, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are less than a number."""
        self._assert_each(a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllGreaterEqual(self, a: TensorLike, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are at least a number."""
        self._assert_each(a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLessEqual(self, a: TensorLike, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are at most a number."""
        self._assert_each(a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(  # noqa: N802
        self,
        target: TensorLike,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Asserts that all elements lie between two numbers.

        Args:
            target: an array or a Tensor of integers or floats, none of them NaN.
            lower_bound: the least one.
            upper_bound: the greatest one.
            open_lower_bound: whether `lower_bound` itself is too little.
            open_upper_bound: whether `upper_bound` itself is too much.
        """
        array = np.asarray(self._value(target))
        if array.dtype.kind not in "iuf":
            raise AssertionError(
                f"The value of {target!r} does not have an ordered numeric type, "
                f"instead it has type: {array.dtype}"
            )

        def is_within(x: np.ndarray) -> np.ndarray:
            above = x > lower_bound if open_lower_bound else x >= lower_bound
            return above & (x < upper_bound if open_upper_bound else x <= upper_bound)

        first, last = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        where = f"in the range {first}{lower_bound}, {upper_bound}{last}"
        self._assert_each(array, is_within, where)

    def assertAllInSet(self, target: TensorLike, expected_set: Collection[Any]) -> None:  # noqa: N802
        """Asserts that all elements are among those of a list, tuple or set."""
        known = list(expected_set)
        self._assert_each(target, lambda x: np.isin(x, known), f"in the set {expected_set}")

    def _assert_each(
        self, value: Any, is_right: Callable[[np.ndarray], np.ndarray], what: str
    ) -> None:
        """AssertionError, naming them, if elements are not what they should be; NaN never is."""
        array = np.asarray(self._value(value))
        wrong = np.argwhere(~np.asarray(is_right(array)))
        if len(wrong):
            shown = [f"  {place.tolist()}: {array[tuple(place)]}" for place in wrong[:_SHOWN]]
            more = ["  ..."] if len(wrong) > _SHOWN else []
            head = f"{len(wrong)} of the {array.size} element(s) are not {what}:"
            raise AssertionError("\n".join([head, *shown, *more]))

    def assertDTypeEqual(self, target: TensorLike, expected_dtype: DTypeLike) -> None:  # noqa: N802
        """Asserts that an array, or the value of a Tensor, is of a dtype."""
        self.assertEqual(np.asarray(self._value(target)).dtype, expected_dtype)


def _texts(array: np.ndarray) -> list[Any]:
    return [x.decode() if isinstance(x, bytes) else x for x in array.ravel().tolist()]
