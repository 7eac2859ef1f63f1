# SPDX-License-Identifier: Apache-2.0
"""`tf.Module`: a named object with variables and other modules among its attributes."""

from __future__ import annotations

import re
from typing import Any

from ...ops.holder import Holder
from ...ops.public import tf
from .tracking import AutoTrackable

_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")


def camel_to_snake(value: str) -> str:
    """The name of a class as that of a scope: "BigLayer" is "big_layer"."""
    return _WORDS.sub(r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Whether a module may have that name."""
    return bool(_IDENTIFIER.match(name))


class Module(AutoTrackable, Holder):
    """Base class of parts of a model (tf.Module).

    Variables and modules are found among the attributes, also in lists, tuples and dicts.  A name
    that is no Python identifier raises a ValueError; None stands for the name of the class.
    """

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
