# SPDX-License-Identifier: Apache-2.0
"""Branches and loops that are one node each, whose bodies are functions (control flow v2)."""
