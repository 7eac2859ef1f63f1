# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.opt`: variants of Adam, preconditioners, and optimizers around others.

Most are classes over train/optimizers; averaging.py has what those of several workers share.
"""
