# SPDX-License-Identifier: Apache-2.0
"""`six`, which came with TensorFlow 1: what there is of it under Python 3 alone."""

from __future__ import annotations

import functools
import io
import operator
import sys
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

from . import old_six_moves as moves

__version__ = "1.16.0"
PY2, PY3, PY34 = False, True, True
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
MAXSIZE = sys.maxsize
StringIO, BytesIO = io.StringIO, io.BytesIO
int2byte = operator.methodcaller("to_bytes", 1, "big")
byte2int = operator.itemgetter(0)
indexbytes = operator.getitem
iterbytes = iter
next = advance_iterator = next
callable = callable
unichr = chr
wraps = functools.wraps
create_bound_method = MethodType
get_method_function = operator.attrgetter("__func__")
get_method_self = operator.attrgetter("__self__")
get_function_code = operator.attrgetter("__code__")
get_function_defaults = operator.attrgetter("__defaults__")
get_function_globals = operator.attrgetter("__globals__")
get_function_closure = operator.attrgetter("__closure__")


def b(s: str) -> bytes:
    """A literal of bytes."""
    return s.encode("latin-1")


def u(s: str) -> str:
    """A literal of text."""
    return s


def iteritems(d: Any, **kw: Any) -> Iterator[Any]:
    """Iterates over a dictionary's items."""
    return iter(d.items(**kw))


def iterkeys(d: Any, **kw: Any) -> Iterator[Any]:
    """Iterates over a dictionary's keys."""
    return iter(d.keys(**kw))


def itervalues(d: Any, **kw: Any) -> Iterator[Any]:
    """Iterates over a dictionary's values."""
    return iter(d.values(**kw))


def viewitems(d: Any) -> Any:
    """A dictionary's items."""
    return d.items()


def viewkeys(d: Any) -> Any:
    """A dictionary's keys."""
    return d.keys()


def viewvalues(d: Any) -> Any:
    """A dictionary's values."""
    return d.values()


def iterlists(d: Any, **kw: Any) -> Iterator[Any]:
    """Iterates over the lists of a dictionary that has several values for a key."""
    return iter(d.lists(**kw))


def create_unbound_method(func: Any, cls: type) -> Any:
    """A method that belongs to no object: the function."""
    del cls
    return func


def assertCountEqual(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The test case's own."""
    return self.assertCountEqual(*args, **kwargs)


def assertRaisesRegex(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The test case's own."""
    return self.assertRaisesRegex(*args, **kwargs)


def assertRegex(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The test case's own."""
    return self.assertRegex(*args, **kwargs)


def assertNotRegex(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The test case's own."""
    return self.assertNotRegex(*args, **kwargs)


def get_unbound_function(unbound: Any) -> Any:
    """A function of a class."""
    return unbound


def with_metaclass(meta: type, *bases: type) -> type:
    """A base class whose classes are made by a metaclass."""

    class Maker(type):
        def __new__(cls, name: str, this_bases: Any, namespace: dict[str, Any]) -> Any:
            return meta(name, bases, namespace)

        @classmethod
        def __prepare__(cls, name: str, this_bases: Any) -> Any:  # type: ignore[override]
            return meta.__prepare__(name, bases)

    return type.__new__(Maker, "temporary_class", (), {})


def add_metaclass(metaclass: type) -> Callable[[type], type]:
    """A decorator that makes a class anew by a metaclass."""

    def wrapper(cls: type) -> Any:
        names = dict(vars(cls))
        for slot in (names.get("__slots__") or ()) if "__slots__" in names else ():
            names.pop(slot, None)
        names.pop("__dict__", None)
        names.pop("__weakref__", None)
        names["__qualname__"] = cls.__qualname__
        return metaclass(cls.__name__, cls.__bases__, names)

    return wrapper


def python_2_unicode_compatible(klass: type) -> type:
    """The class as it is."""
    return klass


def reraise(tp: type, value: BaseException | None, tb: Any = None) -> None:
    """Raises an exception with a traceback."""
    error = tp() if value is None else value
    raise error.with_traceback(tb) if error.__traceback__ is not tb else error


def raise_from(value: BaseException, from_value: BaseException | None) -> None:
    """Raises an exception because of another."""
    raise value from from_value


def ensure_binary(s: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Text or bytes as bytes."""
    return s.encode(encoding, errors) if isinstance(s, str) else s


def ensure_str(s: Any, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Text or bytes as text."""
    return s.decode(encoding, errors) if isinstance(s, bytes) else s


ensure_text = ensure_str
exec_ = exec
print_ = print

__all__ = [name for name in dict(vars()) if not name.startswith("_")] + ["moves"]
assert moves is not None
