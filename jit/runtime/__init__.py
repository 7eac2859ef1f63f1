# SPDX-License-Identifier: Apache-2.0
"""Plans: compiling a segment, keeping its plans, and running them on threads.

Imports all but report; settings, target, threads and debug beside the rooms.
"""
