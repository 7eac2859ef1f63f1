# SPDX-License-Identifier: Apache-2.0
"""What outlives a run: variables, their scopes and initializers, update ops, checkpoint ops.

Imports `array` and `random`, besides what every family may import.
"""
