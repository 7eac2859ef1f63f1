# SPDX-License-Identifier: Apache-2.0
"""`if`, `while` and `for` of rewritten functions: Python's for its values, nodes for tensors.

The variables of a statement are what its functions take and return, as in TensorFlow 1.15, and what
`get_state` and `set_state` read and write; rewritten functions have all of theirs in the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ...public import tf
from ..function_graph import FuncGraph
from .jumps import RESULT
from .state import Structure, Undefined, is_dataset, is_tensor, none_again

Values = tuple[Any, ...]


def _read(get_state: Callable[[], Any] | None) -> Values:
    return tuple(get_state()) if get_state is not None else ()


def _tuple(values: Any) -> Values:
    return () if values is None else values if isinstance(values, tuple) else (values,)


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], Values],
    set_state: Callable[[Any], None],
    init_vars: Any = (),
    basic_symbol_names: Sequence[str] | None = None,
    composite_symbol_names: Sequence[str] | None = None,
) -> Any:
    """`if`: runs a branch, or builds both where a tensor chooses.

    Args:
        cond: a value of Python's, or a tensor.
        body, orelse: run the branches' statements, and return variables.
        get_state, set_state: read and write the other variables that the branches change.
        init_vars: nothing.
        basic_symbol_names, composite_symbol_names: of the variables, those first that must have a
            value behind it; variables beyond those that are named have the values of before then.

    Returns:
        What the branch returns.

    Raises:
        ValueError: a variable has no value in one of the branches.
        TypeError: its values are of several kinds or dtypes.
    """
    if not is_tensor(cond):
        return body() if cond else orelse()
    names = [*(basic_symbol_names or ()), *(composite_symbol_names or ())]
    before = _read(get_state)
    is_named = basic_symbol_names is not None
    firm = {*(basic_symbol_names or ()), *(x for x in names if not x.isidentifier())}
    returned: list[Any] = []
    # With a function's result goes whether it has one.
    more = ("_has_result",) if RESULT in names else ()
    structure = Structure((*names, *more), "TRUE branch", "FALSE branch")

    def state_of(run: Callable[[], Any], kind: str) -> Values:
        found = run()
        returned.append(found)
        values = (*_tuple(found), *_read(get_state))
        set_state(before)
        values = values[: len(names)] if is_named else values
        _refuse_undefined(values, kind, firm if is_named else None)
        if is_named:
            # (What has no value before and needs none has none behind, either.)
            own = len(_tuple(found))
            values = (*values[:own], *(_left(a, b, firm) for a, b in zip(before, values[own:])))
        return (*values, *(True for _ in more))

    def branch(run: Callable[[], Any], kind: str) -> Callable[[], list[Any]]:
        return lambda: structure.tensors(state_of(run, kind)) or [tf.no_op()]

    # (Functions of which each gives one tensor or more; a list of one is the tensor itself.)
    found = tf.cond(cond, branch(body, "if"), branch(orelse, "else"), strict=True)
    tensors = [x for x in found if not hasattr(x, "node_def")]
    values = none_again(structure.packed(tensors))[: structure.count - len(more)]
    first = returned[0]
    own = len(_tuple(first))
    set_state((*values[own:], *before[len(values) - own :]))
    values = values[:own]
    return None if first is None else values if isinstance(first, tuple) else values[0]


def _left(before: Any, now: Any, firm: Container[str]) -> Any:
    is_lost = isinstance(before, Undefined) and before.symbol_name not in firm
    return before if is_lost else now


def _refuse_undefined(values: Values, kind: str, firm: Container[str] | None) -> None:
    """ValueError where variables have no value behind a branch that need one."""
    lost = [x.symbol_name for x in values if isinstance(x, Undefined)]
    if RESULT in lost:
        raise ValueError(
            f"A value must also be returned from the {kind} branch. If a value is returned from "
            "one branch of a conditional a value must be returned from all branches."
        )
    lost = [name for name in lost if firm is None or name in firm]
    if lost:
        raise ValueError(
            f"The following symbols must also be initialized in the {kind} branch: {tuple(lost)}. "
            "Alternatively, you may initialize them before the if statement."
        )


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    get_state: Callable[[], Values] | None,
    set_state: Callable[[Any], None] | None,
    init_vars: Values,
    basic_symbol_names: Sequence[str] = (),
    composite_symbol_names: Sequence[str] = (),
    opts: dict[str, Any] | None = None,
) -> Any:
    """`while`: loops, or builds a loop where a tensor says whether it goes on.

    Args:
        test: gives the condition.
        body: runs the statements, and returns variables.
        get_state, set_state: read and write the other variables that the body changes.
        init_vars: the variables that `test` and `body` take.
        basic_symbol_names, composite_symbol_names: of the variables, those first that must have a
            value before it.
        opts: arguments of `tf.while_loop`.

    Returns:
        The variables that `body` returns.
    """
    # (What the condition does must not be done once more.)
    with FuncGraph("condition", False, set(), False).as_default():
        condition = test(*init_vars)
    if not is_tensor(condition):
        return _while_python(condition, test, body, init_vars)
    loop = Loop(get_state, set_state, init_vars, basic_symbol_names, composite_symbol_names)
    return loop.build(lambda turn, *v: test(*v), lambda turn, *v: body(*v), opts=opts)


# Where a loop of Python's that does not end is taken for a mistake, as TensorFlow does.
PYTHON_MAX_ITERATIONS = 100_000_000


def _while_python(
    condition: Any, test: Callable[..., Any], body: Callable[..., Any], values: Values
) -> Values:
    turns = 0
    while condition:
        turns += 1
        if turns > PYTHON_MAX_ITERATIONS:
            raise ValueError(
                "iteration limit exceeded: a `while` that Python runs when the graph is built had "
                f"{PYTHON_MAX_ITERATIONS} turns; a condition that is a tensor makes a loop of it"
            )
        values = _tuple(body(*values))
        condition = test(*values)
    return values


def for_stmt(
    iter_: Any,
    extra_test: Callable[..., Any] | None,
    body: Callable[..., Any],
    get_state: Callable[[], Values] | None,
    set_state: Callable[[Any], None] | None,
    init_vars: Values,
    basic_symbol_names: Sequence[str] = (),
    composite_symbol_names: Sequence[str] = (),
    opts: dict[str, Any] | None = None,
) -> Any:
    """`for`: loops, or builds a loop over the first axis of a tensor, a range or a dataset.

    Args:
        iter_: what is gone through.
        extra_test: whether the loop goes on; None for always.
        body: runs the statements for an item, and returns variables.
        get_state, set_state: read and write the other variables that the body changes.
        init_vars: the variables that `extra_test` and `body` take.
        basic_symbol_names, composite_symbol_names: of the variables, those first that must have a
            value before it.
        opts: arguments of `tf.while_loop`.

    Returns:
        The variables that `body` returns.
    """
    loop = Loop(get_state, set_state, init_vars, basic_symbol_names, composite_symbol_names)
    if is_tensor(iter_):
        items = convert_to_tensor(iter_)
        over = _over_range if items.op.type == "Range" else _over_rows
        return over(loop, items, extra_test, body, opts)
    if is_dataset(iter_):
        from .datasets import over_dataset

        return over_dataset(loop, iter_, extra_test, body)
    if hasattr(iter_, "_iterator_resource"):
        from .datasets import over_iterator

        return over_iterator(loop, iter_, extra_test, body)
    return _over_python(iter_, extra_test, body, init_vars)


def _over_python(
    items: Any, extra_test: Callable[..., Any] | None, body: Callable[..., Any], values: Values
) -> Values:
    for item in items:
        values = _tuple(body(item, *values))
        if extra_test is not None and not extra_test(*values):
            break
    return values


def _over_range(
    loop: Loop, items: Tensor, extra_test: Any, body: Callable[..., Any], opts: Any
) -> Values:
    """Over `tf.range`, without making its elements."""
    start, limit, delta = items.op.inputs
    step = constant_value(delta)

    def goes_on(item: Any, *values: Any) -> Any:
        if step is not None:
            return tf.less(item, limit) if np.all(step >= 0) else tf.greater(item, limit)
        up = tf.logical_and(tf.greater_equal(delta, 0), tf.less(item, limit))
        return tf.logical_or(up, tf.logical_and(tf.less(delta, 0), tf.greater(item, limit)))

    return loop.build(_both(goes_on, extra_test), body, start, lambda item: item + delta, opts)


def _over_rows(
    loop: Loop, items: Tensor, extra_test: Any, body: Callable[..., Any], opts: Any
) -> Values:
    """Over the first axis of a tensor."""
    known = items.shape.as_list()[0] if items.shape.ndims else None
    count = tf.shape(items)[0] if known is None else known
    rows = tf.TensorArray(items.dtype, size=count).unstack(items)
    return loop.build(
        _both(lambda turn, *values: tf.less(turn, count), extra_test),
        lambda turn, *values: body(rows.read(turn), *values),
        opts=opts,
    )


def _both(goes_on: Callable[..., Any], extra_test: Any) -> Callable[..., Any]:
    """Whether there is a further item, and the loop was not left."""
    if extra_test is None:
        return goes_on

    def both(item: Any, *values: Any) -> Any:
        left = lambda: tf.cast(convert_to_tensor(extra_test(*values)), tf.bool)  # noqa: E731
        return tf.cond(goes_on(item, *values), left, lambda: tf.constant(False))

    return both


class Loop:
    """The variables of a loop, and how it is built.

    Args:
        get_state, set_state: read and write variables.
        init_vars: the values of further variables, which functions take and return.
        firm, loose: the names of the variables, those first that must have a value.
    """

    def __init__(
        self,
        get_state: Callable[[], Values] | None,
        set_state: Callable[[Any], None] | None,
        init_vars: Values,
        firm: Sequence[str] | None,
        loose: Sequence[str] | None,
    ) -> None:
        self.get_state: Any = get_state or (lambda: ())
        self.set_state: Any = set_state or (lambda values: None)
        self.values = init_vars
        self._firm = firm or ()
        self.names = [*(firm or ()), *(loose or ())]

    def begin(self) -> list[Tensor]:
        """The variables before the loop as tensors; ValueError for those without a value."""
        self.before = (*self.values, *tuple(self.get_state()))
        lost = [x.symbol_name for x in self.before if isinstance(x, Undefined)]
        if RESULT in lost:
            raise ValueError("return statements are not supported within a TensorFlow loop.")
        lost = [name for name in lost if name in self._firm or not self.names]
        if lost:
            raise ValueError(
                "TensorFlow requires that the following symbols must be defined before the loop: "
                f"{tuple(lost)}"
            )
        # (What has no value before the loop, and needs none, has none behind it.)
        self._kept = [n for n, x in enumerate(self.before) if not isinstance(x, Undefined)]
        names = self.names or [f"variable {n}" for n in range(len(self.before))]
        kept = [names[n] for n in self._kept]
        self.structure = Structure(kept, "before the loop", "after one iteration")
        return self.structure.tensors([self.before[n] for n in self._kept])

    def write(self, tensors: Sequence[Any]) -> Values:
        """Gives the variables values; returns those that functions take."""
        values = list(self.before)
        for n, value in zip(self._kept, none_again(self.structure.packed(tensors))):
            values[n] = value
        self.set_state(tuple(values[len(self.values) :]))
        return tuple(values[: len(self.values)])

    def after(self, found: Any, keeps_shapes: bool = True) -> list[Tensor]:
        """The variables after a turn that returned some, as tensors."""
        state = (*_tuple(found), *tuple(self.get_state()))
        return self.structure.tensors([state[n] for n in self._kept], keeps_shapes)

    def build(
        self,
        goes_on: Callable[..., Any],
        body: Callable[..., Any],
        start: Any = None,
        advance: Callable[[Any], Any] = lambda turn: turn + 1,
        opts: dict[str, Any] | None = None,
    ) -> Values:
        """A loop of the graph whose functions take the turn's number and variables."""
        first = self.begin()
        start = tf.constant(0) if start is None else start

        def test(turn: Any, *tensors: Any) -> Any:
            return tf.cast(goes_on(turn, *self.write(tensors)), tf.bool)

        def turn(number: Any, *tensors: Any) -> list[Any]:
            found = self.after(body(number, *self.write(tensors)))
            return [advance(number), *found]

        options = {"return_same_structure": True, **(opts or {})}
        found = tf.while_loop(test, turn, [start, *first], **options)
        return self.write(found[1:])
