# SPDX-License-Identifier: Apache-2.0
"""Summaries for TensorBoard, and the ops that write event files.

Imports `state` and `strings`, besides what every family may import.
"""
