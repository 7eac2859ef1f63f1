# SPDX-License-Identifier: Apache-2.0
"""`numbaflow saved-model`: TensorFlow's saved_model_cli, with its options and its output.

The logic is in train/saved_model/command.py.  Imports typer.
"""

from __future__ import annotations

import typer


def saved_model(context: typer.Context) -> None:
    """Look into a SavedModel (show, scan) or run one of its signatures (run); as saved_model_cli.

    For example: `numbaflow saved-model show --dir model --all`.
    """
    from ..train.saved_model.command import main

    raise typer.Exit(main(context.args, "numbaflow saved-model"))
