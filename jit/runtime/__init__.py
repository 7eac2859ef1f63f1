# SPDX-License-Identifier: Apache-2.0
"""Plans: compiling a segment, keeping its plans, and running them on threads.

Imports all rooms but cuda and report, and modules beside the rooms.
"""
