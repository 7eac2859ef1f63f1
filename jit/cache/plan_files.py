# SPDX-License-Identifier: Apache-2.0
"""The folder of finished plans, `<cache>/plans/<key>.plan`.

What a plan's bytes mean says jit/runtime/plan_encoding.py.
"""

from __future__ import annotations

from .checked_files import Folder

# Raise the format's number when the bytes of a plan change their meaning.  A program whose sizes
# are other ones in every process makes a plan in each.
PLANS = Folder("plans", "plan", "numbaflow plan 2", most=512)
