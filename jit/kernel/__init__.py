# SPDX-License-Identifier: Apache-2.0
"""What a kernel is: loop nests over symbolic sizes, scalar expressions, and the rules for both.

Imports the engine's errors, and modules beside the rooms.
"""
