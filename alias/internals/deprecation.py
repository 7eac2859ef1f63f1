# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util.deprecation`: decorators with which programs warn of their own old names.

What the package itself has of TensorFlow's deprecated names only carries a mark and never warns
(engine/deprecation.py); a program that decorates its functions gets the warnings and docstrings
that TensorFlow gives them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from ...engine.deprecation import deprecated_argument_lookup as deprecated_argument_lookup
from ...engine.interface import log
from .functions import getfullargspec, make_decorator
from .functions import rewrite_argument_docstring as rewrite_argument_docstring
from .notices import add_notice_to_docstring, get_qualified_name, validate_callable

# Programs set it to False to have no warnings.
_PRINT_DEPRECATION_WARNINGS = True
# What was warned of, which is not warned of again.
_PRINTED_WARNING: dict[Hashable, bool] = {}
_UPDATING = "Instructions for updating:"
# Given the arguments of a call, what is to be said of it: a key, a text and what it is filled with.
_Complaints = Callable[[tuple[Any, ...], dict[str, Any]], Iterator[tuple[Hashable, str, list[Any]]]]


class DeprecatedNamesAlreadySet(Exception):  # noqa: N818 - TensorFlow's name
    """Old names were noted of this function before."""


class DeprecatedArgSpec(NamedTuple):
    """A deprecated argument: its position, and a value of it that is no reason to warn."""

    position: int
    has_ok_value: bool
    ok_value: Any


class HiddenTfApiAttribute(property):
    """An attribute of a base class that is none of this one: asking for it is an AttributeError."""

    def __init__(self, deprecation_message: str) -> None:
        def refuse(unused: object) -> None:
            raise AttributeError(deprecation_message)

        super().__init__(refuse)


hide_attribute_from_api = HiddenTfApiAttribute
HIDDEN_ATTRIBUTE = HiddenTfApiAttribute("This attribute has been deprecated.")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Within it, nothing warns of what is deprecated."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _warn(key: Hashable, once: bool, text: str, *details: Any) -> None:
    """Warns of a call, two frames above, unless that was done for the key."""
    if key in _PRINTED_WARNING:
        return
    if once:
        _PRINTED_WARNING[key] = True
    caller = sys._getframe(2)
    log.warning(text, f"{caller.f_code.co_filename}:{caller.f_lineno}", *details)


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _require_advice(date: str | None, instructions: str) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _warning(func: Any, doc: str, warn_once: bool, complaints: _Complaints) -> Any:
    """A function around another, which says of each call what there is to say."""

    @functools.wraps(func)
    def new_func(*args: Any, **kwargs: Any) -> Any:
        if _PRINT_DEPRECATION_WARNINGS:
            for key, text, details in complaints(args, kwargs):
                _warn(key, warn_once, text, *details)
        return func(*args, **kwargs)

    return make_decorator(func, new_func, "deprecated", doc)


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator of a function that is to go: calls warn, and its docstring says so.

    Args:
        date: YYYY-MM-DD, after which it goes; None for a future version.
        instructions: what to write instead.
        warn_once: whether only the first call warns.

    Returns:
        The decorator.

    Raises:
        ValueError: `date` is none, there are no instructions, or what is decorated is no function.
    """
    _require_advice(date, instructions)
    text = f"From %s: %s (from %s) is deprecated and will be removed %s.\n{_UPDATING}\n%s"

    def mark(func: Any) -> Any:
        validate_callable(func, "deprecated")
        main = [f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(date)}.", _UPDATING]
        doc = add_notice_to_docstring(
            func.__doc__, instructions, "DEPRECATED FUNCTION", "(deprecated)", main
        )
        name = get_qualified_name(func)
        details = [name, func.__module__, _when(date), instructions]
        return _warning(func, doc, warn_once, lambda args, kwargs: iter([(func, text, details)]))

    return mark


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator of a function with arguments that are to go: calls that give them warn.

    Args:
        date: as in `deprecated`.
        instructions: as in `deprecated`.
        deprecated_arg_names_or_tuples: names of arguments, or (name, a value that does not warn).
        kwargs: `warn_once`, as in `deprecated`, of each argument.

    Returns:
        The decorator.

    Raises:
        ValueError: as in `deprecated`; or no argument is named; or the function lacks one.
    """
    _require_advice(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {kwargs}")
    specs = {
        given[0] if isinstance(given, tuple) else given: given[1:]
        if isinstance(given, tuple)
        else ()
        for given in deprecated_arg_names_or_tuples
    }

    def mark(func: Any) -> Any:
        validate_callable(func, "deprecated_args")
        arguments = getfullargspec(func)
        _require_arguments(arguments, specs)
        doc = add_notice_to_docstring(
            func.__doc__,
            instructions,
            "DEPRECATED FUNCTION ARGUMENTS",
            "(deprecated arguments)",
            [
                f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(specs))})`. "
                f"They will be removed {_when(date)}.",
                _UPDATING,
            ],
        )
        text = (
            "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\n"
            f"{_UPDATING}\n%s"
        )
        positions = {
            name: DeprecatedArgSpec(arguments.args.index(name), bool(ok), ok[0] if ok else None)
            for name, ok in specs.items()
            if name in arguments.args
        }

        def complaints(
            args: tuple[Any, ...], named: dict[str, Any]
        ) -> Iterator[tuple[Hashable, str, list[Any]]]:
            name = get_qualified_name(func)
            for given in _deprecated_given(func, arguments, specs.keys(), positions, args, named):
                details = [name, func.__module__, given, _when(date), instructions]
                yield (func, given), text, details

        return _warning(func, doc, warn_once, complaints)

    return mark


def _require_arguments(arguments: Any, names: Iterable[str]) -> None:
    known = [*arguments.args, arguments.varargs, arguments.varkw]
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            "The following deprecated arguments are not present in the function signature: "
            f"{missing}. Found next arguments: {known}."
        )


def _deprecated_given(
    func: Any,
    arguments: inspect.FullArgSpec,
    names: Any,
    positions: dict[str, DeprecatedArgSpec],
    args: tuple[Any, ...],
    named: dict[str, Any],
) -> Iterator[str]:
    """The deprecated arguments that a call gives, but for those given a harmless value."""
    values = inspect.getcallargs(func, *args, **named)
    for name, spec in positions.items():
        is_given = spec.position < len(args) or name in named
        if is_given and not (spec.has_ok_value and _is_same(values[name], spec.ok_value)):
            yield name
    if arguments.varargs in names and len(args) > len(arguments.args):
        yield str(arguments.varargs)
    if arguments.varkw in names and named:
        yield str(arguments.varkw)


def _is_same(a: Any, b: Any) -> bool:
    """Equality of whatever there is; False where a comparison gives no bool, as arrays do."""
    if a is b:
        return True
    try:
        return (a == b) is True
    except TypeError:
        return False


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator of a function with values of arguments that are to go: calls with them warn.

    Args:
        date: as in `deprecated`.
        instructions: as in `deprecated`.
        warn_once: as in `deprecated`, of each argument.
        deprecated_kwargs: the values, by the arguments' names.

    Returns:
        The decorator.

    Raises:
        ValueError: as in `deprecated`; or there are no values.
    """
    _require_advice(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    text = (
        "From %s: calling %s (from %s) with %s=%s is deprecated and will be removed %s.\n"
        f"{_UPDATING}\n%s"
    )
    listed = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))

    def mark(func: Any) -> Any:
        validate_callable(func, "deprecated_arg_values")
        doc = add_notice_to_docstring(
            func.__doc__,
            instructions,
            "DEPRECATED FUNCTION ARGUMENT VALUES",
            "(deprecated argument values)",
            [
                f"SOME ARGUMENT VALUES ARE DEPRECATED: `({listed})`. "
                f"They will be removed {_when(date)}.",
                _UPDATING,
            ],
        )

        def complaints(
            args: tuple[Any, ...], named: dict[str, Any]
        ) -> Iterator[tuple[Hashable, str, list[Any]]]:
            values = inspect.getcallargs(func, *args, **named)
            about = [get_qualified_name(func), func.__module__]
            for name, value in deprecated_kwargs.items():
                if name in values and _is_same(values[name], value):
                    yield (func, name), text, [*about, name, value, _when(date), instructions]

        return _warning(func, doc, warn_once, complaints)

    return mark


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """A function or class under its old name, which warns when it is called.

    Args:
        deprecated_name: the old name in full, for the warning.
        name: the new name.
        func_or_class: what has the new name.
        warn_once: whether only the first call warns.

    Returns:
        A function, or a class derived from that class.
    """
    text = "From %s: The name %s is deprecated. Please use %s instead.\n"
    advice, details = f"Please use {name} instead.", [deprecated_name, name]
    if inspect.isclass(func_or_class):
        return _class_alias(func_or_class, advice, text, details, warn_once)
    validate_callable(func_or_class, "deprecated")
    main = ["THIS FUNCTION IS DEPRECATED. It will be removed in a future version.", _UPDATING]
    doc = add_notice_to_docstring(
        func_or_class.__doc__, advice, "DEPRECATED FUNCTION", "(deprecated)", main
    )
    # The original may have other old names, each of which warns.
    key = (func_or_class, deprecated_name)
    return _warning(
        func_or_class, doc, warn_once, lambda args, kwargs: iter([(key, text, details)])
    )


def _class_alias(
    original: type, advice: str, text: str, details: list[Any], warn_once: bool
) -> type:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if _PRINT_DEPRECATION_WARNINGS:
            _warn((alias, "__init__"), warn_once, text, *details)
        original.__init__(self, *args, **kwargs)  # type: ignore[misc]

    doc = add_notice_to_docstring(
        original.__doc__,
        advice,
        "DEPRECATED CLASS",
        "(deprecated)",
        ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "],
    )
    body = {
        "__doc__": doc,
        "__module__": original.__module__,
        "__init__": make_decorator(original.__init__, init, "deprecated"),  # type: ignore[misc]
    }
    alias = type(original)(original.__name__, (original,), body)
    return alias


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """A decorator that notes old public names, in `_tf_deprecated_api_names`.

    Raises:
        DeprecatedNamesAlreadySet: the function has such names.
    """

    def mark(func: Any) -> Any:
        if "_tf_deprecated_api_names" in vars(func):
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {func.__name__} to {args}. "
                f"Deprecated names are already set to {func._tf_deprecated_api_names}."
            )
        func._tf_deprecated_api_names = args
        return func

    return mark
