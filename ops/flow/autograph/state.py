# SPDX-License-Identifier: Apache-2.0
"""The variables of branches and loops as tensors: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ...public import tf


class Undefined:
    """What a variable is before it has a value.

    Args:
        symbol_name: the variable's name, for messages.
    """

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def _refused(self, *given: Any) -> NoReturn:
        raise UnboundLocalError(
            f"{self.symbol_name} is used before it has a value; a variable of a loop or a branch "
            "on tensors must have one before it"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __call__ = __iter__ = _refused
    __getitem__ = __len__ = __bool__ = __lt__ = __gt__ = __le__ = __ge__ = __neg__ = _refused

    def __getattr__(self, attribute: str) -> Any:
        if attribute[:1] == "_":
            raise AttributeError(attribute)
        return self._refused()

    def __repr__(self) -> str:
        return f"<no value of {self.symbol_name}>"


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or a variable, which is read as one."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def is_dataset(value: Any) -> bool:
    """Whether a value is a dataset."""
    return hasattr(value, "_variant_tensor")


class Structure:
    """Variables as tensors: what is none, such as None or a layer, must be the same everywhere.

    Args:
        names: of the variables.
        first, then: where values are seen first, and later on, for messages.
    """

    def __init__(self, names: Sequence[str], first: str, then: str) -> None:
        self._names, self._places = names, (first, then)
        self._given: list[Any] | None = None
        self.count = 0

    def tensors(self, values: Sequence[Any], keeps_shapes: bool = False) -> list[Tensor]:
        """The tensors in some values, in order; TypeError where values do not go together."""
        flat = [_flat(value) for value in values]
        if self._given is None:
            self._given = [[None if is_number(x) else x for x in parts] for parts in flat]
            self._values, self._first = list(values), flat
            self.count = len(values)
        else:
            names = self._names or [f"variable {n}" for n in range(len(flat))]
            for name, before, now in zip(names, self._first, flat):
                self._check(name, before, now, keeps_shapes)
        return [_as_tensor(x) for parts in flat for x in parts if is_number(x)]

    def _check(self, name: str, before: list[Any], now: list[Any], keeps_shapes: bool) -> None:
        first, then = self._places
        pairs = list(zip(before, now))
        if len(before) != len(now) or not all(_go_together(a, b) for a, b in pairs):
            raise TypeError(
                f'"{name}" does not have the same nested structure in the {first} and the {then}: '
                f"{_listed(before)} and {_listed(now)}; where a tensor chooses it must be a tensor "
                "in both"
            )
        for a, b in pairs:
            if is_number(a) and is_number(b):
                self._check_tensors(name, a, b, keeps_shapes)

    def _check_tensors(self, name: str, a: Any, b: Any, keeps_shapes: bool) -> None:
        if isinstance(a, tf.TensorArray) or isinstance(b, tf.TensorArray):
            return
        # (TensorFlow makes constants of Python's numbers here; seeds of what is made behind depend
        # on how many nodes there are.)
        a, b = (convert_to_tensor(x) if isinstance(x, (bool, int, float)) else x for x in (a, b))
        if not hasattr(a, "dtype") or not hasattr(b, "dtype"):
            return
        first, then = self._places
        kinds = [dtypes.as_dtype(x.dtype).base_dtype for x in (a, b)]
        if kinds[0] != kinds[1]:
            raise TypeError(
                f'"{name}" has dtype {kinds[0].name} in the {first}, but dtype {kinds[1].name} in '
                f"the {then}. TensorFlow control flow requires that they are the same."
            )
        if keeps_shapes and not _is_kept(TensorShape(a.shape), TensorShape(b.shape)):
            raise ValueError(
                f'"{name}" has shape {a.shape} {first}, but shape {b.shape} {then}. TensorFlow '
                "control flow requires it stays the same or be more specific."
            )

    def packed(self, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        """The variables with the tensors in their places."""
        given = iter(tensors)
        assert self._given is not None, "values were seen"
        found = []
        for value, kinds in zip(self._values, self._given):
            flat = [next(given) if kind is None else kind for kind in kinds]
            found.append(nest.pack_sequence_as(value, flat, expand_composites=True))
        return tuple(found)


def _flat(value: Any) -> list[Any]:
    # (None is marked by a word, as None stands for a tensor.)
    return [_NOTHING if x is None else x for x in nest.flatten(value, expand_composites=True)]


class _Nothing:
    """None, where None means a tensor."""

    def __repr__(self) -> str:
        return "None"


_NOTHING = _Nothing()


def _go_together(a: Any, b: Any) -> bool:
    """Whether a variable may be the one in a branch and the other in another one."""
    if a is b or (is_number(a) and is_number(b)):
        return True
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return True
    return type(a) is type(b) and bool(a == b)


def _listed(values: list[Any]) -> str:
    return ", ".join(repr(x) for x in values)


def _is_kept(before: TensorShape, now: TensorShape) -> bool:
    """Whether a shape is another one, or says more."""
    if before.ndims is None or now.ndims is None:
        return before.ndims is None
    sizes = zip(before.as_list(), now.as_list())
    return before.ndims == now.ndims and all(a is None or a == b for a, b in sizes)


def is_number(value: Any) -> bool:
    """Whether a value can be a tensor of a branch or a loop."""
    kinds = (bool, int, float, complex, np.ndarray, np.generic, tf.TensorArray)
    return is_tensor(value) or isinstance(value, kinds)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, tf.TensorArray) else convert_to_tensor(value)


def none_again(values: Sequence[Any]) -> tuple[Any, ...]:
    """Values in which None stands again where a word stood for it."""
    return tuple(
        nest.map_structure(lambda x: None if isinstance(x, _Nothing) else x, value)
        for value in values
    )
