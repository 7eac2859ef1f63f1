# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own files and messages: protos, and the graph as one of them.

Imports `engine`'s base types.
"""
