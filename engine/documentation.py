# SPDX-License-Identifier: Apache-2.0
"""What `help` says of functions that make one node: a definition's words, completed by its facts.

The `doc` of a definition says what the op does.  Arguments, results and dtypes are read off its
signature; its sections (`Args:`, `Returns:`, `Raises:`, `Example:`) add what that cannot say.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from .graph.registry import TYPE_GROUPS, Arg, Attr, OpDef
from .types import dtypes

SECTIONS = ("Args", "Returns", "Raises", "Example")
_HEADER = re.compile(rf"^ *({'|'.join(SECTIONS)}):\n", re.M)
_ENTRY = re.compile(r"^(\*{0,2}\w+): ", re.M)
_WIDTH = 88

# Type of attribute -> (one of them, several).
_KINDS = {
    "int": ("an integer", "integers"),
    "float": ("a number", "numbers"),
    "bool": ("a bool", "bools"),
    "string": ("a string", "strings"),
    "type": ("a dtype", "dtypes"),
    "shape": ("a shape", "shapes"),
    "tensor": ("a constant", "constants"),
    "func": ("a function", "functions"),
}


def documentation(definition: OpDef, shown: dict[str, str], doc: str) -> str:
    """The docstring of a function; `shown` has its parameters by the names of the definition."""
    summary, sections = read(doc)
    sections["Args"] = "\n".join(_arguments(definition, shown, _entries(sections.get("Args", ""))))
    sections["Returns"] = _filled(f"{_result(definition, shown)} {sections.get('Returns', '')}")
    typed = list(_type_errors(definition))
    sections["Raises"] = "\n".join([*typed, *sections.get("Raises", "").splitlines()])
    return written(summary, sections)


def read(doc: str) -> tuple[str, dict[str, str]]:
    """The text before all sections, and the text of each."""
    summary, *parts = _HEADER.split(doc)
    first, _, rest = summary.partition("\n")
    sections: dict[str, str] = {}
    for name, part in zip(parts[::2], parts[1::2]):
        text = textwrap.dedent(part).strip()
        sections[name] = f"{sections[name]}\n{text}" if name in sections else text
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip(), sections


def written(summary: str, sections: dict[str, str]) -> str:
    """The docstring of a text and of its sections, in their order."""
    parts = [
        f"{name}:\n{textwrap.indent(sections[name], '    ')}"
        for name in SECTIONS
        if sections.get(name)
    ]
    return "\n\n".join([summary, *parts])


def _entries(text: str) -> dict[str, str]:
    """A section's entries by name: "x: the words.  More." without the dot at the end."""
    _, *parts = _ENTRY.split(text)
    words = (" ".join(part.split()).removesuffix(".") for part in parts[1::2])
    return dict(zip(parts[::2], words))


def _filled(text: str, name: str = "") -> str:
    lead = f"{name}: " if name else ""
    hanging = "    " if name else ""
    return textwrap.fill(
        lead + " ".join(text.split()),
        _WIDTH,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _arguments(definition: OpDef, shown: dict[str, str], words: dict[str, str]) -> Iterator[str]:
    facts = {arg.name: _input(definition, shown, i) for i, arg in enumerate(definition.inputs)}
    facts.update({attr.name: _attribute(attr) for attr in definition.attrs if attr.name in shown})
    for name, label in shown.items():
        own = words.get(label)
        yield _filled(f"{own}; {facts[name]}." if own else f"{facts[name]}.", label)
    yield "name: of the operation."


def _input(definition: OpDef, shown: dict[str, str], index: int) -> str:
    arg = definition.inputs[index]
    if arg.dtype == dtypes.resource:
        return "a resource's handle"
    what = "a variable" if arg.is_ref else "a tensor"
    if arg.number_attr or arg.type_list_attr:
        what = "a list of tensors"
    return f"{what} of {_dtype(definition, shown, arg, definition.inputs[:index])}"


def _dtype(definition: OpDef, shown: dict[str, str], arg: Arg, before: Iterable[Arg]) -> str:
    """Which dtypes an argument may have: by name, as an argument before it, or as allowed."""
    if arg.dtype is not None:
        return arg.dtype.name
    if arg.type_list_attr:
        return "any dtypes"
    for other in before:
        if other.type_attr == arg.type_attr:
            return f"the dtype of `{shown[other.name]}`"
    if arg.type_attr in shown:
        return f"the dtype `{shown[arg.type_attr]}`"
    return _any_of(definition.attr(arg.type_attr or "").allowed)


def _any_of(allowed: tuple[Any, ...] | None) -> str:
    if allowed is None:
        return "any dtype"
    for group, words in (("numbertype", "any numeric dtype"), ("realnumbertype", "any real dtype")):
        if {dtypes.BY_NAME[name.strip()] for name in TYPE_GROUPS[group].split(",")} == set(allowed):
            return words
    return _either([dtype.name for dtype in allowed])


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _attribute(attr: Attr) -> str:
    kind = attr.type.removeprefix("list(").removesuffix(")")
    one, several = _KINDS[kind]
    text = f"a list of {several}" if kind != attr.type else one
    if attr.allowed and kind == "type":
        text = f"the dtype {_any_of(attr.allowed)}"
    elif attr.allowed:
        text = _either([_value(value) for value in attr.allowed])
    if attr.minimum:
        text += f", at least {attr.minimum}" if kind == attr.type else f" ({attr.minimum} or more)"
    return f"{text}, {_value(attr.default)} by default" if attr.has_default else text


def _value(value: Any) -> str:
    value = value.decode("latin1") if isinstance(value, bytes) else value
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _result(definition: OpDef, shown: dict[str, str]) -> str:
    """What a call returns."""
    outputs = definition.outputs
    if not outputs:
        return "The operation."
    texts = [_output(definition, shown, arg) for arg in outputs]
    if len(outputs) == 1:
        return f"{texts[0][0].upper()}{texts[0][1:]}."
    named = "; ".join(f"`{arg.name}`, {text}" for arg, text in zip(outputs, texts))
    return f"A named tuple of {named}."


def _output(definition: OpDef, shown: dict[str, str], arg: Arg) -> str:
    if arg.dtype == dtypes.resource:
        return "a resource's handle"
    what = "the variable, as a reference" if arg.is_ref else "a tensor"
    if arg.number_attr or arg.type_list_attr:
        what = "a list of tensors"
    return what if arg.is_ref else f"{what} of {_dtype(definition, shown, arg, definition.inputs)}"


def _type_errors(definition: OpDef) -> Iterator[str]:
    """Whether dtypes of inputs can be wrong."""
    used = [arg.type_attr for arg in definition.inputs if arg.type_attr]
    if any(definition.attr(name).allowed for name in used):
        yield "TypeError: a dtype is not allowed" + (
            ", or two differ that must be one." if len(used) > len(set(used)) else "."
        )
    elif len(used) > len(set(used)):
        yield "TypeError: two dtypes differ that must be one."
