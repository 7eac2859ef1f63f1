# SPDX-License-Identifier: Apache-2.0
"""What arguments of layers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from ....ops.state.variable_scope import VariableScope

# A function of a tensor, such as an activation or a normalization.
Function = Callable[..., Any]
# Names of collections; of variables also a dict, by the variables' names.
Collections = Union[str, Sequence[str]]
VariableCollections = Union[Collections, Mapping[str, Collections]]
Scope = Union[str, VariableScope]
Sizes = Union[int, Sequence[int]]
