# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util.tf_export`: decorators that note under which names things are public.

Code copied from TensorFlow has them; what they note is read by its own tools.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from .functions import unwrap

_Thing = TypeVar("_Thing")
ESTIMATOR_API_NAME, KERAS_API_NAME, TENSORFLOW_API_NAME = "estimator", "keras", "tensorflow"
# API -> the beginning of the attributes that its names are in.
_ATTRIBUTES = {ESTIMATOR_API_NAME: "_estimator", KERAS_API_NAME: "_keras", "tensorflow": "_tf"}
# The API whose names begin with a word; all others are TensorFlow's.
_BEGINNINGS = {ESTIMATOR_API_NAME: "estimator.", KERAS_API_NAME: "keras."}


class SymbolAlreadyExposedError(Exception):
    """A thing has public names already."""


class InvalidSymbolNameError(Exception):
    """A name is not one of the API."""


class api_export:  # noqa: N801 - TensorFlow's name
    """Notes names of a function or class, or (`export_constant`) of a module's constant.

    Args:
        *args: the public names.
        api_name: whose they are: "tensorflow", "keras" or "estimator".
        v1: those of version 1; the same if None.
        overrides: things that have these names no more.
        allow_multiple_exports: whether a thing may get other ones.

    Raises:
        InvalidSymbolNameError: names of estimators, and of TensorFlow or Keras, are mixed.
        SymbolAlreadyExposedError: a thing has names already.
    """

    def __init__(
        self,
        *args: str,
        api_name: str = TENSORFLOW_API_NAME,
        v1: Sequence[str] | None = None,
        overrides: Sequence[Any] = (),
        allow_multiple_exports: bool = False,
    ) -> None:
        self._names, self._names_v1 = args, args if v1 is None else v1
        self._api_name, self._overrides = api_name, overrides
        self._allow_multiple_exports = allow_multiple_exports
        is_wanted, beginning = api_name == ESTIMATOR_API_NAME, _BEGINNINGS[ESTIMATOR_API_NAME]
        for name in (*self._names, *self._names_v1):
            if name.startswith(beginning) != is_wanted:
                raise InvalidSymbolNameError(
                    f"`{name}` is not a name of {api_name}: those of estimators, and only they, "
                    f"begin with `{beginning}`"
                )

    def __call__(self, func: _Thing) -> _Thing:
        """Notes the names of a thing, and hands it on."""
        names, names_v1 = self._attributes("names")
        for other in self._overrides:
            delattr(unwrap(other)[1], names)
        target: Any = unwrap(func)[1]
        for attribute, found in ((names, self._names), (names_v1, self._names_v1)):
            # (A class has what another one that it inherits was given.)
            if attribute in vars(target) and not self._allow_multiple_exports:
                raise SymbolAlreadyExposedError(
                    f"Symbol {target.__name__} is already exposed as {getattr(target, attribute)}."
                )
            setattr(target, attribute, found)
        return func

    def export_constant(self, module_name: str, name: Any) -> None:
        """Notes the names of a constant, by its module's name and its own."""
        module = sys.modules[module_name]
        for attribute, names in zip(
            self._attributes("constants"), (self._names, self._names_v1), strict=True
        ):
            if not hasattr(module, attribute):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))

    def _attributes(self, what: str) -> tuple[str, str]:
        begin = _ATTRIBUTES[self._api_name]
        return f"{begin}_api_{what}", f"{begin}_api_{what}_v1"


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def _noted(thing: Any, what: str) -> Iterator[Any]:
    """What was noted of a thing itself for TensorFlow, Keras and estimators, in this order."""
    for api in (TENSORFLOW_API_NAME, KERAS_API_NAME, ESTIMATOR_API_NAME):
        yield from vars(thing).get(f"{_ATTRIBUTES[api]}_api_{what}", ())


def get_v1_names(symbol: Any) -> list[str]:
    """The names of version 1 that a thing was given."""
    return list(_noted(unwrap(symbol)[1], "names_v1"))


def get_v2_names(symbol: Any) -> list[str]:
    """The names of version 2 that a thing was given."""
    return list(_noted(unwrap(symbol)[1], "names"))


def get_v1_constants(module: Any) -> list[tuple[Sequence[str], Any]]:
    """The constants of a module that were given names of version 1."""
    return list(_noted(module, "constants_v1"))


def get_v2_constants(module: Any) -> list[tuple[Sequence[str], Any]]:
    """The constants of a module that were given names of version 2."""
    return list(_noted(module, "constants"))
