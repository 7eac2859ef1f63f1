# SPDX-License-Identifier: Apache-2.0
"""`tf.gradients`: one walk over the graph, backwards.

Imports engine's modules beside the rooms, types and graph.
"""
