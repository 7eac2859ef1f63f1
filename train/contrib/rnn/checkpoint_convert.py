# SPDX-License-Identifier: Apache-2.0
"""Checkpoints whose cells have the names of TensorFlow before 1.2, written with those of today."""

from __future__ import annotations

import argparse
import sys
from collections import OrderedDict
from typing import Any

from ....engine.graph.graph import Graph
from ....engine.interface import log
from ....engine.session.session import Session
from ....ops.public import tf
from ...checkpoints.checkpoint_utils import load_checkpoint
from ...checkpoints.saver import Saver

# Scopes whose variables were called weights and biases, and are called kernel and bias.
_SCOPES = (
    *("basic_rnn_cell", "gru_cell", "gru_cell/gates", "gru_cell/candidate", "basic_lstm_cell"),
    *("lstm_cell", "lstm_cell/projection", "output_projection_wrapper"),
    *("input_projection_wrapper", "lstm_block_wrapper", "layer_norm_basic_lstm_cell"),
    *("ugrnn_cell", "nas_rnn", "intersection_rnn_cell", "intersection_rnn_cell/in_projection"),
    *("phased_lstm_cell/mask_gates", "phased_lstm_cell/new_input", "phased_lstm_cell/output_gate"),
    *("attention_cell_wrapper", "attention_cell_wrapper/attn_output_projection"),
    *("attention_cell_wrapper/attention", "attention_decoder", "attention_decoder/Attention_0"),
    "attention_decoder/AttnOutputProjection",
)
_DECODER = "attention_decoder"


def _replacements() -> OrderedDict[str, str]:
    """Old parts of names, and what they became; the first that fits a name is taken."""
    found: OrderedDict[str, str] = OrderedDict()
    for scope in _SCOPES:
        found[f"{scope}/weights"] = f"{scope}/kernel"
        if scope == "nas_rnn":
            found[f"{scope}/recurrent_weights"] = f"{scope}/recurrent_kernel"
        else:
            found[f"{scope}/biases"] = f"{scope}/bias"
    for scope in ("/Attention_0", "/AttnOutputProjection"):
        found[f"{_DECODER}{scope}/Linear/Bias"] = f"{_DECODER}{scope}/bias"
        found[f"{_DECODER}{scope}/Linear/Matrix"] = f"{_DECODER}{scope}/kernel"
    found[f"{_DECODER}/LSTMCell/B"] = f"{_DECODER}/lstm_cell/bias"
    found[f"{_DECODER}/LSTMCell/W_0"] = f"{_DECODER}/lstm_cell/kernel"
    found[f"{_DECODER}/Linear/Bias"] = f"{_DECODER}/bias"
    found[f"{_DECODER}/Linear/Matrix"] = f"{_DECODER}/kernel"
    return found


RNN_NAME_REPLACEMENTS = _replacements()


# Shards of kernels, of which TensorFlow's converter finds none: it looks at the names' beginnings.
_RNN_SHARDED_NAME_REPLACEMENTS = OrderedDict(
    [
        ("LSTMCell/W_", "lstm_cell/weights/part_"),
        ("BasicLSTMCell/Linear/Matrix_", "basic_lstm_cell/weights/part_"),
        ("GRUCell/W_", "gru_cell/weights/part_"),
        ("MultiRNNCell/Cell", "multi_rnn_cell/cell_"),
    ]
)


def _new_name(name: str) -> str:
    for old, new in RNN_NAME_REPLACEMENTS.items():
        if old in name:
            converted = name.replace(old, new)
            log.info(f"Converted: {name} --> {converted}")
            return converted
    return name


def convert_names(
    checkpoint_from_path: str, checkpoint_to_path: str, write_v1_checkpoint: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Writes a checkpoint again, with the names that cells have today.

    Args:
        checkpoint_from_path: the prefix of the checkpoint.
        checkpoint_to_path: the prefix of the new one.
        write_v1_checkpoint: whether that is in the first format.

    Returns:
        The variables by their new names, and the new names by the old ones where they differ.
    """
    with Graph().as_default():
        reader = load_checkpoint(checkpoint_from_path)
        made: dict[str, Any] = {}
        changed: dict[str, str] = {}
        for name in reader.get_variable_to_shape_map():
            new = _new_name(name)
            made[new] = tf.Variable(reader.get_tensor(name), name=name)
            if new != name:
                changed[name] = new
        version = 1 if write_v1_checkpoint else 2
        saver = Saver(made, write_version=version)
        with Session() as session:
            session.run(tf.global_variables_initializer())
            saver.save(session, checkpoint_to_path)
    return made, changed


def main(arguments: list[str] | None = None) -> None:
    """The program: the checkpoint's prefix, the new one's, and --write_v1_checkpoint."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint_from_path", help="Path to source checkpoint to be read in.")
    parser.add_argument("checkpoint_to_path", help="Path to checkpoint to be written out.")
    parser.add_argument("--write_v1_checkpoint", action="store_true", help="Write v1 checkpoint")
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    convert_names(given.checkpoint_from_path, given.checkpoint_to_path, given.write_v1_checkpoint)
