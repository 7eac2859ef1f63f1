# SPDX-License-Identifier: Apache-2.0
"""Matrices that know their structure, `tf.linalg.LinearOperator*`.

`operator.py` states what all can do; `rules.py` what two of them give as a third.
"""
