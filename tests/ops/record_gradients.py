# SPDX-License-Identifier: Apache-2.0
"""Records of which op types TensorFlow 1.15 has gradients: run me with a Python 3.7 that has it.

`python tests/ops/record_gradients.py` writes gradients_1_15.json beside this file: the op types
with a gradient function, those declared not to be differentiable, and those it knows nothing of.
"""

from __future__ import annotations

import importlib
import json
import os

# Modules of contrib that load ops, or register gradients.
MODULES = (
    "batching boosted_trees factorization framework fused_conv image layers libsvm memory_stats nn "
    "periodic_resample reduce_slice_ops resampler rnn seq2seq tensor_forest text util "
    "image.python.ops.distort_image_ops image.python.ops.single_image_random_dot_stereograms "
    "input_pipeline.python.ops.input_pipeline_ops memory_stats.python.ops.memory_stats_ops "
    "periodic_resample.python.ops.periodic_resample_op "
    "reduce_slice_ops.python.ops.reduce_slice_ops resampler.python.ops.resampler_ops"
).split()


def main() -> None:
    """Looks every op type up."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.framework import ops

    for module in MODULES:
        importlib.import_module(f"tensorflow.contrib.{module}")
    known = op_def_pb2.OpList()
    known.ParseFromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    found: dict[str, list[str]] = {"function": [], "none": [], "refused": []}
    for name in sorted({op.name for op in known.op} | set(ops._gradient_registry._registry)):
        try:
            function = ops._gradient_registry.lookup(name)
        except LookupError:
            found["refused"].append(name)
        else:
            found["none" if function is None else "function"].append(name)
    folder = os.path.dirname(os.path.abspath(__file__))
    lines = [f'"{kind}": {json.dumps(names)}' for kind, names in found.items()]
    with open(os.path.join(folder, "gradients_1_15.json"), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
