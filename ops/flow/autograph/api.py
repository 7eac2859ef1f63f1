# SPDX-License-Identifier: Apache-2.0
"""tf.autograph: functions whose control flow may be on tensors, and what can be said about them."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ....engine.api import export
from . import values
from .calls import Calls
from .conversion import Options, converted, rewrite, tree
from .rewriting import can_be_rewritten


@export("contrib.autograph.Feature", "autograph.experimental.Feature")
class Feature(enum.Enum):
    """What AutoGraph can be asked to convert besides control flow and calls.

    ALL stands for all of them, ASSERT_STATEMENTS for `assert`, EQUALITY_OPERATORS for `==` and `!=`
    of tensors, LISTS for `[]`, `x.append(y)` and `x[i] = y`; the others are so anyway, or make no
    difference.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """All features but one or several."""
        left = set(exclude) if isinstance(exclude, (list, tuple, set)) else {exclude}
        return tuple(x for x in cls if x not in left and x is not cls.ALL)


def options_of(features: Any = None, recursive: bool = True) -> Options:
    """How functions are rewritten with some features: None, one or several of them."""
    listed = () if features is None else features
    listed = listed if isinstance(listed, (list, tuple, set, frozenset)) else (listed,)
    names = {Feature(x).name for x in listed}
    names = {x.name for x in Feature} if "ALL" in names else names
    return Options(bool(recursive), frozenset(names))


def _function_of(entity: Any) -> Any:
    return getattr(entity, "python_function", entity)


@export("autograph.to_graph", "contrib.autograph.to_graph")
def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
) -> Any:
    """A function whose `if`, `while` and `for` may be on tensors (tf.autograph.to_graph).

    Args:
        entity: a Python function or method, what tf.function made of one, or a class: of that a
            subclass is made whose methods are rewritten.
        recursive: whether functions that it calls are rewritten, too.
        arg_values, arg_types: no difference.
        experimental_optional_features: what to rewrite besides, of `Feature`.

    Returns:
        The function; `entity` itself where nothing in it can be on tensors.

    Raises:
        NotImplementedError: `entity` is a generator.
        ValueError: it is a class without methods.

    Example:
        >>> def amount(x):
        ...     if x < 0:
        ...         x = -x
        ...     return x
        >>> y = tf.autograph.to_graph(amount)(tf.constant(-3))
        >>> with tf.Session() as session:
        ...     print(session.run(y))
        3
    """
    del arg_values, arg_types
    if isinstance(entity, type):
        return _class(entity, options_of(experimental_optional_features, recursive))
    function = _function_of(entity)
    if inspect.isgeneratorfunction(function):
        raise NotImplementedError(
            f"Generators are not supported by AutoGraph: {function.__name__} in "
            f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
        )
    return converted(function, options_of(experimental_optional_features, recursive))


def _class(entity: type, options: Options) -> type:
    """A subclass with the methods that programs wrote for a class and its bases, rewritten."""
    members: dict[str, Any] = {"__doc__": entity.__doc__, "__module__": entity.__module__}
    package = __name__.partition(".")[0]
    for base in reversed(entity.__mro__):
        if base.__module__.partition(".")[0] == package:
            continue
        for name, member in vars(base).items():
            if isinstance(member, FunctionType) and not inspect.isgeneratorfunction(member):
                members[name] = converted(member, options)
            elif name in members and name not in ("__doc__", "__module__"):
                del members[name]
    if not any(isinstance(member, FunctionType) for member in members.values()):
        raise ValueError(f"cannot convert {entity}: no member methods")
    made: type = type(entity)(entity.__name__, (entity,), members)
    return made


@export("autograph.to_code", "contrib.autograph.to_code")
def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """The source of what `to_graph` makes of a function (tf.autograph.to_code).

    Args:
        entity: a Python function with source, or what tf.function made of one.
        recursive, arg_values, arg_types, indentation: no difference.
        experimental_optional_features: what to rewrite besides, of `Feature`.

    Returns:
        The source as text.

    Raises:
        ValueError: there is no source.
    """
    del recursive, arg_values, arg_types, indentation
    function = _function_of(entity)
    node = tree(getattr(function, "__func__", function))
    if node is None:
        raise ValueError(f"the source of {function} cannot be found; write it into a file")
    if can_be_rewritten(node):
        rewrite(node, options_of(experimental_optional_features))
    return ast.unparse(ast.fix_missing_locations(node))


@export("contrib.autograph.convert")
def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: what `to_graph` makes of the function (tf.contrib.autograph.convert).

    Args:
        recursive: whether functions that it calls are rewritten, too.
        optional_features: what to rewrite besides, of `Feature`.
        user_requested: no difference.

    Returns:
        The decorator.
    """
    del user_requested
    return lambda function: converted(function, options_of(optional_features, recursive))


@export("contrib.autograph.ConversionOptions")
class ConversionOptions:
    """How functions are converted.

    Args:
        recursive: whether functions that are called are converted, too.
        user_requested, internal_convert_user_code: no difference.
        optional_features: what to convert besides, of `Feature`.
    """

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Any = Feature.ALL,
    ) -> None:
        self.recursive, self.user_requested = recursive, user_requested
        self.internal_convert_user_code = internal_convert_user_code
        listed = optional_features or ()
        listed = listed if isinstance(listed, (list, tuple, set, frozenset)) else (listed,)
        self.optional_features = frozenset(listed)

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is among those that are converted."""
        return Feature.ALL in self.optional_features or feature in self.optional_features


@export("contrib.autograph.converted_call")
def converted_call(
    f: Any, options: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, caller: Any = None
) -> Any:
    """What a function returns for arguments, converted if it is a program's.

    Args:
        f: what is called.
        options: `ConversionOptions`.
        args, kwargs: the arguments.
        caller: no difference.
    """
    del caller
    made = options_of(options.optional_features, options.recursive)
    if options.internal_convert_user_code:
        f = Calls(made._replace(recursive=True)).callee(f)
    return f(*args, **(kwargs or {}))


@export("contrib.autograph.do_not_convert", "autograph.experimental.do_not_convert")
def do_not_convert(func: Any = None) -> Any:
    """A decorator of functions that AutoGraph leaves as they are; or marks `func`, if given."""

    def marked(function: Any) -> Any:
        if isinstance(function, FunctionType):
            vars(function)["_no_autograph"] = True
            return function
        if isinstance(function, type) or not callable(function):
            return function

        @functools.wraps(function, updated=())
        def as_it_is(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return as_it_is

    return marked if func is None else marked(func)


_UNSPECIFIED: Any = object()


@export("contrib.autograph.set_loop_options", "autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations: object = _UNSPECIFIED,
    back_prop: object = _UNSPECIFIED,
    swap_memory: object = _UNSPECIFIED,
    maximum_iterations: object = _UNSPECIFIED,
) -> None:
    """Gives the loop in whose body it stands arguments of `tf.while_loop`.

    Args:
        parallel_iterations, back_prop, swap_memory, maximum_iterations: see `tf.while_loop`.
    """
    del parallel_iterations, back_prop, swap_memory, maximum_iterations


@export("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Says how much AutoGraph is to tell of what it converts; it tells only what it cannot."""
    del level, alsologtostdout


@export("contrib.autograph.AutoGraphError")
class AutoGraphError(Exception):
    """An error of AutoGraph's."""


@export("contrib.autograph.set_element_type")
def set_element_type(entity: Any, dtype: Any, shape: Any = _UNSPECIFIED) -> None:
    """Says of what dtype the elements of a list are, for who reads it.

    Args:
        entity: a list.
        dtype: the dtype.
        shape: the shape of an element.
    """
    del entity, dtype, shape


@export("contrib.autograph.stack")
def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """A tensor with the elements of a list as its rows (tf.contrib.autograph.stack).

    Args:
        list_or_tensor: a Python list, a TensorArray, a list of tensors that AutoGraph made, or a
            tensor, which is returned.
        element_dtype: the dtype of the elements, which lists of tensors need.
        strict: whether something else is an error; else it is returned.

    Returns:
        A tensor.

    Raises:
        ValueError: the dtype of the elements is missing.
    """
    is_listed = isinstance(list_or_tensor, (list, tuple)) or hasattr(list_or_tensor, "dtype")
    if not strict and not is_listed:
        return list_or_tensor
    return values.stack(list_or_tensor, element_dtype)
