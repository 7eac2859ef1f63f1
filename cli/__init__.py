# SPDX-License-Identifier: Apache-2.0
"""The `numbaflow` command, a module per subcommand, and the logic that is theirs alone.

Imports everything; nothing imports it.
"""
