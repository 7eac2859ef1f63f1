# SPDX-License-Identifier: Apache-2.0
"""What a plan consists of and how fast it could be, as data, text and page.

Imports the rest of jit; settings, target, threads and debug beside the rooms.
"""
