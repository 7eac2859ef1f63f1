# SPDX-License-Identifier: Apache-2.0
"""Summaries for TensorBoard, and the ops that write event files.

Imports `audio`, `image` and `state`, besides what every family may import.
"""
