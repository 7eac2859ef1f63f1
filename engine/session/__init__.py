# SPDX-License-Identifier: Apache-2.0
"""Running a graph: sessions, fetches, state, the interpreter and functions put in place.

Imports engine's modules beside the rooms, types and graph; from the session alone, `jit`.
"""
