# SPDX-License-Identifier: Apache-2.0
"""Plans on a GPU: kernels as blocks of threads, their PTX, devices, and runs in device memory.

Imports the rest of jit but its reports; nothing outside imports it unless a session has a GPU.
"""
