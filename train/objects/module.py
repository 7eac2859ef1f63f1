# SPDX-License-Identifier: Apache-2.0
"""`tf.Module`: a named object with variables and other modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.types.nest import flatten_with_tuple_paths
from ...ops.public import tf
from ..variables.variable_kind import is_variable
from .tracking import AutoTrackable

_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")


def camel_to_snake(value: str) -> str:
    """The name of a class as that of a scope: "BigLayer" is "big_layer"."""
    return _WORDS.sub(r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Whether a module may have that name."""
    return bool(_IDENTIFIER.match(name))


class Module(AutoTrackable):
    """Base class of parts of a model (tf.Module).

    Variables and modules are found among the attributes, also in lists, tuples and dicts.  A name
    that is no Python identifier raises a ValueError; None stands for the name of the class.
    """

    # Attributes that are not looked into.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_tracking",))

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with tf.name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name, without those of other modules."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope of the module, to be entered."""
        return tf.name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables in order of attributes' names, then those of the modules."""
        return tuple(self._flatten(predicate=is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables to train."""
        return tuple(self._flatten(predicate=lambda v: is_variable(v) and v.trainable))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules below this one, the nearest first."""
        return tuple(self._flatten(predicate=lambda thing: isinstance(thing, Module)))

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

        def leaves(module: Module, path: tuple[Any, ...]) -> Iterator[Any]:
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
                    if recursive and isinstance(leaf, Module):
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
