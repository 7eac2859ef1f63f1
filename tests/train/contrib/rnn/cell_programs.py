# SPDX-License-Identifier: Apache-2.0
"""Two steps of every cell of `tf.contrib.rnn`, with weights drawn by number.

Runs with this package and with TensorFlow 1.15, whose answers `recorded.json` keeps:
`python cell_programs.py recorded.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

GRID = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [2]}
# Name of the case -> name of the cell, its arguments, and the sizes of an input.
CASES: dict[str, tuple[str, dict[str, Any], list[int]]] = {
    "LSTMBlockCell": ("LSTMBlockCell", {"num_units": 4}, [3]),
    "LSTMBlockCell peephole": (
        "LSTMBlockCell",
        {"num_units": 4, "use_peephole": True, "cell_clip": 0.3},
        [3],
    ),
    "GRUBlockCell": ("GRUBlockCell", {"num_units": 4}, [3]),
    "GRUBlockCellV2": ("GRUBlockCellV2", {"num_units": 4}, [3]),
    "CoupledInputForgetGateLSTMCell": (
        "CoupledInputForgetGateLSTMCell",
        {"num_units": 4, "use_peepholes": True, "num_proj": 2, "num_unit_shards": 2},
        [3],
    ),
    "TimeFreqLSTMCell": (
        "TimeFreqLSTMCell",
        {"num_units": 4, "use_peepholes": True, "feature_size": 3, "cell_clip": 0.2},
        [3],
    ),
    "GridLSTMCell": ("GridLSTMCell", {"num_units": 4, "use_peepholes": True, **GRID}, [3]),
    "GridLSTMCell shared": (
        "GridLSTMCell",
        {"num_units": 4, "share_time_frequency_weights": True, "use_peepholes": True, **GRID},
        [3],
    ),
    "GridLSTMCell coupled": (
        "GridLSTMCell",
        {"num_units": 4, "couple_input_forget_gates": True, "use_peepholes": True, **GRID},
        [3],
    ),
    "BidirectionalGridLSTMCell": (
        "BidirectionalGridLSTMCell",
        {"num_units": 4, "backward_slice_offset": 1, **GRID},
        [3],
    ),
    "NASCell": ("NASCell", {"num_units": 4, "num_proj": 2, "use_bias": True}, [3]),
    "UGRNNCell": ("UGRNNCell", {"num_units": 4}, [3]),
    "IntersectionRNNCell": ("IntersectionRNNCell", {"num_units": 4, "num_in_proj": 4}, [3]),
    "SRUCell": ("SRUCell", {"num_units": 4}, [3]),
    "IndRNNCell": ("IndRNNCell", {"num_units": 4}, [3]),
    "IndyGRUCell": ("IndyGRUCell", {"num_units": 4}, [3]),
    "IndyLSTMCell": ("IndyLSTMCell", {"num_units": 4}, [3]),
    "GLSTMCell": ("GLSTMCell", {"num_units": 4, "number_of_groups": 2, "num_proj": 2}, [6]),
    "ConvLSTMCell": (
        "ConvLSTMCell",
        {
            "conv_ndims": 2,
            "input_shape": [4, 3, 2],
            "output_channels": 3,
            "kernel_shape": [3, 2],
        },
        [4, 3, 2],
    ),
}
# Name of the case -> name of the wrapper and its arguments, around a GRU of 4 units.
WRAPPERS: dict[str, tuple[str, dict[str, Any], list[int]]] = {
    "AttentionCellWrapper": (
        "AttentionCellWrapper",
        {"attn_length": 3, "attn_vec_size": 5},
        [3],
    ),
    "HighwayWrapper": ("HighwayWrapper", {"couple_carry_transform_gates": False}, [4]),
    "InputProjectionWrapper": ("InputProjectionWrapper", {"num_proj": 5}, [3]),
    "OutputProjectionWrapper": ("OutputProjectionWrapper", {"output_size": 2}, [3]),
}


def weights(number: int, shape: list[int]) -> np.ndarray:
    """The weights of the variable of that number."""
    return np.random.RandomState(number).uniform(-0.9, 0.9, shape).astype(np.float32)


def make(tf: Any, name: str) -> Any:
    """The cell of a case."""
    if name in CASES:
        kind, arguments, _ = CASES[name]
        return getattr(tf.contrib.rnn, kind)(**arguments)
    kind, arguments, _ = WRAPPERS[name]
    return getattr(tf.contrib.rnn, kind)(tf.nn.rnn_cell.GRUCell(4), **arguments)


def flat(tf: Any, structure: Any) -> list[Any]:
    """The tensors of a structure."""
    if isinstance(structure, (list, tuple)):
        return [tensor for part in structure for tensor in flat(tf, part)]
    return [structure]


def steps(tf: Any, name: str) -> dict[str, Any]:
    """Variables of a cell, and output, state and gradients after two steps."""
    sizes = (CASES.get(name) or WRAPPERS[name])[2]
    with tf.Graph().as_default():
        cell = make(tf, name)
        inputs = [tf.constant(weights(100 + t, [2, *sizes])) for t in range(2)]
        state = cell.zero_state(2, tf.float32)
        if name == "TimeFreqLSTMCell":
            state = tf.zeros([2, 8])
        with tf.variable_scope("root") as scope:
            output, state = cell(inputs[0], state)
            scope.reuse_variables()
            output, state = cell(inputs[1], state)
        variables = tf.global_variables()
        results = [output, *flat(tf, state)]
        loss = tf.add_n([tf.reduce_sum(tf.square(result)) for result in results])
        grads = tf.gradients(loss, variables)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number, variable in enumerate(variables):
                variable.load(weights(number, variable.shape.as_list()), session)
            values, slopes = session.run([results, [g for g in grads if g is not None]])
        return {
            "variables": [[v.op.name, v.shape.as_list()] for v in variables],
            "results": [[float(v.sum()), float(np.square(v).sum())] for v in values],
            "gradients": [[float(v.sum()), float(np.square(v).sum())] for v in slopes],
        }


if __name__ == "__main__":
    import tensorflow

    kept = {name: steps(tensorflow, name) for name in (*CASES, *WRAPPERS)}
    with open(sys.argv[1], "w") as file:
        file.write("{\n")
        rows = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in kept.items()]
        file.write(",\n".join(rows) + "\n}\n")
