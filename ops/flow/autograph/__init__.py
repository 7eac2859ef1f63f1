# SPDX-License-Identifier: Apache-2.0
"""AutoGraph: Python's control flow on tensors, by functions rewritten when a graph is built."""
