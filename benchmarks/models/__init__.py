# SPDX-License-Identifier: Apache-2.0
"""Whole models in plain TensorFlow 1.x, which numbaflow and TensorFlow run from the same text."""
