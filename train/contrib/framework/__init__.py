# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.framework`: argument scopes, functions that make, find and assign variables, checks
of shapes.
"""
