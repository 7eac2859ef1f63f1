# SPDX-License-Identifier: Apache-2.0
"""What a plan consists of and how fast it could be, as data, text and page.

Imports kernel, program, library, codegen, schedule, runtime, and modules beside the rooms.
"""
