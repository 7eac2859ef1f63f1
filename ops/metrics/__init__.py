# SPDX-License-Identifier: Apache-2.0
"""Metrics over many batches (`tf.metrics`), imported when a program first asks for one.

Each function builds local variables, an operation that adds a batch to them and the metric's value
so far; `ops/metrics/state.py` says what they share.
Imports `array`, `math`, `nn`, `sparse` and `state`, besides what every family may import.
"""
