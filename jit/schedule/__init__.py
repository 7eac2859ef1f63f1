# SPDX-License-Identifier: Apache-2.0
"""From clusters to steps: loop nests, order, memory, argument blocks; and printing all stages.

Imports kernel, program, library, passes, cache, codegen, and modules beside the rooms.
"""
