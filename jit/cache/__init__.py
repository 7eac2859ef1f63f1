# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels on disk: entries, their text, archives, and what keeps a bad one from harm.

Imports kernel, and modules beside the rooms.
"""
