# SPDX-License-Identifier: Apache-2.0
"""What calls of the program's files go through: each tries today's function, then as it was.

NumPy is imported only when something needs it: a program may use none of it.
"""

from __future__ import annotations

import inspect
import random as _random
import sys
from collections.abc import Callable, Iterator, Set
from types import GeneratorType
from typing import Any

from . import old_networkx, old_yaml
from .estimators import estimator as estimator
from .table import CALLS, KEYWORDS, METHODS, SCALARS
from .tables import attribute as attribute
from .tables import in_place as in_place
from .tables import item as item
from .tables import labels as labels
from .tables import table_function as table_function
from .tables import table_method as table_method
from .tables import text_method as text_method
from .use import note


def _note(function: str, what: str = "") -> None:
    text, since, _ = CALLS[function]
    note(f"{function}: {what or text}", since)


def _is_ragged(error: ValueError) -> bool:
    return "inhomogeneous" in str(error)


def rewritten(node: Any, path: str) -> Any:
    """A function of a file that AutoGraph takes from its text, with these calls in it."""
    from .rewriting import restored_function

    return restored_function(node, path)


def array(*args: Any, **kwargs: Any) -> Any:
    """`np.array`: ragged lists give arrays of objects, `copy=False` copies where it must."""
    import numpy as np

    if kwargs.get("copy") is False:
        try:
            return np.array(*args, **kwargs)
        except ValueError as error:
            if _is_ragged(error):
                return _objects("numpy.array", np.array, args, {**kwargs, "copy": None})
            _note("numpy.array", "copy=False")
            return np.array(*args, **{**kwargs, "copy": None})
    try:
        return np.array(*args, **kwargs)
    except ValueError as error:
        if not _is_ragged(error):
            raise
    return _objects("numpy.array", np.array, args, kwargs)


def asarray(*args: Any, **kwargs: Any) -> Any:
    """`np.asarray`: ragged lists give arrays of objects."""
    import numpy as np

    try:
        return np.asarray(*args, **kwargs)
    except ValueError as error:
        if not _is_ragged(error):
            raise
    return _objects("numpy.asarray", np.asarray, args, kwargs)


def _objects(name: str, make: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    if len(args) > 1 or kwargs.get("dtype") not in (None, object):
        return make(*args, **kwargs)  # Of a dtype that was asked for there was none before, either.
    _note(name, "ragged lists")
    return make(*args, **{**kwargs, "dtype": object})


def _saved(name: str, value: Any) -> Any:
    import numpy as np

    try:
        return np.asanyarray(value)
    except ValueError as error:
        if not _is_ragged(error):
            raise
    _note(name)
    return np.asanyarray(value, dtype=object)


def save(file: Any, arr: Any, *args: Any, **kwargs: Any) -> None:
    """`np.save` of ragged lists, too."""
    import numpy as np

    np.save(file, _saved("numpy.save", arr), *args, **kwargs)


def savez(file: Any, *args: Any, **kwargs: Any) -> None:
    """`np.savez` of ragged lists, too."""
    _save_all("savez", file, args, kwargs)


def savez_compressed(file: Any, *args: Any, **kwargs: Any) -> None:
    """`np.savez_compressed` of ragged lists, too."""
    _save_all("savez_compressed", file, args, kwargs)


def _save_all(name: str, file: Any, args: Any, kwargs: dict[str, Any]) -> None:
    import numpy as np

    full = f"numpy.{name}"
    values = [_saved(full, value) for value in args]
    named = {key: _saved(full, value) for key, value in kwargs.items()}
    getattr(np, name)(file, *values, **named)


def load(*args: Any, **kwargs: Any) -> Any:
    """`np.load` of objects without `allow_pickle`, and of those of Python 2."""
    from . import old_files

    return old_files.load(lambda what: _note("numpy.load", what), *args, **kwargs)


def fromstring(string: Any, dtype: Any = float, count: int = -1, **kwargs: Any) -> Any:
    """`np.fromstring` of bytes."""
    import numpy as np

    if kwargs.get("sep", ""):
        return np.fromstring(string, dtype, count, **kwargs)
    _note("numpy.fromstring")
    data = string.encode("latin-1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


def linspace(start: Any, stop: Any, num: Any = 50, *args: Any, **kwargs: Any) -> Any:
    """`np.linspace` with a number of points that is a float."""
    import numpy as np

    if isinstance(num, (float, np.floating)):
        _note("numpy.linspace")
        num = int(num)
    return np.linspace(start, stop, num, *args, **kwargs)


def lenient(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """What a function of NumPy gives; a float64 leaves the dtypes of arrays as they are."""
    return _lenient(function(*args, **kwargs))


def _lenient(result: Any) -> Any:
    # (A float64 is a float; arrays, and all that is no number, need no look at NumPy.)
    if not isinstance(result, float) or type(result) is float:
        return result
    from . import scalars

    return scalars.lenient(result)


def total(a: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.sum` of a generator: Python's sum."""
    import numpy as np

    if isinstance(a, GeneratorType):
        _note("numpy.sum")
        return sum(a)
    return _lenient(np.sum(a, *args, **kwargs))


def _as_list(name: str, values: Any) -> Any:
    if isinstance(values, (Iterator, type({}.values()))):
        _note(name)
        return list(values)
    return values


def vstack(tup: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.vstack` of what an iterator gives."""
    import numpy as np

    return np.vstack(_as_list("numpy.vstack", tup), *args, **kwargs)


def hstack(tup: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.hstack` of what an iterator gives."""
    import numpy as np

    return np.hstack(_as_list("numpy.hstack", tup), *args, **kwargs)


def stack(arrays: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.stack` of what an iterator gives."""
    import numpy as np

    return np.stack(_as_list("numpy.stack", arrays), *args, **kwargs)


def dstack(tup: Any) -> Any:
    """`np.dstack` of what an iterator gives."""
    import numpy as np

    return np.dstack(_as_list("numpy.dstack", tup))


def column_stack(tup: Any) -> Any:
    """`np.column_stack` of what an iterator gives."""
    import numpy as np

    return np.column_stack(_as_list("numpy.column_stack", tup))


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """`np.set_printoptions` with a threshold of "nan": all is printed."""
    import numpy as np

    if str(kwargs.get("threshold")) == "nan":
        _note("numpy.set_printoptions")
        kwargs["threshold"] = sys.maxsize
    np.set_printoptions(*args, **kwargs)


def shuffle_array(x: Any) -> None:
    """`np.random.shuffle`; a range is shuffled as Python 2's list was, for nobody."""
    import numpy as np

    if isinstance(x, range):
        _note("numpy.random.shuffle")
        x = list(x)
    np.random.shuffle(x)


def unpickle(file: Any, **kwargs: Any) -> Any:
    """`pickle.load`, of Python 2's bytes as Latin-1, as arrays need it."""
    import pickle

    if kwargs:
        return pickle.load(file, **kwargs)
    start = file.tell() if getattr(file, "seekable", bool)() else None
    try:
        return pickle.load(file)
    except UnicodeDecodeError:
        if start is None:
            raise
    _note("pickle.load")
    file.seek(start)
    return pickle.load(file, encoding="latin1")


def unpickle_bytes(data: Any, **kwargs: Any) -> Any:
    """`pickle.loads`, of Python 2's bytes as Latin-1."""
    import pickle

    try:
        return pickle.loads(data, **kwargs)
    except UnicodeDecodeError:
        if kwargs:
            raise
    _note("pickle.loads")
    return pickle.loads(data, encoding="latin1")


def json_load(file: Any, **kwargs: Any) -> Any:
    """`json.load` with `encoding`, which did nothing."""
    import json

    if kwargs.pop("encoding", None) is not None:
        _note("json.load")
    return json.load(file, **kwargs)


def json_loads(text: Any, **kwargs: Any) -> Any:
    """`json.loads` with `encoding`, which did nothing."""
    import json

    if kwargs.pop("encoding", None) is not None:
        _note("json.loads")
    return json.loads(text, **kwargs)


def json_dumps(value: Any, **kwargs: Any) -> str:
    """`json.dumps` of float32s, which sums and means of losses have become."""
    import json

    try:
        return json.dumps(value, **kwargs)
    except TypeError:
        if "default" in kwargs or "cls" in kwargs:
            raise
    return json.dumps(value, default=_as_float, **kwargs)


def json_dump(value: Any, file: Any, **kwargs: Any) -> None:
    """`json.dump` of float32s."""
    file.write(json_dumps(value, **kwargs))


def _as_float(value: Any) -> float:
    import numpy as np

    if not isinstance(value, np.floating):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    _note("json.dumps")
    return float(value)


def sample(population: Any, k: int, **kwargs: Any) -> Any:
    """`random.sample` of a set or of a dict's keys."""
    if isinstance(population, Set):
        _note("random.sample")
        population = tuple(population)
    return _random.sample(population, k, **kwargs)


def shuffle(x: Any, random: Callable[[], float] | None = None) -> None:
    """`random.shuffle` with the source of numbers."""
    if isinstance(x, range):
        _note("random.shuffle", "a range")
        x = list(x)
    if random is None:
        return _random.shuffle(x)
    _note("random.shuffle", "random=")
    for i in reversed(range(1, len(x))):
        j = int(random() * (i + 1))
        x[i], x[j] = x[j], x[i]
    return None


def _whole(name: str, values: tuple[Any, ...]) -> list[Any]:
    if any(isinstance(value, float) and value == int(value) for value in values):
        _note(name)
    return [int(v) if isinstance(v, float) and v == int(v) else v for v in values]


def randint(*args: Any, **kwargs: Any) -> int:
    """`random.randint` of whole floats."""
    return _random.randint(*_whole("random.randint", args), **kwargs)


def randrange(*args: Any, **kwargs: Any) -> int:
    """`random.randrange` of whole floats."""
    return _random.randrange(*_whole("random.randrange", args), **kwargs)


def yaml_load(stream: Any, *args: Any, **kwargs: Any) -> Any:
    """`yaml.load` without a Loader: plain data, of which nothing is run."""
    import yaml

    if args or "Loader" in kwargs:
        return yaml.load(stream, *args, **kwargs)
    _note("yaml.load")
    return yaml.load(stream, Loader=yaml.SafeLoader)


def h5py_file(name: Any, *args: Any, **kwargs: Any) -> Any:
    """`h5py.File` without a mode: to read and write, to read, or new."""
    import h5py

    if args or "mode" in kwargs:
        return h5py.File(name, *args, **kwargs)
    _note("h5py.File")
    for mode in ("r+", "r"):
        try:
            return h5py.File(name, mode, **kwargs)
        except OSError:
            continue
    return h5py.File(name, "w-", **kwargs)


def renamed(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A function that has another word for one of its arguments now."""
    old, new, since = KEYWORDS[name]
    if old in kwargs and not _takes(function, old):
        note(f"{name}: {old}=", since)
        kwargs[new] = kwargs.pop(old)
    return function(*args, **kwargs)


def _takes(function: Callable[..., Any], keyword: str) -> bool:
    try:
        return keyword in inspect.signature(function).parameters
    except ValueError:  # Functions in C need not say what they take.
        return False


def matplotlib_use(backend: str, *args: Any, **kwargs: Any) -> None:
    """`matplotlib.use` with `warn`."""
    import matplotlib

    if args or kwargs.pop("warn", None) is not None:
        _note("matplotlib.use")
    matplotlib.use(backend, **kwargs)


def matplotlib_style(style: Any) -> None:
    """`plt.style.use` of a style that is called after seaborn's version now."""
    import matplotlib.style

    if isinstance(style, str) and style not in matplotlib.style.available:
        version = style.replace("seaborn", "seaborn-v0_8", 1)
        if version in matplotlib.style.available:
            _note("matplotlib.pyplot.style.use")
            style = version
    matplotlib.style.use(style)


def current_axes(**kwargs: Any) -> Any:
    """`plt.gca` with a projection."""
    import matplotlib.pyplot as plt

    return axes_of_figure(plt.gcf(), **kwargs) if kwargs else plt.gca()


def axes_of_figure(figure: Any, *args: Any, **kwargs: Any) -> Any:
    """`Figure.gca` with a projection: new axes, unless the figure's are of that kind."""
    if args or set(kwargs) != {"projection"}:
        return figure.gca(*args, **kwargs)
    note("Figure.gca", METHODS["gca"][1])
    if figure.axes and figure.gca().name == kwargs["projection"]:
        return figure.gca()
    return figure.add_subplot(**kwargs)


def add_subplot(figure: Any, *args: Any, **kwargs: Any) -> Any:
    """`Figure.add_subplot("111")`: the digits are a number."""
    if len(args) == 1 and isinstance(args[0], str) and args[0].isdigit():
        note("Figure.add_subplot", METHODS["add_subplot"][1])
        args = (int(args[0]),)
    return figure.add_subplot(*args, **kwargs)


def _is_one(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.size == 1


def to_int(value: Any) -> int:
    """`int` of an array of one element."""
    try:
        return int(value)
    except TypeError:
        if not _is_one(value):
            raise
    _note("int")
    return int(value.item())


to_int.stands_for = int  # type: ignore[attr-defined]


def to_float(value: Any) -> float:
    """`float` of an array of one element."""
    try:
        return float(value)
    except TypeError:
        if not _is_one(value):
            raise
    _note("float")
    return float(value.item())


to_float.stands_for = float  # type: ignore[attr-defined]


def approx_equal(actual: Any, desired: Any, *args: Any, **kwargs: Any) -> None:
    """`np.testing.assert_approx_equal` of arrays of one element."""
    from numpy.testing import assert_approx_equal

    if any(_is_one(value) and value.ndim for value in (actual, desired)):
        _note("numpy.testing.assert_approx_equal")
        actual, desired = (v.item() if _is_one(v) else v for v in (actual, desired))
    assert_approx_equal(actual, desired, *args, **kwargs)


def of_numbers(function: Callable[..., Any], *args: Any) -> Any:
    """A function of `math` of arrays of one element."""
    try:
        return function(*args)
    except TypeError:
        if not any(map(_is_one, args)):
            raise
    note(f"math.{function.__name__}: {SCALARS[0]}", SCALARS[1])
    return function(*(a.item() if _is_one(a) else a for a in args))


def formatted(text: str, values: Any) -> str:
    """`"%d %f" % values` of arrays of one element."""
    try:
        return text % values
    except TypeError:
        several = values if isinstance(values, tuple) else (values,)
        if not any(map(_is_one, several)):
            raise
    note(f'"%f": {SCALARS[0]}', SCALARS[1])
    return text % tuple(v.item() if _is_one(v) else v for v in several)


def element(value: Any, target: Any) -> Any:
    """What is put into an array: an array of one element as one without dimensions."""
    # The target comes first: a value may be anything, and be imported when it is looked at.
    np = sys.modules.get("numpy")
    if np is None or not isinstance(target, np.ndarray) or target.dtype == object:
        return value
    if not _is_one(value) or not value.ndim:
        return value
    note(f"array[i] = array: {SCALARS[0]}", SCALARS[1])
    return value.reshape(())


def _method(thing: Any, name: str) -> Callable[..., Any] | None:
    """A thing's own method; None, and a note, where it has none any more."""
    found = getattr(thing, name, None)
    if found is None:
        note(f"{type(thing).__name__}.{name}", METHODS[name][1])
    return found


def tobytes(thing: Any, *args: Any) -> Any:
    """`tostring` of arrays."""
    return (_method(thing, "tostring") or thing.tobytes)(*args)


def from_bytes(thing: Any, *args: Any, **kwargs: Any) -> Any:
    """`fromstring` of arrays of Python's, and of whatever else has it."""
    return (_method(thing, "fromstring") or thing.frombytes)(*args, **kwargs)


def itemset(thing: Any, *args: Any) -> None:
    """`ndarray.itemset`."""
    found = _method(thing, "itemset")
    if found is not None:
        return found(*args)
    if len(args) == 1:
        thing[()] = args[0]
    elif isinstance(args[0], tuple):
        thing[args[0]] = args[1]
    else:
        thing.flat[args[0]] = args[1]
    return None


def peak_to_peak(thing: Any, *args: Any, **kwargs: Any) -> Any:
    """`ndarray.ptp`."""
    found = _method(thing, "ptp")
    if found is not None:
        return found(*args, **kwargs)
    import numpy as np

    return np.ptp(thing, *args, **kwargs)


def new_byte_order(thing: Any, *args: Any) -> Any:
    """`ndarray.newbyteorder`: the same bytes, read in another order."""
    found = _method(thing, "newbyteorder")
    return thing.view(thing.dtype.newbyteorder(*args)) if found is None else found(*args)


def children(thing: Any) -> Any:
    """`Element.getchildren`."""
    found = _method(thing, "getchildren")
    return list(thing) if found is None else found()


def iterator(thing: Any, *args: Any) -> Any:
    """`Element.getiterator`."""
    return (_method(thing, "getiterator") or thing.iter)(*args)


def decoded(thing: Any, *args: Any, **kwargs: Any) -> Any:
    """`decode` of what is text already: h5py 2 gave bytes where h5py gives text."""
    if isinstance(thing, str):
        note("str.decode", METHODS["decode"][1])
        return thing
    return thing.decode(*args, **kwargs)


adjacency_matrix = old_networkx.adj_matrix
ruamel_dump = old_yaml.dump
ruamel_dump_all = old_yaml.dump_all
ruamel_load = old_yaml.load
ruamel_load_all = old_yaml.load_all
ruamel_round_trip_dump = old_yaml.round_trip_dump
ruamel_round_trip_load = old_yaml.round_trip_load
ruamel_safe_dump = old_yaml.safe_dump
ruamel_safe_load = old_yaml.safe_load
ruamel_safe_load_all = old_yaml.safe_load_all
