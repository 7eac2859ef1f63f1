# SPDX-License-Identifier: Apache-2.0
"""The command lines of TensorFlow's tools for graphs and checkpoints, each stated as its flags.

`numbaflow run -m tensorflow.python.tools.freeze_graph …` gets here (see alias/finder.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..engine.errors import OpError
from ..engine.graph.graph import Graph
from ..engine.printable import say
from ..engine.types import dtypes


class Flag(NamedTuple):
    """An option; its default tells its type.  Truths may be given as "=true" or with no value."""

    name: str
    default: Any
    help: str


class Tool(NamedTuple):
    """A program: what it does, its flags, and the function that gets their values."""

    about: str
    flags: Sequence[Flag]
    run: Callable[..., Any]


def _freeze(**flags: Any) -> None:
    from .saved_model.freezing import freeze_graph

    freeze_graph(**flags)


def _strip(**flags: Any) -> None:
    from ..io.strip_unused import strip_unused_from_files

    strip_unused_from_files(**flags)


def _optimize(
    input: str,
    output: str,
    input_names: str,
    output_names: str,
    frozen_graph: bool,
    placeholder_type_enum: str,
    toco_compatible: bool,
) -> None:
    from ..io import files, protos
    from ..io.graph_def import write_graph
    from ..io.optimize_for_inference import optimize_for_inference
    from ..io.strip_unused import read_message

    graph_def = read_message(input, protos.GraphDef(), frozen_graph)
    kinds = [int(value) for value in placeholder_type_enum.split(",")]
    result = optimize_for_inference(
        graph_def,
        input_names.split(","),
        output_names.split(","),
        kinds if len(kinds) > 1 else kinds[0],
        toco_compatible,
    )
    if frozen_graph:
        files.write_string_to_file(output, result.SerializeToString())
    else:
        folder, _, name = output.rpartition("/")
        write_graph(result, folder, name)


def _inspect(file_name: str, tensor_name: str, printoptions: list[str], **flags: Any) -> None:
    from .checkpoints.inspect_checkpoint import (
        parse_numpy_printoption,
        print_tensors_in_checkpoint_file,
    )

    if not file_name:
        raise ValueError("You need to name a checkpoint: --file_name=prefix.")
    for option in printoptions:
        parse_numpy_printoption(option)
    print_tensors_in_checkpoint_file(file_name, tensor_name, **flags)


_OUTPUTS = Flag("output_node_names", "", "names of nodes whose results are wanted, with commas")
_FLOAT = dtypes.float32.as_datatype_enum

TOOLS = {
    "freeze_graph": Tool(
        "Makes variables of a checkpoint or SavedModel into constants of a graph.",
        (
            Flag("input_graph", "", "a GraphDef"),
            Flag("input_saver", "", "a SaverDef"),
            Flag("input_checkpoint", "", "the prefix of a checkpoint"),
            Flag("checkpoint_version", 2, "the format of the checkpoint, 1 or 2"),
            Flag("output_graph", "", "the GraphDef to write"),
            Flag("input_binary", False, "the inputs are binary, not text"),
            _OUTPUTS,
            Flag("restore_op_name", "save/restore_all", "not used any more"),
            Flag("filename_tensor_name", "save/Const:0", "not used any more"),
            Flag("clear_devices", True, "forget the devices of nodes"),
            Flag("initializer_nodes", "", "nodes to run first, with commas"),
            Flag("variable_names_whitelist", "", "freeze these variables only, with commas"),
            Flag("variable_names_blacklist", "", "do not freeze these variables, with commas"),
            Flag("input_meta_graph", "", "a MetaGraphDef"),
            Flag("input_saved_model_dir", "", "the folder of a SavedModel"),
            Flag("saved_model_tags", "serve", "the tags of its graph, with commas"),
        ),
        _freeze,
    ),
    "strip_unused": Tool(
        "Cuts a graph down to what lies between given inputs and outputs.",
        (
            Flag("input_graph", "", "a GraphDef"),
            Flag("input_binary", False, "it is binary, not text"),
            Flag("output_graph", "", "the GraphDef to write"),
            Flag("output_binary", True, "write it as binary, not as text"),
            Flag("input_node_names", "", "nodes that become placeholders, with commas"),
            _OUTPUTS,
            Flag("placeholder_type_enum", _FLOAT, "the DataType of the placeholders"),
        ),
        _strip,
    ),
    "optimize_for_inference": Tool(
        "Leaves out of a frozen graph what only training needs, and folds batch normalization.",
        (
            Flag("input", "", "a GraphDef"),
            Flag("output", "", "the GraphDef to write"),
            Flag("input_names", "", "nodes that become placeholders, with commas"),
            Flag("output_names", "", "names of nodes whose results are wanted, with commas"),
            Flag("frozen_graph", True, "the files are binary, not text"),
            Flag("placeholder_type_enum", str(_FLOAT), "their DataType, or one for each"),
            Flag("toco_compatible", False, "leave resizing and padding as they are"),
        ),
        _optimize,
    ),
    "inspect_checkpoint": Tool(
        "Prints what is in a checkpoint.",
        (
            Flag("file_name", "", "the prefix of a checkpoint"),
            Flag("tensor_name", "", "the tensor whose value is printed"),
            Flag("count_exclude_pattern", "", "do not count tensors whose names match this"),
            Flag("all_tensors", False, "print the values of all tensors"),
            Flag("all_tensor_names", False, "print the names of all tensors"),
            Flag("printoptions", [], "print options of NumPy, as name=value"),
        ),
        _inspect,
    ),
}


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a tool's command line."""
    tool = TOOLS[name]
    parser = argparse.ArgumentParser(name, description=tool.about, allow_abbrev=False)
    for flag in tool.flags:
        options: dict[str, Any] = {"default": flag.default, "help": flag.help}
        if isinstance(flag.default, bool):
            options |= {"nargs": "?", "const": True, "type": lambda text: text.lower() == "true"}
        elif isinstance(flag.default, list):
            options["nargs"] = "*"
        else:
            options["type"] = type(flag.default)
        parser.add_argument(f"--{flag.name}", **options)
    return parser


def main(name: str, arguments: Sequence[str] | None = None) -> int:
    """Runs a tool with the arguments of this process or those given.

    Returns:
      0, or 1 for what cannot be done, which is printed.

    Raises:
      SystemExit: A flag is wrong (code 2), or help was asked for (0).
    """
    flags = vars(parser_of(name).parse_args(arguments))
    try:
        with Graph().as_default():
            TOOLS[name].run(**flags)
    except (OSError, ValueError, KeyError, argparse.ArgumentTypeError, OpError) as error:
        say(f"{name}: {error.args[0] if error.args else error}", file=sys.stderr)
        return 1
    return 0
