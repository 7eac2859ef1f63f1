# SPDX-License-Identifier: Apache-2.0
"""What a program sees of the public names: argument lists, defaults and bases.

As a script, `python public_signatures.py OUT.json.gz` records those of TensorFlow 1.15;
public_signatures.json.gz holds them.  Works under Python 3.7.
"""

import gzip
import inspect
import json
import sys

# Products that ship in TensorFlow's package, and second ways to its names.
OTHER_PRODUCTS = {"compat", "contrib", "estimator", "keras", "lite"}
SIMPLE = (type(None), bool, int, float, str, bytes)
# Besides the names without an underscore.
SPECIAL = ("__init__", "__call__", "__enter__", "__exit__", "__getitem__", "__len__", "__iter__")
# Stands for a default that is no simple value.
OTHER = "..."


def public_names(tf):
    """The dotted names of all callables of TensorFlow 1.15's public modules, without "tf."."""
    modules, seen, names = [("", tf)], set(), []
    while modules:
        prefix, module = modules.pop()
        for name in sorted(set(dir(module)) - OTHER_PRODUCTS):
            value = getattr(module, name, None)
            if name.startswith("_") or value is None:
                continue
            if inspect.ismodule(value):
                if "._api." in value.__name__ and prefix + name not in seen:
                    seen.add(prefix + name)
                    modules.append((prefix + name + ".", value))
            elif callable(value):
                names.append(prefix + name)
    return sorted(names)


def resolve(tf, path):
    """The object of a dotted name; None if there is none."""
    for part in path.split("."):
        tf = getattr(tf, part, None)
    return tf


def default_of(value):
    """A default as text."""
    if isinstance(value, (list, tuple)):
        return "[{}]".format(", ".join(map(default_of, value)))
    if isinstance(value, SIMPLE) or type(value).__name__ == "DType":
        return repr(value)
    return OTHER


def arguments(function):
    """One text per parameter, such as "*args" or "name=None"; None where Python knows none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    result = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in "".join(result):
            result.append("*")
        text = stars.get(parameter.kind, "") + parameter.name
        if parameter.default is not inspect.Parameter.empty:
            text += "=" + default_of(parameter.default)
        result.append(text)
    return result


def is_message(thing):
    """Whether it is one of protobuf's classes, which are not the package's own."""
    return any(base.__module__.startswith("google.") for base in thing.__mro__)


def methods(thing, package):
    """Name -> argument list of the methods that the package itself defines."""
    result = {}
    for name in dir(thing):
        if name.startswith("_") and name not in SPECIAL:
            continue
        owner = next((c for c in thing.__mro__ if name in vars(c)), object)
        if owner.__module__.split(".")[0] != package:
            continue
        kind = vars(owner)[name]
        if inspect.isfunction(kind) or isinstance(kind, (classmethod, staticmethod)):
            result[name] = arguments(getattr(thing, name))
    return result


def describe(tf, package, public):
    """Public name -> what a program sees of it."""
    objects = [(name, resolve(tf, name)) for name in public]
    names = {}
    for name, value in objects:
        if inspect.isclass(value):
            names.setdefault(value, name)
    names[object] = "object"
    result = {}
    for name, value in objects:
        if not inspect.isclass(value):
            result[name] = {"arguments": arguments(value)}
        elif not is_message(value):
            result[name] = {
                "bases": [names.get(base) for base in value.__bases__],
                "ancestors": [names[c] for c in value.__mro__[1:-1] if c in names],
                "methods": methods(value, package),
            }
    return result


def main(path):
    import tensorflow as tf

    text = json.dumps(describe(tf, "tensorflow", public_names(tf)), sort_keys=True).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(text, 9, **({} if sys.version_info < (3, 8) else {"mtime": 0})))


if __name__ == "__main__":
    main(sys.argv[1])
