# SPDX-License-Identifier: Apache-2.0
"""`tf.gradients`: one reverse walk over the graph, in TensorFlow 1.15's order and naming.

The walk knows no op: each op's gradient stands in its definition, or was registered under a name
by `tf.RegisterGradient`.  The order in which nodes are made is part of the contract, since op
seeds and unique names count nodes.
"""

from __future__ import annotations

import enum
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import gc_pause
from ..api import export
from ..graph.convert import convert_n_to_tensor_or_indexed_slices
from ..graph.defaults import get_default_graph
from ..graph.graph import name_scope
from ..graph.operation import Operation
from ..graph.tensor import IndexedSlices, Tensor
from ..types import dtypes
from ..types.nest import as_list
from .autodiff_flow import LoopState, control_flow, zeros_for
from .autodiff_registry import GradientFunction, gradient_function
from .autodiff_sums import AggregationMethod, Gradient, add_up, public

if TYPE_CHECKING:
    from ..graph.annotations import TensorLike


@export("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What stands for the gradient of something that the result does not depend on."""

    NONE = "none"
    ZERO = "zero"


# Which ops lie between


def is_trainable(tensor_or_dtype: Any) -> bool:
    """Whether gradients of this type are meaningful."""
    dtype = dtypes.as_dtype(getattr(tensor_or_dtype, "dtype", tensor_or_dtype)).base_dtype
    return dtype in (
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.complex64,
        dtypes.complex128,
        dtypes.resource,
        dtypes.variant,
    )


def _is_backpropagatable(tensor: Tensor) -> bool:
    return is_trainable(tensor) or tensor.dtype.base_dtype == dtypes.bfloat16


def _reached(from_ops: Sequence[Operation]) -> set[Operation]:
    reached: set[Operation] = set()
    queue = deque(from_ops)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            for output in op.outputs:
                # Through integers nothing flows: what depends on an x by way of an index does not
                # depend on it here.
                if _is_backpropagatable(output):
                    queue.extend(output.consumers())
    return reached


def _between(
    to_ops: Sequence[Operation], from_ops: Sequence[Operation]
) -> tuple[set[Operation], list[Operation]]:
    """Which of `to_ops` depend on `from_ops`, and the ops on the way."""
    reached = _reached(from_ops)
    reachable = {op for op in to_ops if op in reached}
    between: list[Operation] = []
    queue = deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in reached:
            # So each is met once, and the order is that of the walk backwards, as TensorFlow has
            # it.
            reached.remove(op)
            between.append(op)
            queue.extend(x.op for x in op.inputs)
    return reachable, between


def _pending_counts(between: Sequence[Operation]) -> dict[Operation, int]:
    """How many gradients each op waits for."""
    inside = set(between)
    pending: dict[Operation, int] = defaultdict(int)
    for op in between:
        for x in op.inputs:
            if x.op in inside:
                # By edge and not by op: one that takes x twice gives it two gradients.
                pending[x.op] += 1
    return pending


# The gradients that the caller gives or leaves to us


def _check_given(y: Tensor, grad_y: Gradient) -> None:
    given, wanted = dtypes.as_dtype(grad_y.dtype), dtypes.as_dtype(y.dtype)
    if wanted.is_floating or wanted.is_integer:
        if not given.is_floating and not given.is_integer:
            raise TypeError(
                f"Gradient type {given.name} generated for real or integer-valued tensor {y} "
                f"with type {wanted.name} must be real or integer"
            )
    elif wanted.is_complex:
        if not given.is_complex:
            raise TypeError(
                f"Gradient type {given.name} generated for complex-valued tensor {y} with type "
                f"{wanted.name} must be real"
            )
    elif wanted == dtypes.variant:
        if given != dtypes.variant:
            raise TypeError(
                f"Gradient type {given.name} generated for variant tensor {y} with type "
                f"{wanted.name} must be variant"
            )
    elif wanted == dtypes.resource:
        if given == dtypes.resource:
            raise TypeError(
                f"Input gradient {grad_y} for resource tensor {y} should not be a resource"
            )
    else:
        raise TypeError(
            f"Tensor {y} with type {wanted.name} must be numeric to obtain a default gradient"
        )


def _named_copy(grad_y: Gradient, i: int) -> Gradient:
    identity = public("identity")

    def copy(part: object, suffix: str) -> Any:
        named = f"grad_ys_{i}{suffix}"
        return identity(part, name=named) if isinstance(part, Tensor) else part

    if isinstance(grad_y, IndexedSlices):
        indices = copy(grad_y.indices, "_indices")
        values = copy(grad_y.values, "_values")
        return IndexedSlices(values, indices, copy(grad_y.dense_shape, "_shape"))
    return copy(grad_y, "")


def _initial_gradient(y: Tensor, grad_y: Gradient, i: int) -> Gradient:
    if grad_y is not None:
        _check_given(y, grad_y)
        return _named_copy(grad_y, i)
    if y.dtype.is_complex:
        raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
    # The shape first, then the constant, as TensorFlow makes them: names and seeds count nodes.
    shape = public("shape")(y)
    one = public("constant")(1, dtype=y.dtype, name=f"grad_ys_{i}")
    return public("fill")(shape, one)


# The walk


class _Walk:
    """The state of one call of `gradients`: gradients found so far, by op and output."""

    def __init__(self, uid: str, colocate: bool, gate: bool, method: int) -> None:
        self.grads: dict[Operation, list[Any]] = {}
        self.uid = uid
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.flow = control_flow()
        self.loops: LoopState | None = None
        self.from_ops: list[Operation] = []
        self.pending: dict[Operation, int] = {}
        self.queue: deque[Operation] = deque()

    @contextmanager
    def beside(self, op: Operation) -> Iterator[None]:
        """Colocates what is made with `op`, when that was asked for."""
        if not self.colocate:
            yield
            return
        with get_default_graph()._colocate_with_for_gradient(op, self.uid):
            yield

    @contextmanager
    def _loop_of(self, op: Operation, before: bool) -> Iterator[None]:
        if self.loops is None:
            yield
            return
        self.loops.EnterGradWhileContext(op, before)
        yield
        self.loops.ExitGradWhileContext(op, before)

    def add(self, tensor: Tensor, grad: Gradient) -> None:
        """Notes one more gradient of a tensor."""
        op = tensor.op
        if op not in self.grads:
            self.grads[op] = [[] for _ in op.outputs]
        found = self.grads[op]
        if isinstance(found[tensor.value_index], list):
            found[tensor.value_index].append(grad)
        else:
            # A loop comes back to its switch, whose gradient was complete before.
            found[tensor.value_index] = grad

    def summed(self, op: Operation) -> list[Gradient]:
        """The gradients of an op's outputs, added up; None where there is none."""
        found = self.grads.get(op)
        if found is None:
            return [None] * len(op.outputs)
        for i, grads in enumerate(found):
            if isinstance(grads, list):
                found[i] = add_up(op, grads, self.uid, self.method)
        return found

    def _zeros(self, op: Operation, i: int) -> Tensor | None:
        if self.loops is not None:
            return self.loops.ZerosLike(op, i)
        return self.flow.zeros_outside_loop(op, i)

    def through(
        self, op: Operation, function: GradientFunction, grads: list[Gradient]
    ) -> list[Any]:
        """The gradients of an op's inputs, from those of its outputs."""
        for i, grad in enumerate(grads):
            # The result does not depend on this output: its gradient is zero.
            if grad is None and is_trainable(op.outputs[i]):
                grads[i] = self._zeros(op, i)
        with name_scope(op.name + "_grad"), op.graph._original_op(op):
            result = function(op, *grads)
            result = as_list(result)
            if len(result) != len(op.inputs):
                raise ValueError(
                    f"Num gradients {len(result)} generated for op {op.node_def} do not match "
                    f"num inputs {len(op.inputs)}"
                )
            # One alone waits for nothing but itself.
            if self.gate and sum(x is not None for x in result) > 1:
                result = self._gated(result)
        return result

    def _gated(self, grads: list[Gradient]) -> list[Gradient]:
        graph = get_default_graph()
        with graph.device(None):
            with graph._colocate_with_for_gradient(None, self.uid, ignore_existing=True):
                return public("tuple")(grads)

    def visit(self, op: Operation, is_stop: bool) -> None:
        """Takes the gradient through one op, all of whose outputs' gradients are complete."""
        with self.beside(op):
            # At a loop's exit the sum is made outside of the gradient's loop, and what follows from
            # it inside.
            with self._loop_of(op, before=True):
                grads = self.summed(op)
            function = None
            if not is_stop and any(g is not None for g in grads):
                function = gradient_function(op)
            with self._loop_of(op, before=False):
                self.flow.check(op, self.from_ops)
                if function is None:
                    return
                for i, (x, grad) in enumerate(zip(op.inputs, self.through(op, function, grads))):
                    if grad is not None:
                        _check_shape(op, i, x, grad)
                        self.add(x, grad)

    def leave(self, op: Operation) -> None:
        """Counts down what the op's inputs wait for, and queues those that are ready."""
        for x in op.inputs:
            self.pending[x.op] -= 1
            left = self.pending[x.op]
            ready = left == 0
            if self.loops is not None and left > 0:
                # A loop's switch waits for what comes round, which comes from the switch: it may go
                # on before.
                ready = self.flow.is_loop_switch(x.op)
            if ready and self.flow.is_loop_exit(x.op):
                self._defer_exit(x)
            elif ready:
                self.queue.append(x.op)

    def _defer_exit(self, x: Tensor) -> None:
        """The exits of a loop go together, once all of them are ready."""
        assert self.loops is not None
        state = self.loops.GetGradState(x.op, before=False)
        state.deferred_exits.append(x)
        state.pending_exits_count -= 1
        if state.pending_exits_count:
            return
        # A loop whose exits nobody differentiates needs no gradient loop; if one is used, all
        # others have gradients of zero.
        used = [y for y in state.deferred_exits if self._has_gradient(y.op)]
        unused = [y for y in state.deferred_exits if not self._has_gradient(y.op)]
        state.unused_exits.extend(unused)
        self.queue.extend(y.op for y in used)
        for y in state.unused_exits:
            if used and is_trainable(y):
                self.add(y, self.loops.ZerosLikeForExit(y))
            self.queue.append(y.op)

    def _has_gradient(self, op: Operation) -> bool:
        for grads in self.grads.get(op, ()):
            if any(g is not None for g in (grads if isinstance(grads, list) else [grads])):
                return True
        return False

    def result(self, x: Tensor, unconnected: UnconnectedGradients) -> Gradient:
        """The finished gradient of one of the xs."""
        if x.op in self.grads:
            return self.grads[x.op][x.value_index]
        if unconnected == UnconnectedGradients.NONE:
            return None
        return zeros_for(x)


def _check_shape(op: Operation, i: int, x: Tensor, grad: Gradient) -> None:
    if not isinstance(grad, Tensor) or x.dtype == dtypes.resource:
        return
    try:
        grad.set_shape(x.get_shape())
    except ValueError:
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient.  Forward "
            f"operation: {op.name}.  Input index: {i}. Original input shape: {x.shape}.  "
            f"Calculated input gradient shape: {grad.shape}"
        ) from None


def _stop_ops(
    from_ops: Sequence[Operation], stops: Sequence[Operation], pending: dict[Operation, int]
) -> set[Operation]:
    """Where the walk ends: the xs that depend on no other x, and what the caller named."""
    # An x that depends on another x is walked through: the other one's gradient comes by way of it.
    frontier = {op for op in from_ops if all(pending[x.op] <= 0 for x in op.inputs)}
    return frontier | set(stops)


def _checked_method(method: int | None) -> int:
    method = AggregationMethod.DEFAULT if method is None else method
    if method not in (0, 1, 2):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    return method


def _differentiable(x: Any) -> Any:
    """A resource variable is differentiated by its handle, within a function by its parameter."""
    if not getattr(x, "_should_act_as_resource_variable", False):
        return x
    return get_default_graph().taken_in(x.handle)


@export("gradients")
def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | None = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Sequence[Tensor] | None = None,
    unconnected_gradients: object = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The derivatives of the sum of `ys` with respect to each of `xs`: new nodes of the graph.

    Args:
        ys: a tensor or a list of tensors.
        xs: a tensor or variable, or a list of them.
        grad_ys: the gradients of the ys, one each; ones where None.
        name: the scope of the nodes that are made.
        colocate_gradients_with_ops: whether each gradient is put on its op's device.
        gate_gradients: whether the gradients of one op wait for each other.
        aggregation_method: one of `tf.AggregationMethod`.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: "none" or "zero": what is given where an x has no influence.

    Returns:
        A list with a Tensor, an IndexedSlices or None for every x, of its shape and dtype.

    Raises:
        ValueError: `grad_ys` and `ys` do not match, or unconnected_gradients is something else.
        LookupError: an operation on the way has no gradient.

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> tf.Session().run(tf.gradients(x**3, x))
        [array([ 3., 12.], dtype=float32)]
    """
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    ys, xs = as_list(ys), as_list(xs)
    stops = [] if stop_gradients is None else as_list(stop_gradients)
    given = [None] * len(ys) if grad_ys is None else as_list(grad_ys)
    with gc_pause.held_up(), name_scope(name, "gradients", [*ys, *xs, *stops, *given]):
        # (TensorFlow takes this name too: without it, later names of a graph would differ.)
        uid = get_default_graph().unique_name("uid")
        method = _checked_method(aggregation_method)
        walk = _Walk(uid, colocate_gradients_with_ops, gate_gradients, method)
        ys = convert_n_to_tensor_or_indexed_slices(ys, name="y")
        xs = [_differentiable(x) for x in xs]
        xs = convert_n_to_tensor_or_indexed_slices(xs, name="x", as_ref=True)
        _run(walk, ys, xs, given, [t.op for t in stops])
    return [walk.result(x, unconnected) for x in xs]


def _run(
    walk: _Walk, ys: list[Tensor], xs: list[Tensor], given: list[Any], stops: list[Operation]
) -> None:
    if len(given) != len(ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(ys)} ys")
    given = convert_n_to_tensor_or_indexed_slices(given, name="grad_y")
    initial = []
    for i, (y, grad_y) in enumerate(zip(ys, given)):
        with walk.beside(y.op):
            initial.append(_initial_gradient(y, grad_y, i))
    to_ops, walk.from_ops = [y.op for y in ys], [x.op for x in xs]
    reachable, between = _between(to_ops, walk.from_ops)
    walk.loops = walk.flow.state(between, set(between), walk.colocate)
    walk.pending = _pending_counts(between)
    for y, grad in zip(ys, initial):
        walk.add(y, grad)
    # A y that another y depends on becomes ready on the way, when that one's gradient has been
    # added.
    starts = [op for op in dict.fromkeys(to_ops) if walk.pending[op] == 0 and op in reachable]
    walk.queue.extend(starts)
    if walk.loops is not None:
        for y in walk.loops.ProcessUnusedLoopExits(walk.pending, set(starts)):
            if is_trainable(y):
                walk.add(y, walk.loops.ZerosLikeForExit(y))
                walk.queue.append(y.op)
    stop_ops = _stop_ops(walk.from_ops, stops, walk.pending)
    while walk.queue:
        op = walk.queue.popleft()
        walk.visit(op, op in stop_ops)
        walk.leave(op)
    if walk.loops is not None:
        walk.loops.PostProcessing()


def _hessian_vector_product(ys: Any, xs: list[Any], v: list[Any]) -> list[Gradient]:
    """The product of the Hessian of `ys` with respect to `xs` and a vector, without the matrix.

    Programs import it, by this name, from TensorFlow's gradients_impl.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    multiply, stop = public("multiply"), public("stop_gradient")
    grads = gradients(ys, xs)
    # The derivative of grad · v along x is H · v, v counting as a constant.
    products = [multiply(g, stop(part)) for g, part in zip(grads, v) if g is not None]
    return gradients(products, xs)


@export("hessians")
def hessians(
    ys: TensorLike,
    xs: TensorLike,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The second derivatives of the sum of `ys` with respect to each x alone."""
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    xs = as_list(xs)
    return [_hessian(grad, x) for grad, x in zip(gradients(ys, xs, **options), xs)]


def _hessian(grad: Tensor, x: Tensor) -> Tensor:
    """One row per element of x, gathered by a loop, for the size of x may be unknown."""
    reshape, shape, concat = (public(n) for n in ("reshape", "shape", "concat"))
    flat = reshape(grad, [-1])
    count = public("size")(x)
    start = [public("constant")(0, dtypes.int32), public("TensorArray")(x.dtype, count)]
    _, rows = public("while_loop")(
        lambda j, _: j < count,
        lambda j, result: (j + 1, result.write(j, gradients(flat[j], x)[0])),
        start,
    )
    sizes = shape(x)
    return reshape(rows.stack(), concat((sizes, sizes), 0))
