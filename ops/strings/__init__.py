# SPDX-License-Identifier: Apache-2.0
"""Texts: formatting, joining, hashes, patterns, numbers and bytes in them, files as strings.

Imports `sparse`, besides what every family may import.
"""
