# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.timeseries`: models of values over time, trained and asked as estimators.

Imports `engine`, `ops` and the rest of `train`.
"""
