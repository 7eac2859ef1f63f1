# SPDX-License-Identifier: Apache-2.0
"""One definition per op, by family, with the public function that builds it.

Imports `engine`'s graph layer and the lowering vocabulary of `jit`.  The modules here serve all
families; tests/test_layout.py holds which family may import which.
"""

# Families that are imported when one of their names is asked for.
ON_DEMAND = ("distributions", "metrics")
