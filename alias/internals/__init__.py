# SPDX-License-Identifier: Apache-2.0
"""Small internal modules of TensorFlow's that libraries of its time import.

What cannot be here can be imported, and fails, naming itself, when it is used (absent.py).
"""
