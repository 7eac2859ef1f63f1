# SPDX-License-Identifier: Apache-2.0
"""Reversible layers, whose inputs are computed from their outputs, and functions that are computed
again for their gradients: both keep no inner values, which a graph of them would not have room for.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....engine.types import nest
from ....engine.types.nest import as_list
from ....ops.flow.custom_gradient import custom_gradient, variables_behind
from ....ops.public import tf
from ...layers.base import Layer
from ..framework.arg_scope import arg_scope, current_arg_scope

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....ops.state.variables import Variable

LAYER_RE = re.compile(".*revlayer_([0-9]*)/([fg])/.*")
_USE_DEFAULT = "__rev_block_lib_default"
_WRONG_VARS_ERR = (
    "The variables used on recompute were different than the variables originally used. The "
    "function wrapped with @recompute_grad likley creates its own variable scope with a default "
    "name and has been called twice in the same enclosing scope. To fix, ensure each call to the "
    "function happens in its own unique variable scope.\n"
)
# A residual: a function of a tensor, and of side inputs if there are some.
Residual = Callable[..., Any]
Grads = list[Any]


def _acc_grads(*lists_of_grads: Sequence[Any]) -> Grads:
    """The sums of gradients of the same things; None where there are none."""
    known = ([g for g in grads if g is not None] for grads in zip(*lists_of_grads))
    return [tf.add_n(grads) if grads else None for grads in known]


def _apply(residual: Residual, x: Any, side: Sequence[Any]) -> Any:
    return residual(x, side) if side else residual(x)


def _layer_backward(
    ys: Sequence[Any],
    grad_ys: Sequence[Any],
    f: Residual,
    g: Residual,
    f_vars: list[Any],
    f_side: Sequence[Any],
    g_vars: list[Any],
    g_side: Sequence[Any],
) -> Any:
    """The inputs of one layer, from its outputs, and all gradients.

    Returns:
        The inputs, their gradients, and those of variables and side inputs of f and of g.
    """
    (y1, y2), (grad_y1, grad_y2) = ys, grad_ys
    # Copies that gradients end at: or the gradients below would go on through the whole block.
    y1_copy = tf.stop_gradient(y1)
    g_side = [tf.stop_gradient(t) for t in g_side]
    g_of_y1 = _apply(g, y1_copy, g_side)
    x2 = y2 - g_of_y1
    x2_copy = tf.stop_gradient(x2)
    f_side = [tf.stop_gradient(t) for t in f_side]
    f_of_x2 = _apply(f, x2_copy, f_side)
    x1 = y1 - f_of_x2

    through_g = tf.gradients(g_of_y1, y1_copy, grad_y2)[0]
    grad_x1 = grad_y1 + through_g
    grad_x2 = tf.gradients(f_of_x2, x2_copy, grad_y1)[0] + grad_y2
    grad_x2 = grad_x2 + tf.gradients(f_of_x2, x2_copy, through_g)[0]

    of_g = tf.gradients(g_of_y1, [*g_vars, *g_side], grad_y2)
    wanted = [*f_vars, *f_side]
    of_f = _acc_grads(
        tf.gradients(f_of_x2, wanted, grad_y1), tf.gradients(f_of_x2, wanted, through_g)
    )
    outputs = (
        (x1, x2),
        (grad_x1, grad_x2),
        (of_f[: len(f_vars)], of_f[len(f_vars) :]),
        (of_g[: len(g_vars)], of_g[len(g_vars) :]),
    )
    # All of them before the next layer begins: it is for memory that they are computed again.
    return nest.pack_sequence_as(outputs, tf.tuple(nest.flatten(outputs)))


def _safe_wraps(fn: Callable[..., Any]) -> Callable[[Any], Any]:
    if isinstance(fn, functools.partial):
        return lambda wrapped: wrapped
    return functools.wraps(fn)


def _scope_wrap(fn: Residual, scope: str) -> Residual:
    @_safe_wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with tf.variable_scope(scope, use_resource=True):
            return fn(*args, **kwargs)

    return wrapped  # type: ignore[no-any-return]


def _residuals(given: Any, count: int, kind: str) -> list[Residual]:
    """A residual for each layer, in a variable scope of its own."""
    each = given if isinstance(given, list) else [given] * count
    if len(each) != count:
        raise AssertionError(f"{len(each)} functions {kind} for {count} layers")
    return [_scope_wrap(fn, f"revlayer_{i}/{kind}") for i, fn in enumerate(each)]


@export("contrib.layers.RevBlock")
class RevBlock(Layer):
    """Reversible residual layers: y1 = x1 + f(x2), y2 = x2 + g(y1), one after another.

    Args:
        f, g: functions of a tensor that give one of the same shape; or lists, one for each layer.
        num_layers: how many layers there are.
        f_side_input, g_side_input: lists of tensors that are their second arguments, if given.
        use_efficient_backprop: whether gradients compute inputs from outputs, in little memory.
        name: the layer's name.
        **kwargs: as other layers.
    """

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: list[Any] | None = None,
        g_side_input: list[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.f = _residuals(f, num_layers, "f")
        self.g = _residuals(g, num_layers, "g")
        self.num_layers = num_layers
        self.f_side_input = f_side_input or []
        self.g_side_input = g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    def call(self, inputs: Any, forward: bool = True, **kwargs: Any) -> Any:
        """The outputs of inputs, or the inputs of outputs."""
        scope = tf.get_variable_scope()
        before = len(scope.global_variables())
        out = self._forward(*inputs) if forward else self._backward(*inputs)
        trainable = scope.trainable_variables()
        for variable in scope.global_variables()[before:]:
            is_trained = any(variable is known for known in trainable)
            (self._trainable_weights if is_trained else self._non_trainable_weights).append(
                variable
            )
        return out

    def forward(self, x1: TensorLike, x2: TensorLike) -> Any:
        """The outputs of inputs."""
        return self.apply([x1, x2])

    def backward(self, y1: TensorLike, y2: TensorLike) -> Any:
        """The inputs of outputs."""
        return self.apply([y1, y2], forward=False)

    def build(self, input_shape: Any) -> None:
        """Nothing: variables are made when the layer is first called."""
        log.warning("RevBlock constructs its variables on first call, not on build.")
        self.built = True

    def _forward(self, x1: Any, x2: Any) -> Any:
        sides = [self.f_side_input, self.g_side_input]

        def run(x1: Any, x2: Any, *flat: Any) -> tuple[Any, Any]:
            f_side, g_side = nest.pack_sequence_as(sides, list(flat))
            for f, g in zip(self.f, self.g):
                y1 = x1 + _apply(f, x2, f_side)
                y2 = x2 + _apply(g, y1, g_side)
                x1, x2 = tf.tuple([y1, y2]) if self._use_efficient_backprop else (y1, y2)
            return x1, x2

        @custom_gradient
        def run_with_gradient(*args: Any) -> Any:
            out = run(*args)
            return out, self._gradient_function(args, out)

        chosen = run_with_gradient if self._use_efficient_backprop else run
        return chosen(x1, x2, *nest.flatten(sides))

    def _gradient_function(self, inputs: Sequence[Any], outputs: Any) -> Callable[..., Any]:
        def gradient(*grad_ys: Any, variables: Sequence[Any] = ()) -> Any:
            ys = outputs
            sums: dict[str, Any] = {"f": [], "g": []}
            of_variables: dict[int, Any] = {}
            own = [_layer_variables(variables, i) for i in range(self.num_layers)]
            # What the inputs' copies within the function are.
            f_side = list(inputs[2 : 2 + len(self.f_side_input)])
            g_side = list(inputs[2 + len(self.f_side_input) :])
            with tf.variable_scope(self.scope_name, reuse=True):
                for i in reversed(range(self.num_layers)):
                    ys, grad_ys, *of_functions = _layer_backward(
                        ys, grad_ys, self.f[i], self.g[i], own[i]["f"], f_side, own[i]["g"], g_side
                    )
                    for kind, (grads, side) in zip("fg", of_functions):
                        of_variables.update(zip(map(id, own[i][kind]), grads))
                        sums[kind].append(side)
            side_grads = [*_acc_grads(*sums["f"]), *_acc_grads(*sums["g"])]
            found = [*grad_ys, *side_grads]
            return (found, [of_variables[id(v)] for v in variables]) if variables else found

        return gradient

    def _backward(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        for f, g in zip(reversed(self.f), reversed(self.g)):
            x2 = y2 - _apply(g, y1, self.g_side_input)
            x1 = y1 - _apply(f, x2, self.f_side_input)
            y1, y2 = x1, x2
        return y1, y2


def _layer_variables(variables: Sequence[Any], number: int) -> dict[str, list[Any]]:
    """The variables of one layer's f and g, by their names."""
    found: dict[str, list[Any]] = {"f": [], "g": []}
    for variable in variables:
        match = LAYER_RE.match(variable.name)
        if match is None:
            raise ValueError(f"{variable.name} is no variable of a reversible layer")
        if int(match.group(1)) == number:
            found[match.group(2)].append(variable)
    return found


@export("contrib.layers.rev_block")
def rev_block(
    x1: TensorLike,
    x2: TensorLike,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: list[Any] | None = None,
    g_side_input: list[Any] | None = None,
    is_training: bool = True,
) -> Any:
    """Reversible residual layers: y1 = x1 + f(x2), y2 = x2 + g(y1), one after another.

    Args:
        x1, x2: tensors of floats.
        f, g: functions of a tensor that give one of the same shape; or lists, one for each layer.
        num_layers: how many layers there are.
        f_side_input, g_side_input: lists of tensors that are their second arguments, if given.
        is_training: whether gradients compute inputs from outputs, in little memory.

    Returns:
        y1 and y2 of the last layer.

    Example:
        >>> x = tf.ones([1, 2])
        >>> y1, y2 = tf.contrib.layers.rev_block(x, x, tf.square, tf.negative, num_layers=1)
        >>> print(tf.Session().run([y1, y2])[1].tolist())
        [[-1.0, -1.0]]
    """
    block = RevBlock(
        f=f,
        g=g,
        num_layers=num_layers,
        f_side_input=f_side_input,
        g_side_input=g_side_input,
        use_efficient_backprop=is_training,
        _reuse=tf.get_variable_scope().reuse,
    )
    return block.forward(x1, x2)


def enable_with_args(dec: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that may be used with arguments, too, of one that takes the function first."""

    @_safe_wraps(dec)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return dec(args[0])
        return lambda fn: dec(fn, *args, **kwargs)

    return decorated  # type: ignore[no-any-return]


@export("contrib.layers.recompute_grad")
@enable_with_args
def recompute_grad(
    fn: Callable[..., Any], use_data_dep: Any = _USE_DEFAULT, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """Decorates a function of tensors so that its gradient computes it again.

    Args:
        fn: the function. Its variables are ResourceVariables. Is there an argument
            `is_recomputing`, it is told which of the two times it is.
        use_data_dep: whether numbers of the gradients, times the smallest float, make the second
            time wait for them; otherwise control dependencies do.
        tupleize_grads: whether all gradients are computed before one is used.

    Returns:
        The decorated function.

    Raises:
        ValueError: it uses tensors or variables from outside that are no arguments, or others than
            tensors as arguments.

    Example:
        >>> double = tf.contrib.layers.recompute_grad(lambda x: 2 * x)
        >>> x = tf.constant(3.0)
        >>> print(tf.Session().run(tf.gradients(double(x), x)[0]))
        2.0
    """
    closed_over = inspect.getclosurevars(fn).nonlocals if inspect.isfunction(fn) else {}
    for name, value in closed_over.items():
        if isinstance(value, (Tensor, tf.Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} (local "
                f"variable name: {name}). The decorated fn must not close over Tensors or "
                "Variables because gradients will NOT be computed for them through fn. To ensure "
                "correct gradients, make the Tensor an input to fn."
            )

    @_safe_wraps(fn)
    def wrapped(*args: Any) -> Any:
        for arg in args:
            if not isinstance(arg, Tensor):
                raise ValueError("All inputs to function must be Tensors")
        by_numbers = use_data_dep is True
        return _with_recomputing(fn, by_numbers, tupleize_grads)(*args)

    return wrapped  # type: ignore[no-any-return]


def _with_recomputing(
    fn: Callable[..., Any], by_numbers: bool, tupleize: bool
) -> Callable[..., Any]:
    told = "is_recomputing" in inspect.signature(fn).parameters

    def call(args: Sequence[Any], again: bool) -> Any:
        return fn(*args, **({"is_recomputing": again} if told else {}))

    @custom_gradient
    def run(*args: Any) -> Any:
        variable_scope, arguments = tf.get_variable_scope(), current_arg_scope()
        outputs = call(args, False)
        originals = variables_behind(list(args), nest.flatten(outputs))

        def recomputed(output_grads: Sequence[Any]) -> tuple[Grads, Grads]:
            inputs = [tf.identity(x) for x in args]
            with tf.control_dependencies([g for g in output_grads if g is not None]):
                if by_numbers:
                    inputs = _force_data_dependency(output_grads, inputs)
                with arg_scope(arguments), tf.variable_scope(variable_scope, reuse=True):
                    again = call(inputs, True)
            found = variables_behind(inputs, nest.flatten(again))
            if {v.op.name for v in found} != {v.op.name for v in originals}:
                raise ValueError(_WRONG_VARS_ERR)
            again = as_list(again)
            grads = tf.gradients(again, [*inputs, *originals], list(output_grads))
            if tupleize and by_numbers:
                grads = _force_data_dependency(grads, grads)
            elif tupleize:
                grads = tf.tuple(grads)
            return grads[: len(inputs)], grads[len(inputs) :]

        if not originals:
            return outputs, lambda *grads: recomputed(grads)[0]

        def gradient(*grads: Any, variables: Sequence[Variable] | None = None) -> Any:
            return recomputed(grads)

        return outputs, gradient

    return run


def _force_data_dependency(first: Sequence[Any], then: Sequence[Any]) -> list[Any]:
    """Tensors of floats that cannot be computed before others are.

    Raises:
        ValueError: a tensor is of unknown rank, or none of floats.
    """

    def element(x: Any) -> Tensor:
        if x.shape.ndims is None:
            raise ValueError(f"Rank of Tensor {x} must be known")
        rank = x.shape.ndims
        return tf.reshape(tf.slice(x, [0] * rank, [1] * rank), [])

    total = tf.add_n([element(x) for x in first if x is not None])
    if not total.dtype.is_floating:
        raise ValueError("_force_data_dependency only supports floating dtypes.")
    smallest = np.finfo(total.dtype.as_numpy_dtype).tiny
    zero = tf.stop_gradient(smallest * total)
    return [None if x is None else tf.identity(x) + zero for x in then]
