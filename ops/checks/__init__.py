# SPDX-License-Identifier: Apache-2.0
"""What watches a graph: assertions, prints, gradient checkers, op types for tests.

Imports `array`, besides what every family may import.
"""

# Modules that are no part of the public API and are imported when asked for.
ON_DEMAND = ("testing",)
