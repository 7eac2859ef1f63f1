# SPDX-License-Identifier: Apache-2.0
"""Checks for programs and ops of users: gradients, to any order, against the values.

    from numbaflow import testing

    testing.check_gradients(lambda x, y: tf.reduce_sum(tf.tanh(x @ y)), a, b)

docs/gradients.md shows it all.
"""

from __future__ import annotations

from .engine.testing.checking import Options
from .engine.testing.gradients_of import check_gradients, gradient_report
from .engine.testing.report import Fault, GradientError, Kink, OpAtFault, Report, Row

__all__ = [
    "Fault",
    "GradientError",
    "Kink",
    "OpAtFault",
    "Options",
    "Report",
    "Row",
    "check_gradients",
    "gradient_report",
]
