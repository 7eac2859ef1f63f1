# SPDX-License-Identifier: Apache-2.0
"""What rewritten functions call (autograph.py): Python's way for its values, nodes for tensors."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ..public import tf
from .autograph import RESULT, converted


class Undefined:
    """What a variable is before it has a value.

    Args:
        name: the variable's name, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute[:1] == "_":
            raise AttributeError(attribute)
        raise UnboundLocalError(f"{vars(self)['_name']} is used before it has a value")

    def __repr__(self) -> str:
        return f"<no value of {self._name}>"


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


class _Structure:
    """Variables as tensors: what is none, such as None or a layer, must be the same everywhere."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._given: list[Any] | None = None

    def tensors(self, values: Sequence[Any], what: str) -> list[Tensor]:
        """The tensors in some values, in order; ValueError where values do not go together."""
        flat = [_flat(value) for value in values]
        kinds = [[None if _is_number(x) else x for x in parts] for parts in flat]
        if self._given is None:
            self._given = kinds
            self._values, self._first = list(values), flat
        else:
            for name, before, now in zip(self._names, self._given, kinds):
                self._check(name, before, now, what)
            self._compare(flat)
        return [_as_tensor(x) for parts in flat for x in parts if _is_number(x)]

    def _check(self, name: str, before: list[Any], now: list[Any], what: str) -> None:
        for value in (*before, *now):
            if isinstance(value, Undefined):
                raise ValueError(
                    f"{name!r} must have a value in {what}; it has none in one of them, whose "
                    "choice is a tensor's"
                )
        if len(before) != len(now) or any(a is not b and a != b for a, b in zip(before, now)):
            raise ValueError(
                f"{name!r} must be a tensor of one kind in {what}, as a tensor chooses; it is "
                f"{before} and {now}"
            )

    def _compare(self, flat: list[list[Any]]) -> None:
        # TensorFlow makes constants of Python's numbers to compare their dtypes; seeds of what is
        # made behind depend on how many nodes there are.
        for pair in zip(self._first, flat):
            for value in (x for parts in zip(*pair) for x in parts):
                if isinstance(value, (bool, int, float)):
                    convert_to_tensor(value)

    def packed(self, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        """The variables with the tensors in their places."""
        given = iter(tensors)
        assert self._given is not None, "values were seen"
        found = []
        for value, kinds in zip(self._values, self._given):
            flat = [next(given) if kind is None else kind for kind in kinds]
            found.append(nest.pack_sequence_as(value, flat) if nest.is_sequence(value) else flat[0])
        return tuple(found)


def _flat(value: Any) -> list[Any]:
    # (None is marked by a word, as None stands for a tensor.)
    return [_NOTHING if x is None else x for x in nest.flatten(value)]


class _Nothing:
    """None, where None means a tensor."""

    def __repr__(self) -> str:
        return "None"


_NOTHING = _Nothing()


def _is_number(value: Any) -> bool:
    kinds = (bool, int, float, complex, np.ndarray, np.generic, tf.TensorArray)
    return _is_tensor(value) or isinstance(value, kinds)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, tf.TensorArray) else convert_to_tensor(value)


def _none_again(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        nest.map_structure(lambda x: None if isinstance(x, _Nothing) else x, value)
        for value in values
    )


def if_stmt(
    condition: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    names: Sequence[str],
) -> None:
    """`if`: runs a branch, or builds both where a tensor chooses.

    Args:
        condition: a value of Python's, or a tensor.
        body, orelse: run the branches' statements.
        get_state, set_state: read and write the variables that the branches change.
        names: of these variables.
    """
    if not _is_tensor(condition):
        return body() if condition else orelse()
    before = get_state()
    # With a function's result goes whether it has one.
    more = ("_has_result",) if RESULT in names else ()
    structure = _Structure((*names, *more))

    def branch(run: Callable[[], None]) -> Callable[[], list[Any]]:
        def build() -> list[Any]:
            set_state(before)
            run()
            state = (*get_state(), *(True for _ in more))
            found = structure.tensors(state, "both branches of an `if`")
            return found or [tf.no_op()]

        return build

    # (Functions of which each gives one tensor or more; a list of one is the tensor itself.)
    found = tf.cond(condition, branch(body), branch(orelse), strict=True)
    tensors = [x for x in found if isinstance(x, Tensor)]
    return set_state(_none_again(structure.packed(tensors))[: len(names)])


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    names: Sequence[str],
) -> None:
    """`while`: loops, or builds a loop where a tensor says whether it goes on.

    Args:
        test: gives the condition.
        body: runs the statements.
        get_state, set_state: read and write the variables that the body changes.
        names: of these variables.
    """
    condition = test()
    if not _is_tensor(condition):
        while condition:
            body()
            condition = test()
        return
    _loop(lambda turn: test(), lambda turn: body(), get_state, set_state, names)


def for_stmt(
    items: Any,
    body: Callable[[Any], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    names: Sequence[str],
) -> None:
    """`for`: loops, or builds a loop over the first axis of a tensor.

    Args:
        items: what is gone through.
        body: runs the statements for an item.
        get_state, set_state: read and write the variables that the body changes.
        names: of these variables.
    """
    if not _is_tensor(items):
        for item in items:
            body(item)
        return
    items = convert_to_tensor(items)
    count = items.shape.as_list()[0] if items.shape.ndims else None
    count = tf.shape(items)[0] if count is None else count
    _loop(
        lambda turn: tf.less(turn, count),
        lambda turn: body(items[turn]),
        get_state,
        set_state,
        names,
    )


def _loop(
    test: Callable[[Any], Any],
    body: Callable[[Any], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    names: Sequence[str],
) -> None:
    """A loop of the graph; variables without a value before it have none behind it."""
    before = get_state()
    kept = [n for n, v in enumerate(before) if not isinstance(v, Undefined)]
    structure = _Structure([names[n] for n in kept])
    first = structure.tensors([before[n] for n in kept], "all turns of a loop")

    def write(tensors: Sequence[Tensor]) -> None:
        values = list(before)
        for n, value in zip(kept, _none_again(structure.packed(tensors))):
            values[n] = value
        set_state(tuple(values))

    def goes_on(turn: Any, *tensors: Any) -> Any:
        write(tensors)
        return tf.cast(test(turn), tf.bool)

    def step(turn: Any, *tensors: Any) -> list[Any]:
        write(tensors)
        body(turn)
        state = get_state()
        return [turn + 1, *structure.tensors([state[n] for n in kept], "all turns of a loop")]

    found = tf.while_loop(goes_on, step, [tf.constant(0), *first], return_same_structure=True)
    write(found[1:])


def if_exp(condition: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body if condition else orelse`."""
    if _is_tensor(condition):
        return tf.cond(condition, body, orelse)
    return body() if condition else orelse()


def and_(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first and second`; the second is built within a condition where the first is a tensor."""
    value = first()
    if _is_tensor(value):
        return tf.cond(value, second, lambda: value)
    return value and second()


def or_(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first or second`; the second is built within a condition where the first is a tensor."""
    value = first()
    if _is_tensor(value):
        return tf.cond(value, lambda: value, second)
    return value or second()


def not_(value: Any) -> Any:
    """`not value`."""
    return tf.logical_not(value) if _is_tensor(value) else not value


def eq(first: Any, second: Any) -> Any:
    """`first == second`, element by element for tensors."""
    if _is_tensor(first) or _is_tensor(second):
        return tf.equal(first, second)
    return first == second


def not_eq(first: Any, second: Any) -> Any:
    """`first != second`, element by element for tensors."""
    if _is_tensor(first) or _is_tensor(second):
        return tf.not_equal(first, second)
    return first != second


def _length(value: Any) -> Any:
    if not _is_tensor(value):
        return len(value)
    count = value.shape.as_list()[0] if value.shape.ndims else None
    return tf.shape(value)[0] if count is None else count


def _range(*limits: Any) -> Any:
    return tf.range(*limits) if any(map(_is_tensor, limits)) else range(*limits)


def _number(kind: type, dtype: str) -> Callable[..., Any]:
    def convert(value: Any = 0, *more: Any) -> Any:
        return tf.cast(value, dtype) if _is_tensor(value) else kind(value, *more)

    return convert


_BUILTINS: dict[Any, Callable[..., Any]] = {
    len: _length,
    range: _range,
    int: _number(int, "int32"),
    float: _number(float, "float32"),
}


def callee(function: Any, module: str) -> Any:
    """What is called in the place of a function: itself, rewritten if it is the program's."""
    if isinstance(function, (types.FunctionType, types.MethodType)):
        plain = getattr(function, "__func__", function)
        home = getattr(plain, "__globals__", {}).get("__name__") or ""
        if home.partition(".")[0] == module.partition(".")[0]:
            return converted(function)
        return function
    if isinstance(function, (types.BuiltinFunctionType, type)):
        return _BUILTINS.get(function, function)
    return function
