# SPDX-License-Identifier: Apache-2.0
"""One definition per op, by family, with the public function that builds it.

Imports `engine`'s graph layer and the lowering vocabulary of `jit`.
"""

# Modules that are no part of the public API and are imported when asked for.
ON_DEMAND = ("function_graph", "function_library", "gradient_tape", "testing")
