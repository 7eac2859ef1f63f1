# SPDX-License-Identifier: Apache-2.0
"""Results of evaluations as lines of the log and as events."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.interface import log
from ...engine.types import dtypes
from ...io import protos
from ...io.tensor_proto import make_tensor_proto
from ..summaries.summary_io import FileWriterCache


def _told(results: dict[str, Any]) -> str:
    shown = sorted(item for item in results.items() if not isinstance(item[1], bytes))
    return ", ".join(f"{name} = {value}" for name, value in shown)


def write_dict_to_summary(
    output_dir: str, dictionary: dict[str, Any], current_global_step: object
) -> None:
    """Writes results of one evaluation as one summary: numbers, arrays and serialized summaries."""
    log.info("Saving dict for global step %d: %s", current_global_step, _told(dictionary))
    summary = protos.Summary()
    for key, value in dictionary.items():
        if value is None or key == "global_step":
            continue
        if isinstance(value, (np.float32, np.int64, np.int32, float, int)):
            summary.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, bytes):
            _add_serialized(summary, key, value)
        elif isinstance(value, np.ndarray):
            made = summary.value.add(tag=key, node_name=key)
            made.tensor.CopyFrom(make_tensor_proto(value))
            log.info(
                "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a "
                "Tensorboard plugin for visualization (see "
                "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md "
                "for more information)."
            )
        else:
            log.warn(
                "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int "
                "or np.ndarray or a serialized string of Summary.",
                key,
            )
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, current_global_step)
    writer.flush()


def _add_serialized(summary: Any, key: str, value: bytes) -> None:
    from google.protobuf.message import DecodeError

    try:
        parsed = protos.Summary.FromString(value)
    except DecodeError:
        log.warn("Skipping summary for %s, cannot parse string to Summary.", key)
        return
    for i, part in enumerate(parsed.value):
        part.tag = f"{key}/{i}"
    summary.value.extend(parsed.value)


def write_checkpoint_path_to_summary(
    output_dir: str, checkpoint_path: str, current_global_step: object
) -> None:
    """Writes which checkpoint was evaluated."""
    log.info(
        "Saving 'checkpoint_path' summary for global step %d: %s",
        *(current_global_step, checkpoint_path),
    )
    summary = protos.Summary()
    tensor = make_tensor_proto(checkpoint_path, dtype=dtypes.string)
    summary.value.add(tag="checkpoint_path", tensor=tensor)
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, current_global_step)
    writer.flush()
