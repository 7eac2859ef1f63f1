# SPDX-License-Identifier: Apache-2.0
"""Inputs of a signature as the command line gives them: files, literals, serialized examples.

Nothing that is given is executed: expressions are literals or calls of a few of NumPy's
constructors, files are .npy and .npz without pickled objects.
"""

from __future__ import annotations

import ast
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np

from ...engine.syntax import tree_of
from ...io import files, protos

_CONSTRUCTORS = frozenset("arange array eye full linspace ones zeros".split())
# What NumPy raises for a file that is damaged, or is none of its own.
_UNREADABLE = (
    *(ValueError, EOFError, OSError, MemoryError, NotImplementedError, KeyError),
    *(tokenize.TokenError, struct.error, zlib.error, zipfile.BadZipFile),
)
_FILE = re.compile(r"(?P<key>[^=]+)=(?P<file>[^\[\]]+)(\[(?P<variable>[^\[\]]+)\])?$")


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """The file and the array in it (or None) of each input: "x=a.npy;y=b.npz[z]".

    Raises:
      RuntimeError: The text is of another form.
    """
    result: dict[str, tuple[str, str | None]] = {}
    for text in filter(None, inputs_str.split(";")):
        match = _FILE.match(text)
        if match is None:
            raise RuntimeError(
                f'--inputs "{text}" format is incorrect. Please follow '
                '"<input_key>=<filename>", or "<input_key>=<filename>[<variable_name>]"'
            )
        result[match["key"]] = match["file"], match["variable"]
    return result


def preprocess_input_exprs_arg_string(input_exprs_str: str, safe: bool = True) -> dict[str, Any]:
    """The value of each input: "x=[[1, 2]];y=np.ones((2, 3))".

    Args:
      input_exprs_str: The text.
      safe: Whether to take literals only; else NumPy's constructors of arrays too.

    Raises:
      RuntimeError: The text is of another form.
    """
    result = {}
    for text in filter(None, input_exprs_str.split(";")):
        if "=" not in text:
            raise RuntimeError(
                f'--input_exprs "{text}" format is incorrect. Please follow '
                '"<input_key>=<python expression>"'
            )
        key, expression = text.split("=", 1)
        result[key] = _value(expression, safe)
    return result


def _value(expression: str, safe: bool) -> Any:
    try:
        node = tree_of(expression.strip(), mode="eval").body
        # TensorFlow evaluates the expression as Python; calls of these constructors are what is
        # left of that.
        if not safe and isinstance(node, ast.Call):
            return _constructed(node)
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        raise RuntimeError(f'Expression "{expression}" is not a valid python literal.') from None


def _constructed(node: ast.Call) -> np.ndarray:
    """What `np.ones((2, 3), dtype="float32")` and the like give."""
    function = node.func
    if (
        not isinstance(function, ast.Attribute)
        or not isinstance(function.value, ast.Name)
        or function.value.id not in ("np", "numpy")
        or function.attr not in _CONSTRUCTORS
    ):
        raise ValueError("no constructor of NumPy's")
    arguments = [ast.literal_eval(argument) for argument in node.args]
    named = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
    return getattr(np, function.attr)(*arguments, **named)


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """Serialized tf.train.Examples for each input: 'x=[{"age": [22], "name": ["a"]}]'.

    Raises:
      ValueError: An input is no list of dictionaries, or a feature is no list of one type.
    """
    result = {}
    for key, examples in preprocess_input_exprs_arg_string(input_examples_str).items():
        if not isinstance(examples, list):
            raise ValueError(
                f'tf.Example input must be a list of dictionaries, but "{examples}" is '
                f"{type(examples)}"
            )
        result[key] = [_example(example) for example in examples]
    return result


def _example(features: dict[str, Any]) -> bytes:
    example = protos.Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(
                f'feature value must be a list, but {name}: "{values}" is {type(values)}'
            )
        feature = example.features.feature[name]
        # The first value decides the kind of all, as in TensorFlow.
        match values[0]:
            case float():
                feature.float_list.value.extend(values)
            case str():
                feature.bytes_list.value.extend(value.encode() for value in values)
            case bytes():
                feature.bytes_list.value.extend(values)
            case int():
                feature.int64_list.value.extend(values)
            case _:
                raise ValueError(
                    f"Type {type(values[0])} for value {values[0]} is not supported for "
                    "tf.train.Feature."
                )
    return example.SerializeToString()


def load_inputs_from_input_arg_string(
    inputs_str: str, input_exprs_str: str, input_examples_str: str
) -> dict[str, Any]:
    """The value of each input, from files, expressions and examples.

    Raises:
      RuntimeError: A text is of another form, or a file does not have the array.
    """
    values = {
        key: _loaded(path, variable)
        for key, (path, variable) in preprocess_inputs_arg_string(inputs_str).items()
    }
    for option, found in (
        ("--input_exprs", preprocess_input_exprs_arg_string(input_exprs_str, safe=False)),
        ("--input_examples", preprocess_input_examples_arg_string(input_examples_str)),
    ):
        for key in found.keys() & values.keys():
            warnings.warn(
                f"input_key {key} has been specified in multiple options. Value in {option} will "
                "be used.",
                stacklevel=2,
            )
        values.update(found)
    return values


def _loaded(path: str, variable: str | None) -> Any:
    try:
        with files.open_binary(path, "rb") as file:
            # A pickled object could run anything.
            data = np.load(file, allow_pickle=False)
            if isinstance(data, np.ndarray):
                arrays = None
            else:
                arrays = {name: data[name] for name in data.files}
    except _UNREADABLE as error:
        raise RuntimeError(f"Input file {path} is no array file of NumPy's: {error}") from None
    if arrays is None:
        if variable:
            warnings.warn(
                f'Input file {path} contains a single ndarray. Name key "{variable}" ignored.',
                stacklevel=2,
            )
        return data
    if variable is None and len(arrays) != 1:
        raise RuntimeError(
            f"Input file {path} contains more than one ndarrays. Please specify the name of "
            "ndarray to use."
        )
    if variable is None:
        return next(iter(arrays.values()))
    if variable not in arrays:
        raise RuntimeError(f'Input file {path} does not contain variable with name "{variable}".')
    return arrays[variable]
