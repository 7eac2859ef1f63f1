# SPDX-License-Identifier: Apache-2.0
"""What checkpoints hold, and initializing variables by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ...checkpoints import checkpoint_utils

if TYPE_CHECKING:
    from ....io.checkpoint_reader import CheckpointReader


@export("contrib.framework.load_checkpoint")
def load_checkpoint(filepattern: str) -> CheckpointReader:
    """The same as tf.train.load_checkpoint."""
    return checkpoint_utils.load_checkpoint(filepattern)


@export("contrib.framework.load_variable")
def load_variable(checkpoint_dir: str, name: str) -> Any:
    """The same as tf.train.load_variable."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


@export("contrib.framework.list_variables")
def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """The same as tf.train.list_variables."""
    return checkpoint_utils.list_variables(checkpoint_dir)


@export("contrib.framework.init_from_checkpoint")
def init_from_checkpoint(checkpoint_dir: str, assignment_map: dict[str, Any]) -> None:
    """The same as tf.train.init_from_checkpoint."""
    checkpoint_utils.init_from_checkpoint(checkpoint_dir, assignment_map)
