# SPDX-License-Identifier: Apache-2.0
"""Tensors whose rows differ in length (tf.RaggedTensor), their ops, and how ordinary functions take
them.

Imports no other family: everything else is looked up when it is called.
"""
