# SPDX-License-Identifier: Apache-2.0
"""`OpDefLibrary`: nodes by op type and named arguments, as TensorFlow's own modules make them."""

from __future__ import annotations

from typing import Any

from .build import apply_op

# Field of an argument -> the type that the attribute it names must have.
_ATTR_TYPES = {"type_attr": "type", "type_list_attr": "list(type)", "number_attr": "int"}


class OpDefLibrary:
    """The op types known here; `add_op` only checks, new types are stated with `build.define`."""

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds a node; returns its outputs, or the node when it has none."""
        return apply_op(op_type_name, name, **keywords)

    def add_op(self, op_def: Any) -> None:
        """Checks that an OpDef message is consistent; TypeError says what is wrong."""
        kinds = {attr.name: attr.type for attr in op_def.attr}
        for arg in (*op_def.input_arg, *op_def.output_arg):
            stated = sum(map(bool, (arg.type, arg.type_attr, arg.type_list_attr)))
            if stated != 1:
                raise TypeError(
                    f"Arg '{arg.name}' of '{op_def.name}' must have one type field not {stated}"
                )
            for field, wanted in _ATTR_TYPES.items():
                _check_attr(op_def.name, kinds, getattr(arg, field), field, wanted)

    def add_op_list(self, op_list: Any) -> None:
        """`add_op` for each OpDef of a list."""
        for op_def in op_list.op:
            self.add_op(op_def)


def _check_attr(op: str, kinds: dict[str, str], name: str, field: str, wanted: str) -> None:
    if not name:
        return
    if name not in kinds:
        raise TypeError(f"Inconsistent OpDef for '{op}', missing attr '{name}'")
    if kinds[name] != wanted:
        raise TypeError(f"Attr '{name}' of '{op}' used as a {field} but has type {kinds[name]}")
