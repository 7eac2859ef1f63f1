# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy 1 that NumPy 2 has not, in terms of what it has."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

NINF = -np.inf
PZERO = 0.0
NZERO = -0.0
nbytes = {t: np.dtype(t).itemsize for t in np.sctypeDict.values() if np.dtype(t).itemsize}
typeDict = np.sctypeDict
sctypes: dict[str, list[type]] = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}


class _Cast(dict[Any, Callable[[Any], Any]]):
    """`np.cast[dtype](x)`."""

    def __missing__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda x: np.asarray(x).astype(dtype)


cast = _Cast()


def asscalar(a: Any) -> Any:
    """The one element of an array."""
    return a.item()


def alen(a: Any) -> int:
    """The length of the first dimension."""
    return len(np.atleast_1d(a))


def loads(*args: Any, **kwargs: Any) -> Any:
    """`pickle.loads`."""
    import pickle

    return pickle.loads(*args, **kwargs)


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """For every element of the first, flattened, whether the second has it."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """An array of floats."""
    kind = np.dtype(dtype)
    return np.asarray(a, dtype=kind if kind.kind in "fc" else np.float64)


def find_common_type(array_types: Any, scalar_types: Any) -> np.dtype[Any]:
    """The dtype of arrays, unless scalars are of a higher kind."""
    arrays = [np.dtype(t) for t in array_types]
    scalars = [np.dtype(t) for t in scalar_types]
    order = "?biufcmMSUVO"
    best = np.result_type(*arrays) if arrays else None
    other = np.result_type(*scalars) if scalars else None
    if best is None or other is None:
        return best or other or np.dtype(float)
    kinds = [order.index("?" if d.kind == "b" else d.kind) for d in (best, other)]
    return other if kinds[1] > kinds[0] else best


def issctype(rep: Any) -> bool:
    """Whether it stands for a dtype of scalars."""
    try:
        return obj2sctype(rep) not in (None, np.object_)
    except TypeError:
        return False


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """The class of scalars of a dtype."""
    try:
        return np.dtype(rep if isinstance(rep, (type, str, np.dtype)) else rep.dtype).type
    except (TypeError, AttributeError):
        return default


def sctype2char(sctype: Any) -> str:
    """The letter of a dtype."""
    return np.dtype(sctype).char


def issubclass_(arg1: Any, arg2: Any) -> bool:
    """`issubclass`, False for what is no class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def maximum_sctype(t: Any) -> Any:
    """The widest dtype of the kind."""
    kind = {"i": "int", "u": "uint", "f": "float", "c": "complex"}.get(np.dtype(t).kind)
    return sctypes[kind][-1] if kind else np.dtype(t).type


def msort(a: Any) -> Any:
    """A copy, sorted along the first dimension."""
    return np.sort(a, axis=0)


def disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    """Writes to a stream."""
    device = device or sys.stdout
    device.write(f"{mesg}\n" if linefeed else f"{mesg}")
    device.flush()


def byte_bounds(a: Any) -> tuple[int, int]:
    """The addresses of an array's memory."""
    return np.lib.array_utils.byte_bounds(a)


def deprecate(*args: Any, **kwargs: Any) -> Any:
    """A decorator that warns when the function is called."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            warnings.warn(f"{function.__name__} is deprecated", DeprecationWarning, stacklevel=2)
            return function(*values, **named)

        return call

    return mark(args[0]) if args and callable(args[0]) else mark


def safe_eval(source: str) -> Any:
    """The value of a literal."""
    import ast

    return ast.literal_eval(source)


def who(vardict: dict[str, Any] | None = None) -> None:
    """Prints the arrays of a dictionary."""
    frame = sys._getframe(1).f_globals if vardict is None else vardict
    for name, value in frame.items():
        if isinstance(value, np.ndarray):
            print(f"{name:16}{'x'.join(map(str, value.shape)):16}{value.nbytes:16}  {value.dtype}")


def fastCopyAndTranspose(a: Any) -> Any:
    """A copy of the transposed array."""
    return np.array(np.transpose(a), copy=True)


def recfromcsv(fname: Any, **kwargs: Any) -> Any:
    """Records of a file of comma-separated values."""
    options = {"case_sensitive": "lower", "names": True, "delimiter": ",", "dtype": None, **kwargs}
    return np.genfromtxt(fname, **options).view(np.recarray)


def recfromtxt(fname: Any, **kwargs: Any) -> Any:
    """Records of a text file."""
    return np.genfromtxt(fname, **{"dtype": None, **kwargs}).view(np.recarray)


def inner1d(a: Any, b: Any) -> Any:
    """Products of the last dimensions, added up."""
    return np.einsum("...i,...i->...", a, b)
