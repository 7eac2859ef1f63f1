# SPDX-License-Identifier: Apache-2.0
"""What `tf.Variable` itself offers: the methods of all kinds of variables, for programs that ask
the class (`hasattr`, `inspect.signature`, `super()`)."""

from __future__ import annotations

import functools
from typing import Any

from .variables import RefVariable, Variable


def _declared(member: Any) -> Any:
    """A method or property with the same signature, which kinds of variables must define."""
    if isinstance(member, property):
        return property(_declared(member.fget))

    @functools.wraps(member)
    def missing(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define {member.__name__}")

    return missing


for _name, _member in vars(RefVariable).items():
    if not _name.startswith("_") and not hasattr(Variable, _name):
        setattr(Variable, _name, _declared(_member))
