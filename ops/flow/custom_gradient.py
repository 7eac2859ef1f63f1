# SPDX-License-Identifier: Apache-2.0
"""`tf.custom_gradient`: a function of tensors that brings its own gradient."""

from __future__ import annotations

import functools
import inspect
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.gradients.autodiff import is_trainable
from ...engine.gradients.autodiff_registry import CustomGradient, RegisterGradient
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.scope_functions import control_dependencies
from ...engine.graph.tensor import Tensor, uid
from ..array.identity import identity_n
from ..array.python_values import flatten
from ..public import raw
from ..state.variable_scope import get_variable_scope

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_log = logging.getLogger("tensorflow")

_VARIABLES = ("VariableV2", "VarHandleOp")


@export("custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `f(*tensors) -> (result, grad_fn)`: `grad_fn` gives the gradient of `f`.

    Where `f` reads trainable resource variables, `grad_fn(*grads, variables)` gives a pair, the
    gradients of the arguments and those of the variables.

    Raises:
        TypeError: `f` makes a variable that is no resource, or reads variables that `grad_fn` takes
            no `variables` for; or `grad_fn` takes `variables`, `f` reads none, and the variable
            scope around does not make resources.
        ValueError: `f` is called with keywords, or `grad_fn` gives too few or too many gradients.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _build(f, decorated, [convert_to_tensor(x) for x in args])

    decorated._custom_gradient_of = f  # type: ignore[attr-defined]
    return decorated


def _known_variables() -> list[Any]:
    graph = get_default_graph()
    return [*graph.get_collection("variables"), *graph.get_collection("local_variables")]


def _build(f: Callable[..., Any], decorated: Callable[..., Any], args: list[Tensor]) -> Any:
    name = f"CustomGradient-{uid()}"
    before = {id(v) for v in _known_variables()}
    result, grad_fn = f(*args)
    for v in _known_variables():
        if id(v) not in before and not getattr(v, "_should_act_as_resource_variable", False):
            raise TypeError(
                "All variables used by a function wrapped with @custom_gradient must be "
                "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
                "`use_resource=False`."
            )
    variables = get_dependent_variables(args, result)
    _check_signature(grad_fn, variables)
    flat = list(flatten(result))
    count = len(flat)

    def gradient(grads: Sequence[Tensor]) -> list[Any]:
        return _call(grad_fn, grads, variables)

    RegisterGradient(name)(CustomGradient(decorated, count, len(args), gradient))
    with get_default_graph().gradient_override_map({"IdentityN": name}):
        # All results, arguments and variables pass one node, whose gradient is the function's.  So
        # the walk meets it whichever of them the gradient is asked for.
        outputs = identity_n([*flat, *args, *variables])
    # 1.15 reads them once more, for nobody, and seeds of what comes behind count nodes.
    for variable in variables:
        convert_to_tensor(variable)
    return _like(result, iter(outputs[:count]))


def _call(grad_fn: Callable[..., Any], grads: Sequence[Tensor], variables: list[Any]) -> list[Any]:
    if not variables:
        return list(flatten(grad_fn(*grads)))
    inputs, others = grad_fn(*grads, variables=variables)
    if len(others) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    return [*flatten(inputs), *others]


def _check_signature(grad_fn: Callable[..., Any], variables: list[Any]) -> None:
    # A gradient with a gradient of its own takes what the function within takes.
    while hasattr(grad_fn, "_custom_gradient_of"):
        grad_fn = grad_fn._custom_gradient_of
    spec = inspect.getfullargspec(grad_fn)
    expects = "variables" in spec.args or bool(spec.varkw)
    if variables and not (expects or "variables" in spec.kwonlyargs):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must "
            "accept a keyword argument 'variables'."
        )
    if expects and not variables:
        if not get_variable_scope().use_resource:
            # (Reference variables are not found: they may have been meant.)
            raise TypeError(
                "If using @custom_gradient with a function that uses variables, the enclosing "
                "variable scope must have use_resource=True."
            )
        _log.warning(
            "@custom_gradient grad_fn has 'variables' in signature, but no ResourceVariables were "
            "used on the forward pass."
        )


def get_dependent_variables(input_ops: Sequence[Tensor], output_ops: TensorLike) -> list[Any]:
    """As `variables_behind`, by a node of its own for each tensor, as 1.15 makes them."""
    return variables_behind(input_ops, [raw.Identity(x) for x in flatten(output_ops)])


def variables_behind(input_ops: Sequence[Tensor], outputs: Sequence[Tensor]) -> list[Any]:
    """The trainable variables that tensors depend on, other than through `input_ops`."""
    stops, seen, names = {id(x) for x in flatten(input_ops)}, set(), []
    queue = deque(x.op for x in outputs if id(x) not in stops)
    while queue:
        op = queue.popleft()
        if op in seen:
            continue
        seen.add(op)
        if op.type in _VARIABLES:
            names.append(op.name)
        queue.extend(x.op for x in op.inputs if id(x) not in stops and _flows(x))
    found = {v.op.name: v for v in _known_variables()}
    return [found[n] for n in names if n in found and found[n].trainable]


def _flows(x: Tensor) -> bool:
    return is_trainable(x.dtype)


def _like(structure: TensorLike, values: Any) -> Any:
    """The same nesting with other leaves."""
    if isinstance(structure, dict):
        return {key: _like(structure[key], values) for key in sorted(structure)}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_like(item, values) for item in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(_like(item, values) for item in structure)
    return next(values)


@export("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `f` so that its gradient computes it again instead of keeping its inner values."""

    @custom_gradient
    def inner(*args: Any) -> Any:
        def grad(dresult: Any, variables: Any = None) -> Any:
            from .gradient_tape import GradientTape

            wanted = [*args, *(variables or [])]
            # Arguments may depend on each other, and on variables that `f` reads, too: only what
            # is made here counts.  The dependency keeps this copy from being computed, or merged
            # with the first, in the forward pass.
            with GradientTape() as tape, control_dependencies([dresult]):
                tape.watch(wanted)
                again = f(*args)
            found = tape.gradient(again, wanted, output_gradients=[dresult])
            first = found[: len(args)]
            return first if variables is None else (first, found[len(args) :])

        return f(*args), grad

    return functools.wraps(f)(inner)


@export("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `f` so that gradients pass it as if it were the identity."""

    @custom_gradient
    def passing(*args: Any) -> Any:
        def grad(*grads: Any, **kwargs: Any) -> Any:
            variables = kwargs.get("variables")
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), grad

    return functools.wraps(f)(passing)
