# SPDX-License-Identifier: Apache-2.0
"""What a model function is called for."""

from __future__ import annotations

from ...engine.api import export


@export("estimator.ModeKeys")
class ModeKeys:
    """Training, evaluation or prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
