# SPDX-License-Identifier: Apache-2.0
"""A graph that writes summaries; run by a Python with TensorFlow 1.15 it prints the graph's nodes.

python tests/train/summaries/recording_program.py > tests/train/summaries/recording_1_15.txt
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


def build(tf: Any, v2: Any) -> None:
    """Adds the graph's nodes; `v2` has what is not public."""
    summary = tf.contrib.summary
    tf.train.get_or_create_global_step()
    writer = summary.create_file_writer("/tmp/logs", max_queue=3)
    with writer.as_default(), summary.always_record_summaries():
        with tf.name_scope("scope"):
            summary.scalar("a", 1.0, step=2)
            summary.scalar("b", tf.constant(2), family="family")
        summary.histogram("histogram", [1.0, 2.0])
        summary.image("image", [[[[1.0]]]])
        summary.audio("audio", [[0.5]], 8000.0, 2)
        summary.generic("generic", [1, 2])
        summary.graph(tf.constant("x"))
        summary.import_event("x")
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        summary.scalar("c", 1.0)
    with writer.as_default(), summary.never_record_summaries():
        summary.scalar("d", 1.0)
    summary.scalar("nowhere", 1.0)
    writer.close()
    writer.init()
    own = v2.create_file_writer_v2("/tmp/own", name="own")
    with own.as_default():
        v2.write("t/ag", [1, 2], step=3)
        v2.write_raw_pb("x", step=3)
        v2.set_step(4)
        v2.run_metadata("metadata", tf.RunMetadata())
        v2.run_metadata_graphs("metadata", tf.RunMetadata())
        with v2.record_if(tf.placeholder(tf.bool, name="condition")):
            v2.write("u", 1)
        v2.set_step(None)


def lines(tf: Any) -> Iterator[str]:
    """The nodes of the default graph and the collections of summaries, a line each."""
    for node in tf.get_default_graph().as_graph_def().node:
        attributes = (f"{key}={' '.join(str(node.attr[key]).split())}" for key in sorted(node.attr))
        line = f"{node.name} {node.op} {list(node.input)} {node.device} {' '.join(attributes)}"
        # Versions of protobuf write whole floats in two ways; a process and a writer have numbers.
        line = re.sub(r"((?:float|double)_val: \d+)\.0\b", r"\1", line)
        yield re.sub(r'"\.\d+\.\d+"', '".PROCESS.WRITER"', line)
    for key in ("_SUMMARY_V2", "_SUMMARY_WRITER_V2"):
        yield f"{key} {[item.name for item in tf.get_collection(key)]}"


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.ops import summary_ops_v2

    build(tensorflow, summary_ops_v2)
    print("\n".join(lines(tensorflow)))
