# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util`: tf_decorator, tf_inspect, function_utils and the like."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from inspect import *  # noqa: F403 - tf_inspect has all of it
from types import ModuleType
from typing import Any

from ..helpers import remove_undocumented as remove_undocumented
from ..restore.old_inspect import ArgSpec as ArgSpec


def IS_IN_GRAPH_MODE() -> bool:
    """Whether graphs are built: always."""
    return True


class TFDecorator:
    """A function around another, that knows it."""

    def __init__(
        self,
        decorator_name: str,
        target: Callable[..., Any],
        decorator_doc: str = "",
        decorator_argspec: Any = None,
    ) -> None:
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        functools.update_wrapper(self, target, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    def __get__(self, instance: object, owner: type) -> Any:
        return self._decorated_target.__get__(instance, owner)

    @property
    def decorated_target(self) -> Any:
        """The function inside."""
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, value: Any) -> None:
        self._decorated_target = value

    @property
    def decorator_name(self) -> str:
        """What it is called."""
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        """What it says of itself."""
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        """Its arguments, if they are not those of the function inside."""
        return self._decorator_argspec


def make_decorator(
    target: Callable[..., Any],
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """The outer function, which knows the inner from now on."""
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    functools.update_wrapper(decorator_func, target, updated=())
    for name, value in vars(target).items() if hasattr(target, "__dict__") else ():
        vars(decorator_func).setdefault(name, value)
    decorator_func.__doc__ = decorator_doc or target.__doc__ or ""
    decorator_func.__wrapped__ = target
    return decorator_func


def unwrap(  # type: ignore[no-redef]
    maybe_tf_decorator: Any,
) -> tuple[list[TFDecorator], Any]:
    """(decorators, from the outermost, and the function that is none)."""
    found: list[TFDecorator] = []
    current = maybe_tf_decorator
    while True:
        decorator = current if isinstance(current, TFDecorator) else None
        decorator = decorator or getattr(current, "__dict__", {}).get("_tf_decorator")
        if decorator is None:
            return found, current
        found.append(decorator)
        current = decorator.decorated_target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Puts another function in the place of one that is wrapped, once or more often.

    The wrapping functions must call what `__wrapped__` of them says.
    """
    if not unwrap(decorator_func)[0]:
        return new_target
    current: Any = decorator_func
    while True:
        found = unwrap(current)[0][0]
        below = found.decorated_target
        if below is previous_target or not unwrap(below)[0]:
            break
        current = below
    found.decorated_target = new_target
    getattr(current, "__func__", current).__wrapped__ = new_target
    return decorator_func


def getfullargspec(obj: Any) -> inspect.FullArgSpec:  # type: ignore[no-redef]
    """The arguments of a function, or those that a decorator says that it takes."""
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            return _full(decorator.decorator_argspec)
    return inspect.getfullargspec(target)


def _full(spec: Any) -> inspect.FullArgSpec:
    if isinstance(spec, inspect.FullArgSpec):
        return spec
    return inspect.FullArgSpec(spec.args, spec.varargs, spec.keywords, spec.defaults, [], None, {})


def getargspec(obj: Any) -> ArgSpec:
    """The arguments of a function, or of a partial one, as Python 2 knew them."""
    if isinstance(obj, functools.partial):
        return _of_partial(obj)
    spec = getfullargspec(_maker(obj) if inspect.isclass(obj) else obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _maker(cls: type) -> Any:
    """What of a class states the arguments that its objects are made of."""
    return cls.__new__ if cls.__init__ is object.__init__ else cls.__init__


def getcallargs(  # type: ignore[no-redef]
    func: Any, /, *positional: Any, **named: Any
) -> dict[str, Any]:
    """What the arguments of a call would be, as a decorator states them."""
    spec = getfullargspec(func)
    if inspect.ismethod(func):
        positional = (func.__self__, *positional)
    names = [name for name in spec.args if name not in named]
    behind = spec.args[len(spec.args) - len(spec.defaults or ()) :]
    defaults = {**dict(zip(behind, spec.defaults or ())), **(spec.kwonlydefaults or {})}
    return {**defaults, **dict(zip(names, positional)), **named}


def _of_inner(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the standard module, of what stands within decorators."""

    @functools.wraps(function)
    def of_inner(object: Any) -> Any:
        return function(unwrap(object)[1])

    return of_inner


getfile = _of_inner(inspect.getfile)
getsource = _of_inner(inspect.getsource)
getsourcefile = _of_inner(inspect.getsourcefile)
getsourcelines = _of_inner(inspect.getsourcelines)
isbuiltin = _of_inner(inspect.isbuiltin)
isclass = _of_inner(inspect.isclass)
isframe = _of_inner(inspect.isframe)
isfunction = _of_inner(inspect.isfunction)
isgenerator = _of_inner(inspect.isgenerator)
isgeneratorfunction = _of_inner(inspect.isgeneratorfunction)
ismethod = _of_inner(inspect.ismethod)
ismodule = _of_inner(inspect.ismodule)
isroutine = _of_inner(inspect.isroutine)


def _of_partial(obj: functools.partial[Any]) -> ArgSpec:
    spec = getargspec(obj.func)
    names = spec.args[len(obj.args) :]
    behind = spec.args[len(spec.args) - len(spec.defaults or ()) :]
    defaults = {**dict(zip(behind, spec.defaults or ())), **obj.keywords}
    if not spec.keywords and not obj.keywords.keys() <= {*spec.args}:
        raise ValueError(
            "Function does not have **kwargs parameter, but contains an unknown partial keyword."
        )
    given = [name in defaults for name in names]
    first = given.index(True) if True in given else len(names)
    if not all(given[first:]):
        lacking = [name for name in names[first:] if name not in defaults]
        raise ValueError(
            f"Some arguments {lacking} do not have default value, but they are positioned after "
            "those with default values. This can not be expressed with ArgSpec."
        )
    values = tuple(defaults[name] for name in names[first:])
    return ArgSpec(names, spec.varargs, spec.keywords, values or None)


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the arguments that a function has still to be given."""
    if isinstance(fn, functools.partial):
        return tuple(a for a in fn_args(fn.func)[len(fn.args) :] if a not in fn.keywords)
    if not inspect.isroutine(fn) and not inspect.isclass(fn) and inspect.ismethod(fn.__call__):
        fn = fn.__call__
    names = list(getfullargspec(fn).args)
    target = unwrap(fn)[1]
    if inspect.ismethod(target) and names:
        names.pop(0)
    return tuple(names)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any keyword.

    Raises:
        TypeError: it is no function.
    """
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    elif not inspect.isroutine(fn) and not inspect.isclass(fn):
        fn = fn.__call__
    return getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """The name of a function."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func):
        return func.__name__
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return str(type(func))


def get_func_code(func: Any) -> Any:
    """The code of a function; None of what has none."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func) or inspect.ismethod(func):
        return func.__code__
    return getattr(func.__call__, "__code__", None)


def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes nothing by position."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)

    return call


def should_use_result(fn: Any) -> Any:
    """The function as it is: nothing warns here of results that nobody uses."""
    return fn


must_use_result_or_fatal = should_use_result


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    import sys

    module = sys.modules[module_name]
    return [
        name
        for name, value in inspect.getmembers(module)
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]


class TFModuleWrapper(ModuleType):
    """What a module that warns of deprecated names is wrapped in: here it stays as it is."""

    def __new__(cls, wrapped: ModuleType, *unused: Any, **also_unused: Any) -> Any:
        return wrapped


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """A docstring with an argument's name exchanged."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(
        f"{old_argument}:", f"{new_argument}:"
    )


def get_json_type(obj: Any) -> Any:
    """What JSON takes for an object that it does not know."""
    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if type(obj).__module__ == "numpy":
        return obj.item() if getattr(obj, "ndim", 0) == 0 else obj.tolist()
    if hasattr(obj, "as_list"):
        return obj.as_list()
    if callable(obj):
        return obj.__name__
    raise TypeError("Not JSON Serializable:", obj)
