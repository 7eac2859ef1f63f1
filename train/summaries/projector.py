# SPDX-License-Identifier: Apache-2.0
"""What TensorBoard's projector is told of embeddings (tf.contrib.tensorboard.plugins.projector)."""

from __future__ import annotations

import os
from typing import Any

from ...io.files import write_string_to_file

# The name that the plugin looks for.
_FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes what the projector is to show into the folder of a writer.

    Args:
        summary_writer: a tf.summary.FileWriter.
        config: a ProjectorConfig. Where it names no checkpoint, it is the folder's latest.

    Raises:
        ValueError: the writer has no folder.

    Example:
        >>> from numbaflow.train.summaries.projector import visualize_embeddings
        >>> config = tf.contrib.tensorboard.plugins.projector.ProjectorConfig()
        >>> embedding = config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
        >>> with tf.summary.FileWriter("./logs") as writer:
        ...     visualize_embeddings(writer, config)
        >>> with open("./logs/projector_config.pbtxt") as file:
        ...     print(file.read(), end="")
        embeddings {
          tensor_name: "words"
          metadata_path: "words.tsv"
        }
    """
    from google.protobuf import text_format

    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    write_string_to_file(os.path.join(logdir, _FILE), text_format.MessageToString(config))
