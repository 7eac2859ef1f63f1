# SPDX-License-Identifier: Apache-2.0
"""Queues, barriers, staging areas, accumulators and readers: what steps wait for.

Imports `state`, besides what every family may import.
"""
