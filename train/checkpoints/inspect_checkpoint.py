# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint holds: TensorFlow's `inspect_checkpoint` tool, and facts for the command line.

Imports nothing but readers: no graph is made.
"""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.errors import DataLossError, NotFoundError
from ...engine.printable import say
from ...io.checkpoint_reader import CheckpointReader, new_checkpoint_reader
from ...io.progress import bar

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


class TensorFacts(NamedTuple):
    """A tensor of a checkpoint."""

    name: str
    dtype: str
    shape: list[int]
    parameters: int


def _count_total_params(reader: CheckpointReader, count_exclude_pattern: str = "") -> int:
    """How many elements the tensors have; without those whose names match a pattern."""
    sizes = {name: math.prod(s) for name, s in reader.get_variable_to_shape_map().items()}
    if count_exclude_pattern:
        left_out = {name for name in sizes if re.search(count_exclude_pattern, name)}
        say(
            f"# Excluding {len(left_out)} tensors ({sum(sizes[n] for n in left_out)} params) that "
            f"match {count_exclude_pattern} when counting."
        )
        sizes = {name: size for name, size in sizes.items() if name not in left_out}
    return sum(sizes.values())


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints what is in a checkpoint, as TensorFlow's tool of that name.

    Args:
        file_name: the prefix of a checkpoint.
        tensor_name: a tensor whose value is printed; "" for a line per tensor.
        all_tensors: print the values of all of them.
        all_tensor_names: print their names only.
        count_exclude_pattern: a regular expression; tensors whose names match are not counted.
    """
    try:
        reader = new_checkpoint_reader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                say("tensor_name: ", name)
                if all_tensors:
                    say(reader.get_tensor(name))
        elif tensor_name:
            say("tensor_name: ", tensor_name)
            say(reader.get_tensor(tensor_name))
        else:
            say(reader.debug_string().decode("utf-8"))
        say(f"# Total number of params: {_count_total_params(reader, count_exclude_pattern):d}")
    except Exception as error:
        # The tool tells people what is wrong; programs use readers.
        say(str(error))
        _print_prefix(str(file_name), error)


def _print_prefix(file_name: str, error: Exception) -> None:
    """The likely prefix, when the name of one of a checkpoint's files was given."""
    prefix = prefix_of(file_name)
    if isinstance(error, (DataLossError, NotFoundError)) and prefix != file_name:
        say(
            "\nIt's likely that this is a V2 checkpoint and you need to provide the filename "
            "*prefix*.  Try removing the '.' and extension.  Try:\n"
            f"inspect checkpoint --file_name = {prefix}"
        )


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets a print option of NumPy from "name=value"; ArgumentTypeError if there is none such."""
    from argparse import ArgumentTypeError

    name, mark, text = kv_str.partition("=")
    options: dict[str, Any] = dict(np.get_printoptions())
    if not mark or not name:
        raise ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    if name not in options:
        raise ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(options[name])
    if options[name] is None:
        raise ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    value: Any
    try:
        value = _truth(text) if kind is bool else kind(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    changed: Any = {name: value}
    np.set_printoptions(**changed)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "t", "1", "false", "f", "0"):
        raise ValueError(f"Non-boolean argument to boolean flag: {text}")
    return text.lower() in ("true", "t", "1")


def prefix_of(path: str) -> str:
    """The prefix of a checkpoint, of which perhaps one of the files or the folder is given."""
    if os.path.isdir(path):
        from .checkpoint_management import latest_checkpoint

        return latest_checkpoint(path) or path
    return re.sub(r"\.(index|meta|data-\d{5}-of-\d{5})$", "", path)


def facts(reader: CheckpointReader, pattern: str = "") -> list[TensorFacts]:
    """The tensors whose names match a pattern, in order of names."""
    shapes = reader.get_variable_to_shape_map()
    types = reader.get_variable_to_dtype_map()
    return [
        TensorFacts(name, types[name].name, shapes[name], math.prod(shapes[name]))
        for name in sorted(shapes)
        if re.search(pattern, name)
    ]


def damaged(reader: CheckpointReader, names: list[str]) -> dict[str, str]:
    """Reads tensors, with a bar on a terminal; those that are not what was written, and why."""
    found = {}
    with bar("reading tensors", len(names), unit="tensors") as advance:
        for name in names:
            try:
                reader.get_tensor(name)
            except (DataLossError, NotFoundError) as error:
                found[name] = error.message
            advance(1)
    return found


def statistics(value: TensorLike) -> dict[str, Any]:
    """The range of a tensor's elements and what is odd about them; nothing of texts."""
    array = np.asarray(value)
    if array.dtype == object or not array.size:
        return {}
    # Small floats would overflow in their sum.
    if array.dtype.kind in "fV" or array.dtype.name == "bfloat16":
        array = array.astype(np.float64)
    if array.dtype.kind not in "fiu":
        return {}
    finite = array[np.isfinite(array)]
    if not finite.size:
        return {"not finite": int(array.size)}
    return {
        "min": finite.min().item(),
        "mean": float(finite.mean()),
        "max": finite.max().item(),
        "zeros": int((finite == 0).sum()),
        "not finite": int(array.size - finite.size),
    }
