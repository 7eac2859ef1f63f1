# SPDX-License-Identifier: Apache-2.0
"""What values are: element types, static shapes, nested structures.

Imports engine's modules beside the rooms.
"""
