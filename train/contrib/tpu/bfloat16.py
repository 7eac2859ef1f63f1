# SPDX-License-Identifier: Apache-2.0
"""Variables of float32 that are read as bfloat16."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.public import tf


def _getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if kwargs["dtype"] != dtypes.bfloat16:
        return getter(*args, **kwargs)
    kwargs["dtype"] = dtypes.float32
    return tf.cast(getter(*args, **kwargs), dtypes.bfloat16)


@export("contrib.tpu.bfloat16_scope", "tpu.bfloat16_scope")
@contextlib.contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A variable scope in which variables of bfloat16 are kept as float32 and cast when read."""
    with tf.variable_scope("", custom_getter=_getter) as scope:
        yield scope
