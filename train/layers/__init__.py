# SPDX-License-Identifier: Apache-2.0
"""Layers that keep their variables (`tf.layers`); imported when one of their names is used.

Imports `engine`, `ops` and `train`.
"""
