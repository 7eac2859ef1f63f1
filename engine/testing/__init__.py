# SPDX-License-Identifier: Apache-2.0
"""Checks of gradients, behind `numbaflow.testing`: imported when one of its names is used."""
