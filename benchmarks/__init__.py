# SPDX-License-Identifier: Apache-2.0
"""Benchmarks against TensorFlow: the same programs in both, in turns, on one machine."""
