# SPDX-License-Identifier: Apache-2.0
"""numbaflow: the TensorFlow 1.x graph API on kernels that Numba compiles.

`import numbaflow as tf`.  The names come from the definitions themselves (engine/api.py); heavy
libraries are imported on first use.
"""

from __future__ import annotations

import sys as _sys

from .engine import tracebacks as _tracebacks
from .engine.graph import namespaces as _namespaces
from .engine.interface import public as _public

__numbaflow_version__ = _public.NUMBAFLOW_VERSION
_namespaces.load_definitions(__name__)
_namespaces.publish(_sys.modules[__name__])
_public.add_compat(_sys.modules[__name__])
_tracebacks.install(__name__)

# Programs test for the version whose API this is.
__version__ = __getattr__("VERSION")  # type: ignore[name-defined]  # noqa: F821 - published above
__git_version__ = __getattr__("GIT_VERSION")  # type: ignore[name-defined]  # noqa: F821
__compiler_version__ = __getattr__("COMPILER_VERSION")  # type: ignore[name-defined]  # noqa: F821
