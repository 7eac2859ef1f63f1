# SPDX-License-Identifier: Apache-2.0
"""The kinds of objects of the package that a SavedModel brings back as what they were."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..keras.optimizers.base import Optimizer
from ..keras.optimizers.restored import RestoredOptimizer
from ..objects.data_wrappers import ListWrapper, _DictWrapper
from .revived_types import VersionedTypeRegistration, register_revived_type
from .revived_types import deserialize as deserialize
from .revived_types import serialize as serialize
from .signature_functions import SignatureMap


def _set_list_item(items: ListWrapper, index: str, value: Any) -> None:
    position = int(index)
    if len(items) <= position:
        items.extend([None] * (1 + position - len(items)))
    items[position] = value


# Identifier -> class of what is saved, what makes such an object, and what gives it its children.
_KINDS: dict[str, tuple[type, Callable[[], Any], Callable[..., Any]]] = {
    "signature_map": (SignatureMap, SignatureMap, SignatureMap._add_signature),
    "trackable_dict_wrapper": (_DictWrapper, lambda: _DictWrapper({}), operator.setitem),
    "trackable_list_wrapper": (ListWrapper, lambda: ListWrapper([]), _set_list_item),
    "optimizer": (Optimizer, RestoredOptimizer, RestoredOptimizer._set_hyper),
}


def _register(
    identifier: str, kind: type, make: Callable[[], Any], setter: Callable[..., Any]
) -> None:
    version = VersionedTypeRegistration(lambda proto: make(), 1, 1, 1, setter=setter)
    register_revived_type(identifier, lambda obj: isinstance(obj, kind), [version])


for _identifier, _parts in _KINDS.items():
    _register(_identifier, *_parts)
