# SPDX-License-Identifier: Apache-2.0
"""What modules and linear operators have: variables and other modules among their attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..engine.types.nest import flatten_with_tuple_paths
from .public import tf


def _is_variable(thing: object) -> bool:
    return isinstance(thing, tf.Variable)


class Holder:
    """An object with variables and other such objects among its attributes.

    They are found in lists, tuples and dicts, too.
    """

    # Attributes that are not looked into.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_tracking",))

    @property
    def name_scope(self) -> Any:
        """The name scope of the object, to be entered."""
        raise NotImplementedError

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables in order of attributes' names, then those of the modules."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables to train."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and v.trainable))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules below this one, the nearest first."""
        return tuple(self._flatten(predicate=lambda thing: isinstance(thing, Holder)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], Any] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """What is found in the attributes in order of their names, then in modules among it.

        With paths a thing comes once for each of them, otherwise once.
        """
        seen = {id(self)}

        def leaves(module: Holder, path: tuple[Any, ...]) -> Iterator[Any]:
            below = []
            for key in sorted(vars(module), key=attribute_traversal_key):
                if key in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                for place, leaf in flatten_with_tuple_paths(vars(module)[key]):
                    if not with_path and id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    full = (*path, key, *place)
                    if predicate is None or predicate(leaf):
                        yield (full, leaf) if with_path else leaf
                    if recursive and isinstance(leaf, Holder):
                        below.append((full, leaf))
            for place, inner in below:
                yield from leaves(inner, place)

        return leaves(self, ())

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that runs in the name scope of its module."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped
