# SPDX-License-Identifier: Apache-2.0
"""`import tensorflow` means this package: the finder, and where TensorFlow's modules are found.

Imports nothing of the package until it is asked for something.
"""

from .finder import install

__all__ = ["install"]
