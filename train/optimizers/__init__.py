# SPDX-License-Identifier: Apache-2.0
"""Optimizers and learning rates.  Those whose update is one op are stated in a few lines.

Imports variables.
"""
