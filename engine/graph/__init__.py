# SPDX-License-Identifier: Apache-2.0
"""The op table and the graph: operations, tensors, scopes, and what is known while it is built.

Imports engine's modules beside the rooms and types.
"""
