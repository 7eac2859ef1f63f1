# SPDX-License-Identifier: Apache-2.0
"""Estimators of tf.contrib.learn, their heads and settings."""
