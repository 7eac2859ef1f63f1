# SPDX-License-Identifier: Apache-2.0
"""Tensor IR: nodes and values of a traced graph, and the program that passes edit.

Imports kernel, and the engine's data classes.
"""
