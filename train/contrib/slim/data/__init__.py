# SPDX-License-Identifier: Apache-2.0
"""Datasets of slim: files, how they are read and decoded, queues that hold what was read."""
