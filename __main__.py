# SPDX-License-Identifier: Apache-2.0
"""`python -m numbaflow`: the same as the `numbaflow` command."""

from .cli.main import main

main()
