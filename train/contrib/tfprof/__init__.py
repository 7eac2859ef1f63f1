# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.tfprof` and `tf.profiler`: parameters and floating-point operations of graphs, by
scopes and by types of operations.
"""
