# SPDX-License-Identifier: Apache-2.0
"""The saved_model_cli command: what a SavedModel holds, and its signatures run on given inputs.

Options and output are those of TensorFlow 1.15's command of that name.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.graph.graph import Graph
from ...engine.printable import say
from ...engine.session.session import Session
from ...io import protos
from ...io.meta_graph import ops_used_by_graph_def
from .freezing import get_meta_graph_def, get_saved_model_tag_sets, parse_saved_model
from .inputs import (  # noqa: F401  names that programs expect here
    load_inputs_from_input_arg_string,
    preprocess_input_examples_arg_string,
    preprocess_input_exprs_arg_string,
    preprocess_inputs_arg_string,
)
from .reading import load
from .tensor_info import get_tensor_from_tensor_info

# Ops with which a graph reaches beyond its inputs.
_OP_BLACKLIST = {"WriteFile", "ReadFile", "PrintV2"}  # noqa: RUF012


def get_signature_def_map(saved_model_dir: str, tag_set: str) -> Any:
    """The SignatureDefs of the graph with these tags, separated by commas."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


# show


def show(args: argparse.Namespace) -> None:
    """Prints the tags of a model, the signatures of a graph, or inputs and outputs of one."""
    if args.all:
        _show_all(args.dir)
    elif args.tag_set is None:
        say("The given SavedModel contains the following tag-sets:")
        for tags in sorted(get_saved_model_tag_sets(args.dir)):
            say(", ".join(sorted(tags)))
    elif args.signature_def is None:
        say("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
        for key in sorted(get_signature_def_map(args.dir, args.tag_set)):
            say(f'SignatureDef key: "{key}"')
    else:
        signatures = get_signature_def_map(args.dir, args.tag_set)
        _show_signature(signatures[args.signature_def], 0)


def _show_all(folder: str) -> None:
    for tags in sorted(get_saved_model_tag_sets(folder)):
        say(
            f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the following "
            "SignatureDefs:"
        )
        signatures = get_signature_def_map(folder, ",".join(tags))
        for key in sorted(signatures):
            say(f"\nsignature_def['{key}']:")
            _show_signature(signatures[key], 1)


def _show_signature(signature: Any, indent: int) -> None:
    space = "  " * indent
    for what, infos in (("input", signature.inputs), ("output", signature.outputs)):
        say(f"{space}The given SavedModel SignatureDef contains the following {what}(s):")
        for key, info in sorted(infos.items()):
            say(f"{space}  {what}s['{key}'] tensor_info:")
            _print_tensor_info(info, indent + 1)
    say(f"{space}Method name is: {signature.method_name}")


def _print_tensor_info(tensor_info: Any, indent: int = 0) -> None:
    shape = "unknown_rank"
    if not tensor_info.tensor_shape.unknown_rank:
        shape = f"({', '.join(str(dim.size) for dim in tensor_info.tensor_shape.dim)})"
    for line in (
        f"dtype: {protos.DataType.Name(tensor_info.dtype)}",
        f"shape: {shape}",
        f"name: {tensor_info.name}",
    ):
        say(f"{'  ' * indent}    {line}")


# run


def run(args: argparse.Namespace) -> None:
    """Prints the outputs of a signature for given inputs, and saves them if there is a folder."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError(
            "At least one of --inputs, --input_exprs or --input_examples must be required"
        )
    values = load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples)
    run_saved_model_with_feed_dict(
        args.dir, args.tag_set, args.signature_def, values, args.outdir, args.overwrite
    )


def run_saved_model_with_feed_dict(
    saved_model_dir: str,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: dict[str, Any],
    outdir: str | None,
    overwrite_flag: bool,
    worker: str | None = None,
) -> None:
    """Runs a signature and prints its outputs.

    Args:
      saved_model_dir: The model's folder.
      tag_set: The tags of a graph, separated by commas.
      signature_def_key: The name of a signature of it.
      input_tensor_key_feed_dict: Values of inputs, by their names in the signature.
      outdir: A folder for the outputs, a .npy file each; None for none.
      overwrite_flag: Whether to write over files that are there.
      worker: The target of the session.

    Raises:
      RuntimeError: An output file is there already.
      ValueError: The signature has no such input.
    """
    signature = get_signature_def_map(saved_model_dir, tag_set)[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            raise ValueError(
                f'"{key}" is not a valid input key. Please choose from '
                f'"{list(signature.inputs)}", or use --show option.'
            )
    with Graph().as_default() as graph, Session(worker or "", graph=graph) as session:
        load(session, tag_set.split(","), saved_model_dir)
        feeds = {
            get_tensor_from_tensor_info(signature.inputs[key], graph): value
            for key, value in input_tensor_key_feed_dict.items()
        }
        outputs = {
            key: get_tensor_from_tensor_info(signature.outputs[key], graph)
            for key in sorted(signature.outputs)
        }
        results = session.run(outputs, feed_dict=feeds)
    for key, value in results.items():
        say(f"Result for output key {key}:\n{value}")
        if outdir:
            path = _save(outdir, key, value, overwrite_flag)
            say(f"Output {key} is saved to {path}")


def _save(folder: str, key: str, value: np.ndarray, overwrite: bool) -> str:
    if not key or key != os.path.basename(key) or "\\" in key or "\0" in key:
        # The model says what its outputs are called, but not where files are written.
        raise RuntimeError(f"output {key!r} cannot be saved: its name is that of no file")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{key}.npy")
    if not overwrite and os.path.exists(path):
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing '
            "output files."
        )
    np.save(path, value)
    return path


# scan


def scan(args: argparse.Namespace) -> None:
    """Prints which ops of a model reach beyond its inputs."""
    if args.tag_set:
        graphs = [get_meta_graph_def(args.dir, args.tag_set)]
    else:
        graphs = list(parse_saved_model(args.dir).meta_graphs)
    for message in graphs:
        scan_meta_graph_def(message)


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Prints which ops of a graph are on the list of those that reach beyond its inputs."""
    tags = list(meta_graph_def.meta_info_def.tags)
    found = _OP_BLACKLIST & set(ops_used_by_graph_def(meta_graph_def.graph_def))
    if found:
        say(f"MetaGraph with tag set {tags} contains the following blacklisted ops:", found)
    else:
        say(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


# The command


def create_parser(program: str = "saved_model_cli") -> argparse.ArgumentParser:
    """The parser of the command's options."""
    parser = argparse.ArgumentParser(program, description="Looks into SavedModels and runs them.")
    commands = parser.add_subparsers(title="commands")

    def command(name: str, function: Callable[..., Any], text: str) -> argparse.ArgumentParser:
        part = commands.add_parser(name, help=text, description=text)
        part.add_argument("--dir", required=True, help="the SavedModel's folder")
        part.set_defaults(func=function)
        return part

    tags = "the tags of a graph, separated by commas"
    part = command("show", show, "Show tags, signatures, inputs and outputs.")
    part.add_argument("--all", action="store_true", help="show everything")
    part.add_argument("--tag_set", help=tags)
    part.add_argument("--signature_def", metavar="KEY", help="the name of a signature")
    part = command("run", run, "Run a signature on given inputs.")
    part.add_argument("--tag_set", required=True, help=tags)
    part.add_argument("--signature_def", metavar="KEY", required=True, help="the signature")
    part.add_argument("--inputs", default="", help='"x=a.npy;y=b.npz[z]": arrays in files')
    part.add_argument("--input_exprs", default="", help='"x=[[1, 2]];y=np.ones((2, 3))"')
    part.add_argument("--input_examples", default="", help="\"x=[{'age': [22]}]\": tf.Examples")
    part.add_argument("--outdir", help="a folder for the outputs, a .npy file each")
    part.add_argument("--overwrite", action="store_true", help="write over files there")
    part = command("scan", scan, "List ops that read or write files, or print.")
    part.add_argument("--tag_set", help=tags)
    return parser


def main(arguments: Sequence[str] | None = None, program: str = "saved_model_cli") -> int:
    """Runs the command; 0, or 1 for what cannot be done, which is printed."""
    import sys

    from ...engine.errors import OpError

    parser = create_parser(program)
    args = parser.parse_args(arguments)
    if not hasattr(args, "func"):
        parser.error("too few arguments")
    try:
        args.func(args)
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, OpError) as error:
        say(f"{program}: {error}", file=sys.stderr)
        return 1
    return 0
