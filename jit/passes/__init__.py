# SPDX-License-Identifier: Apache-2.0
"""What is done to a program before it is cut into kernels, pass by pass, and the cutting.

Imports kernel, program, library, trace, and modules beside the rooms.
"""
