# SPDX-License-Identifier: Apache-2.0
"""The graph and what runs it: dtypes, shapes, operations, scopes, autodiff, sessions.

Rooms, each importing those before it: types, graph, gradients, session, interface.  Imports nothing
of the package but, from the session alone, `jit`.
"""
