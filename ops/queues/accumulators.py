# SPDX-License-Identifier: Apache-2.0
"""Accumulators: gradients of several workers are added up until there are enough of them.

Gradients of a step that is over are dropped (`tf.ConditionalAccumulator` and its sparse sibling).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import IndexedSlices
from ...engine.interface.log import get_logger
from ...engine.session.futures import Future
from ...engine.types import dtypes
from ...engine.types.dtypes import runtime_name
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .. import shape_inference
from ..public import raw, tf
from ..state.shared_state import kept
from .requests import STUCK, Request, RequestQueue

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

_STATE = NoGradient("adds up between runs")
_MAKER = (
    "dtype: numbertype; shape: shape; container: string = ''; shared_name: string = ''; "
    "reduction_type: {'MEAN', 'SUM'} = 'MEAN'"
)
_DTYPES = (dtypes.float16, dtypes.float32, dtypes.float64)

Sparse = tuple[np.ndarray, np.ndarray, np.ndarray]


class Accumulator(RequestQueue):
    """The sum of dense gradients, how many they are, and the present step."""

    def __init__(self, dtype: Any, shape: TensorShape, is_mean: bool) -> None:
        # Only takes wait; adding a gradient never does.
        super().__init__(lines=1)
        self.dtype, self.shape, self.is_mean = dtype, shape, is_mean
        self.count, self.step = 0, 0
        self._sum: Any = None

    def set_step(self, step: int) -> None:
        """Makes a step the present one."""
        with self._lock:
            if step < self.step:
                get_logger().warning(
                    "Request to set current_global_step_ to smaller value: current_global_step_ = "
                    "%d >= %d = new_global_step.",
                    *(self.step, step),
                )
            # Set all the same, as TensorFlow does after its warning.
            self.step = step

    def apply(self, step: int, gradient: Any) -> None:
        """Adds a gradient, unless its step is over."""
        with self._lock:
            # A gradient computed from variables that later steps have changed is stale and would be
            # a step in a direction of the past; it goes without an error (synchronous training with
            # backup workers: arXiv:1604.00981).
            if step >= self.step:
                self._require(gradient)
                self._sum = self._added(gradient) if self.count else self._first(gradient)
                self.count += 1
        self._flush()

    def take(self, wanted: int) -> Future:
        """The average (or sum), once there are so many gradients; begins the next step."""
        if wanted <= 0:
            raise errors.invalid(f"Argument num_required must be positive, but was {wanted}")

        def advance(request: Request) -> int:
            if self.count < wanted:
                return STUCK
            # Gradients for the step that this ends come too late from now on.
            self.step += 1
            result = self._result()
            self.count, self._sum = 0, None
            return request.succeed(result)

        return self._begin(0, "TakeGrad", wanted, advance)

    def _require(self, gradient: Any) -> None:
        wanted = [as_shape(self._sum.shape)] if self.count else []
        for shape in (*wanted, self.shape):
            if not shape.is_compatible_with(gradient.shape):
                raise errors.invalid(
                    f"Shape mismatch: expected {shape_text(shape)}, got "
                    f"{shape_text(gradient.shape)}"
                )

    def _first(self, gradient: Any) -> np.ndarray:
        return np.array(gradient)

    def _added(self, gradient: Any) -> Any:
        return self._sum + gradient

    def _result(self) -> Any:
        return self._sum / self._sum.dtype.type(self.count) if self.is_mean else self._sum


class SparseAccumulator(Accumulator):
    """The sum of slices by their row numbers; a row's mean is over those that have it."""

    def _require(self, gradient: Sparse) -> None:
        rows, values, shape = gradient
        if rows.ndim != 1:
            raise errors.invalid(
                f"Input indices should be vector but received shape: {shape_text(rows.shape)}"
            )
        if not values.ndim:
            raise errors.invalid("Values cannot be 0-dimensional.")
        if len(values) != len(rows):
            raise errors.invalid(f"Expected {len(rows)} non-empty input values, got {len(values)}")
        wanted = self.shape.as_list() if self.shape.ndims else []
        if shape is not None:
            self._require_sizes(wanted, shape.tolist())
        for place, row in enumerate(rows if wanted and wanted[0] is not None else ()):
            if row >= wanted[0]:
                raise errors.invalid(
                    f"Shape mismatch: index of slice {place} exceeded limits of shape; index is "
                    f"{row} exceeded {wanted[0]}"
                )
        self._require_values(wanted, values)

    @staticmethod
    def _require_sizes(wanted: list[int | None], sizes: list[int]) -> None:
        if len(wanted) > len(sizes):
            raise errors.invalid(
                f"Shape mismatch: expected shape rank at least {len(wanted)}, got {len(sizes)}"
            )
        for i, (size, given) in enumerate(zip(wanted, sizes)):
            if size not in (None, given):
                raise errors.invalid(
                    f"Shape mismatch: expected shape dim {i} to be {size}, got {given}"
                )

    def _require_values(self, wanted: list[int | None], values: np.ndarray) -> None:
        if self.count:
            wanted = list(self._sum[1].shape)
            if len(wanted) != values.ndim:
                raise errors.invalid(
                    f"Shape mismatch: expected values rank {len(wanted)}, got {values.ndim}"
                )
        elif len(wanted) > values.ndim:
            raise errors.invalid(
                f"Shape mismatch: expected values rank at least {len(wanted)}, got {values.ndim}"
            )
        for i in range(1, len(wanted)):
            if wanted[i] not in (None, values.shape[i]):
                raise errors.invalid(
                    f"Shape mismatch: expected values dim {i} to be {wanted[i]}, got "
                    f"{values.shape[i]}"
                )

    def _first(self, gradient: Sparse) -> Any:
        rows, values, _ = gradient
        return rows.tolist(), np.array(values), [1] * len(rows)

    def _added(self, gradient: Sparse) -> Any:
        rows, values, counts = self._sum
        others, added, _ = gradient
        sums: list[tuple[int, Any, int]] = []
        i = j = 0
        # Both are taken to be sorted. A merge, as in TensorFlow
        # (SparseConditionalAccumulator::AddToAccumGradFunction): rows that are not sorted, or come
        # twice in one gradient, are neither refused nor added up there either.
        while i < len(rows) or j < len(others):
            if j == len(others) or (i < len(rows) and rows[i] < others[j]):
                sums.append((rows[i], values[i], counts[i]))
                i += 1
            elif i == len(rows) or rows[i] > others[j]:
                sums.append((int(others[j]), added[j], 1))
                j += 1
            else:
                sums.append((rows[i], added[j] + values[i], counts[i] + 1))
                i, j = i + 1, j + 1
        summed = np.empty((len(sums), *values.shape[1:]), values.dtype)
        for place, (_, value, _) in enumerate(sums):
            summed[place] = value
        return [row for row, _, _ in sums], summed, [count for _, _, count in sums]

    def _result(self) -> Any:
        rows, values, counts = self._sum
        if self.is_mean:
            divisors = np.array(counts, values.dtype)
            values = values / divisors.reshape([-1] + [1] * (values.ndim - 1))
        # Where the shape leaves the number of all rows open it is -1: gradients only tell which
        # rows they have.
        first = self.shape.as_list()[0] if self.shape.ndims else -1
        shape = [-1 if first is None else first, *values.shape[1:]]
        return np.array(rows, np.int64), values, np.array(shape, np.int64)


def _make(kind: type[Accumulator]) -> Callable[[Any], Accumulator]:
    def kernel(c: KernelContext) -> Accumulator:
        dtype = c.op._attrs["dtype"]
        if dtype not in _DTYPES:
            raise errors.invalid(
                f"No OpKernel was registered to support Op '{c.type}' used by {c.name} with dtype "
                f"{runtime_name(dtype)}"
            )
        is_mean = c.attr("reduction_type") == "MEAN"
        shape = as_shape(c.op._attrs["shape"])
        return kept(c, "accumulator", lambda name: kind(dtype, shape, is_mean))

    return kernel


def _one(value: np.ndarray, what: str) -> int:
    if value.ndim:
        raise errors.invalid(
            f"Argument {what} must be scalar, but had bad shape {shape_text(value.shape)}"
        )
    return int(value)


def _require_type(c: KernelContext, owner: Accumulator, first: str) -> None:
    asked, mine = c.op._attrs["dtype"], owner.dtype
    if asked != mine:
        have, expected = (f"{first}, {runtime_name(kind)}->" for kind in (asked, mine))
        raise errors.invalid(f"Signature mismatch, have: {have} expected: {expected}")


def _apply(c: KernelContext, owner: Accumulator, step: np.ndarray, gradient: np.ndarray) -> None:
    _require_type(c, owner, "resource, int64" if c.type[0] == "R" else "string_ref, int64")
    owner.apply(_one(step, "local_step"), gradient)


def _apply_sparse(
    c: KernelContext,
    owner: Any,
    step: Any,
    rows: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
) -> None:
    _require_type(c, owner, "string_ref, int64, int64")
    known = shape if c.attr("has_known_shape") else None
    owner.apply(_one(step, "local_step"), (rows, values, known))


def _take(c: KernelContext, owner: Accumulator, wanted: np.ndarray) -> Future:
    _require_type(c, owner, "resource, int32" if c.type[0] == "R" else "string_ref, int32")
    return owner.take(_one(wanted, "num_required"))


def _step_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[1], 0)
    return shape_inference.all_unknown(c)


for _is_resource, _handle in ((True, "resource"), (False, "Ref(string)")):
    define(
        ("ConditionalAccumulator", "ResourceConditionalAccumulator")[_is_resource],
        f"-> handle: {_handle}",
        _MAKER,
        # The handle of either kind is two strings.
        shape=lambda c: TensorShape([2]),
        kernel=_make(Accumulator),
        gradient=_STATE,
        stateful=True,
        doc="An accumulator of dense gradients.",
    )
    define(
        ("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")[_is_resource],
        f"handle: {_handle} -> num_accumulated: int32",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, owner: np.asarray(owner.count, np.int32),
        gradient=_STATE,
        doc="How many gradients were added.",
    )
    define(
        ("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")[_is_resource],
        f"handle: {_handle}, new_global_step: int64 ->",
        shape=_step_shape,
        kernel=lambda c, owner, step: owner.set_step(_one(step, "new_global_step")),
        gradient=_STATE,
        doc="Makes a step the present one.",
    )
    define(
        ("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")[_is_resource],
        f"handle: {_handle}, local_step: int64, gradient: dtype ->",
        "dtype: numbertype",
        shape=_step_shape,
        kernel=_apply,
        gradient=_STATE,
        doc="Adds a gradient, unless its step is over.",
    )
    define(
        ("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")[_is_resource],
        f"handle: {_handle}, num_required: int32 -> average: dtype",
        "dtype: numbertype",
        shape=_step_shape,
        kernel=_take,
        gradient=_STATE,
        control_flow_role="wait",
        doc="The average gradient, once there are enough.",
    )
define(
    "SparseConditionalAccumulator",
    "-> handle: Ref(string)",
    _MAKER,
    shape=lambda c: TensorShape([2]),
    kernel=_make(SparseAccumulator),
    gradient=_STATE,
    stateful=True,
    doc="An accumulator of gradients of rows.",
)
define(
    "SparseAccumulatorApplyGradient",
    "handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype, "
    "gradient_shape: int64 ->",
    "dtype: numbertype; has_known_shape: bool",
    shape=_step_shape,
    kernel=_apply_sparse,
    gradient=_STATE,
    doc="Adds gradients of rows, unless their step is over.",
)
define(
    "SparseAccumulatorTakeGradient",
    "handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, shape: int64",
    "dtype: numbertype",
    shape=_step_shape,
    kernel=_take,
    gradient=_STATE,
    control_flow_role="wait",
    doc="The average gradients of rows, once there are enough.",
)


@export("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """What both accumulators share."""

    _is_resource = True

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: Any) -> None:
        self._dtype = dtype
        self._shape = unknown_shape() if shape is None else TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    def _raw(self, on_reference: str, on_resource: str) -> Callable[..., Any]:
        return getattr(raw, on_resource if self._is_resource else on_reference)

    @property
    def accumulator_ref(self) -> Any:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """How many gradients were added since the last take, a tensor."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        return self._raw("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")(
            self._accumulator_ref, name=name
        )

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Any:
        """An operation that makes a step the present one."""
        step = tf.cast(convert_to_tensor(new_global_step), dtypes.int64)
        return self._raw("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")(
            self._accumulator_ref, step, name=name
        )


@export("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up dense gradients (tf.ConditionalAccumulator)."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        ref = raw.ResourceConditionalAccumulator(
            dtype=dtype,
            shape=shape,
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, ref)

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Any:
        """An operation that adds a gradient, unless its step is over."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        local_step = tf.cast(convert_to_tensor(local_step), dtypes.int64)
        return self._raw("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")(
            self._accumulator_ref, local_step=local_step, gradient=grad, name=name
        )

    def take_grad(self, num_required: int, name: str | None = None) -> Any:
        """The average of the gradients, once there are so many; then a new step begins."""
        result = self._raw("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        result.set_shape(self._shape)
        return result


@export("sparse.SparseConditionalAccumulator", "SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up gradients of rows (tf.SparseConditionalAccumulator)."""

    _is_resource = False

    def __init__(
        self,
        dtype: DTypeLike,
        shape: Sequence[int] | None = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        ref = raw.SparseConditionalAccumulator(
            dtype=dtype,
            shape=shape,
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """An operation that adds IndexedSlices, unless their step is over."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """An operation that adds rows, unless their step is over."""
        local_step = tf.cast(convert_to_tensor(local_step), dtypes.int64)
        return raw.SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            local_step=local_step,
            gradient_indices=tf.cast(grad_indices, dtypes.int64),
            gradient_values=grad_values,
            gradient_shape=tf.cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: int, name: str | None = None) -> Any:
        """Row numbers, averages and shape, once there are so many gradients."""
        return raw.SparseAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: int, name: str | None = None) -> IndexedSlices:
        """The same as IndexedSlices."""
        found = self.take_grad(num_required, name)
        return IndexedSlices(indices=found.indices, values=found.values, dense_shape=found.shape)
