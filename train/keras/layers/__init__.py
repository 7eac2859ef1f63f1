# SPDX-License-Identifier: Apache-2.0
"""Layers of `tf.keras`, by what they do; table.py finds them by their names."""
