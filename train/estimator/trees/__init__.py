# SPDX-License-Identifier: Apache-2.0
"""Estimators of boosted trees: columns as buckets, growers, and the three classes."""
