# SPDX-License-Identifier: Apache-2.0
"""`tf.cond`, `tf.case` and `tf.switch_case`."""

from __future__ import annotations

import functools
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection, register_proto_function
from ...engine.graph.constants import constant_value, evaluate_all
from ...engine.graph.graph import control_dependencies, get_default_graph
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.tracebacks import shorten
from ...engine.types import dtypes, nest
from ..checks.asserts import Assert
from ..public import tf
from .context import CondContext
from .nodes import merge, switch
from .tensor_array import arrays_of
from .util import EnableControlFlowV2

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_log = logging.getLogger("tensorflow")


def _alone(value: object) -> Any:
    """The item of a list or tuple of one."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _functions(true_fn: Any, false_fn: Any, fn1: object, fn2: object) -> tuple[Any, Any]:
    result = []
    for name, old, given, other in (
        ("true_fn", "fn1", true_fn, fn1),
        ("false_fn", "fn2", false_fn, fn2),
    ):
        if other is not None and given is not None:
            raise TypeError(f"cond(): {name} and {old} may not be set simultaneously.")
        function = given if other is None else other
        if function is None:
            raise TypeError(f"cond(): {name} argument required")
        result.append(function)
    for name, function in zip(("true_fn", "false_fn"), result):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return result[0], result[1]


@export("cond")
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """What `true_fn` or `false_fn` returns, as the scalar `pred` tells; only that one runs.

    What the functions use but did not make themselves is computed either way.

    Args:
        pred: a bool scalar tensor.
        true_fn: builds the branch for true; returns a tensor, an operation or a structure of them.
        false_fn: builds the branch for false, alike in structure and dtypes.
        strict: whether lists and tuples of one item are returned as such.
        name: the scope of the nodes.
        fn1, fn2: the old names of `true_fn` and `false_fn`.

    Returns:
        Tensors in the structure that the branches return.

    Raises:
        TypeError: `pred` is a Python bool, or a function is missing or none; or structures differ.
        ValueError: a branch returns nothing, or the dtypes differ.

    Example:
        >>> x = tf.placeholder(tf.float32, [])
        >>> y = tf.cond(x > 0, lambda: x * 10, lambda: -x)
        >>> tf.Session().run(y, {x: 2}), tf.Session().run(y, {x: -2})
        (np.float32(20.0), np.float32(2.0))
    """
    try:
        true_fn, false_fn = _functions(true_fn, false_fn, fn1, fn2)
        if EnableControlFlowV2(get_default_graph()):
            from .v2.branches import cond_v2

            return cond_v2(pred, true_fn, false_fn, name or "cond")
        from .effects import in_order

        def build(given: list[Any], wrap: Any) -> Any:
            chosen = given[0] if given else pred
            return _cond(chosen, wrap(true_fn), wrap(false_fn), strict, name)

        # (A Python bool is refused as one.)
        return in_order([] if isinstance(pred, bool) else [pred], build)
    except Exception as error:
        shorten(error)
        raise


def _cond(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    strict: bool,
    name: str | None,
) -> Any:
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        # A pivot is alive only in its branch: operations without inputs wait for it
        # (CondContext.AddOp).
        false_side, true_side = switch(pred, pred)
        pivots = (tf.identity(true_side, name="switch_t"), tf.identity(false_side, name="switch_f"))
        pred = tf.identity(pred, name="pred_id")
        for tensor in (true_side, false_side, *pivots, pred):
            tensor.op.graph.prevent_fetching(tensor.op)
        true, original, true_result = _branch(pred, pivots[0], 1, true_fn, "true_fn")
        false, original_false, false_result = _branch(pred, pivots[1], 0, false_fn, "false_fn")
        if not strict:
            original, original_false = _alone(original), _alone(original_false)
        _require_same(original, original_false, true_result, false_result)
        merges = _merged(true_result, false_result, original)
        if true.outer_context is None:
            add_to_collection(GraphKeys.COND_CONTEXT, true)
            add_to_collection(GraphKeys.COND_CONTEXT, false)
        result = nest.pack_sequence_as(original, merges, expand_composites=True)
        return result if strict else _alone(result)


def _branch(
    pred: Tensor, pivot: Tensor, number: int, build: Callable[[], Any], what: str
) -> tuple[CondContext, Any, Any]:
    """Builds one branch: its context, what the function returned, and tensors for that."""
    context = CondContext(pred, pivot, branch=number)
    context.Enter()
    try:
        original, result = context.BuildCondBranch(build)
        if original is None:
            raise ValueError(f"{what} must have a return value.")
        context.ExitResult(result)
    finally:
        context.Exit()
    return context, original, result


def _require_same(
    original_a: object, original_b: object, a: Sequence[Any], b: Sequence[Any]
) -> None:
    try:
        nest.assert_same_structure(original_a, original_b, expand_composites=True)
    except (TypeError, ValueError):
        nest.map_structure(_widen_indices, original_a, original_b)
        nest.map_structure(_widen_indices, a, b)
        try:
            nest.assert_same_structure(original_a, original_b, expand_composites=True)
        except TypeError as error:
            text = f"Incompatible return types of true_fn and false_fn: {error}"
            raise TypeError(text) from None
        except ValueError as error:
            text = f"Incompatible return values of true_fn and false_fn: {error}"
            raise ValueError(text) from None


def _widen_indices(a: Any, b: Any) -> None:
    """Gives slices with indices of different types such of one type."""
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        if a.indices.dtype != b.indices.dtype:
            a._indices = tf.cast(a.indices, dtypes.int64)
            b._indices = tf.cast(b.indices, dtypes.int64)


def _merged(true: Sequence[Any], false: Sequence[Any], original: object) -> list[Any]:
    if not true:
        raise ValueError("true_fn and false_fn must return at least one result.")
    true = nest.flatten(true, expand_composites=True)
    false = nest.flatten(false, expand_composites=True)
    for x, y in zip(true, false):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name}"
            )
    merges = [merge(pair)[0] for pair in zip(false, true)]
    return arrays_of(nest.flatten(original, expand_composites=True), merges)


# Several conditions


def _at_most(predicates: Sequence[Tensor], n: int, message: str) -> Any:
    """An assertion that at most `n` predicates are true."""
    stacked = tf.stack(predicates, name="preds_c")
    count = tf.reduce_sum(tf.cast(stacked, dtypes.int32), name="num_true_conds")
    condition = tf.less_equal(count, tf.constant(n, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    text = f"{message}: more than {n} conditions ({names}) evaluated as True:"
    return Assert(condition, data=[text, stacked], summarize=len(predicates))


def _with_default(predicates: Sequence[Tensor], actions: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Makes the last action the default; it asserts that its predicate holds."""
    last = len(predicates) - 1
    predicate, action = predicates[last], actions[last]

    def default() -> Any:
        others = (
            f"Implementation error: selected default action #{last} was called, but some of "
            "other predicates are True: "
        )
        none = (
            "Input error: None of conditions evaluated as True:",
            tf.stack(predicates, name="preds_c"),
        )
        checks = [_at_most(predicates[:last], n=0, message=others), Assert(predicate, data=none)]
        with control_dependencies(checks):
            return action()

    return default, predicates[:last], actions[:last]


def _pairs(pred_fn_pairs: object, exclusive: bool, name: str) -> tuple[Any, Any]:
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, OrderedDict):
        pred_fn_pairs = list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            _log.warning(
                "%s: An unordered dictionary of predicate/fn pairs was provided, but "
                "exclusive=False. The order of conditional tests is deterministic but not "
                "guaranteed.",
                name,
            )
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype != dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    predicates, actions = zip(*pred_fn_pairs)
    return predicates, actions


@export("case")
def case(
    pred_fn_pairs: object,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first true predicate returns, or the default's.

    Args:
        pred_fn_pairs: a dictionary or list of pairs: a bool scalar tensor and a function.
        default: the function for when no predicate is true; without it that is an error.
        exclusive: whether more than one true predicate is an error.
        strict: as in `tf.cond`.
        name: the scope of the nodes.

    Returns:
        Tensors in the structure that the functions return.

    Raises:
        TypeError: the pairs are none, or not of bool tensors and functions.
        InvalidArgumentError: in a run no predicate is true, without default; or several are, though
            `exclusive`.

    Example:
        >>> x = tf.placeholder(tf.int32, [])
        >>> words = [(x < 0, lambda: tf.constant("less")), (x > 0, lambda: tf.constant("more"))]
        >>> tf.Session().run(tf.case(words, default=lambda: tf.constant("none")), {x: 5})
        b'more'
    """
    predicates, actions = _pairs(pred_fn_pairs, exclusive, name)
    with name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, actions = _with_default(predicates, actions)
        fn = default
        for predicate, action in reversed(list(zip(predicates, actions))):
            # From the last to the first, so that each condition is asked only where the ones before
            # it are false.
            fn = functools.partial(cond, predicate, true_fn=action, false_fn=fn, strict=strict)
        if not exclusive:
            return fn()
        with control_dependencies([_at_most(predicates, 1, "Input error: exclusive=True")]):
            return fn()


def _branches(branch_fns: Sequence[Any], default: Any, branch_index: Tensor) -> list[Any]:
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else [*functions, default]


@export("switch_case")
def switch_case(
    branch_index: Tensor,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """What one of several functions returns, as an integer scalar tells: one `Case` node.

    Args:
        branch_index: an int32 scalar tensor.
        branch_fns: functions, in a list or by their numbers, 0 to the last one.
        default: the function for other numbers; without it that is the last one.
        name: the scope of the nodes.

    Returns:
        Tensors in the structure that the functions return.

    Raises:
        TypeError: the index or the functions are none, or structures or dtypes differ.
        ValueError: numbers are missing.

    Example:
        >>> k = tf.placeholder(tf.int32, [])
        >>> y = tf.switch_case(k, [lambda: tf.constant("a"), lambda: tf.constant("b")])
        >>> tf.Session().run(y, {k: 1})
        b'b'
    """
    from .v2.branches import indexed_case

    functions = _branches(branch_fns, default, branch_index)
    with name_scope(name, "case", [branch_index]):
        return indexed_case(branch_index, functions)


# Conditions known when the graph is built

# Whoever runs the graph may give their values.
_FED = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


@export("contrib.framework.smart_constant_value")
def smart_constant_value(pred: TensorLike) -> bool | None:
    """The value of a condition where it is known, else None."""
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        if value is None:
            value = evaluate_all(pred, opaque=_FED)
        return None if value is None else bool(value)
    raise TypeError(
        "`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: " + str(type(pred))
    )


@export("contrib.framework.smart_cond")
def smart_cond(
    pred: TensorLike,
    true_fn: Callable[..., Any] | None = None,
    false_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """`tf.cond`, or just one of the functions where the condition is known."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def _context_def() -> Any:
    from ...io import protos

    return protos.CondContextDef()


register_proto_function(
    GraphKeys.COND_CONTEXT, _context_def, CondContext.to_proto, CondContext.from_proto
)
