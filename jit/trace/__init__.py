# SPDX-License-Identifier: Apache-2.0
"""From graph operations to a program: the builder of lowerings, branches and loops.

Imports kernel, program, library, and modules beside the rooms.
"""
