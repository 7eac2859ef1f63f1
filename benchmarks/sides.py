# SPDX-License-Identifier: Apache-2.0
"""The peers by name: what they are called, what Python runs them, what their processes get."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .peers import Peer

ROOT = Path(__file__).parent.parent


PEERS = {
    "numbaflow": Peer("numbaflow", "", "", "numbaflow"),
    "tensorflow": Peer("TensorFlow", "NUMBAFLOW_TF_PYTHON", "tf", "tensorflow.compat.v1"),
    "tensorflow_xla": Peer("TF+XLA", "NUMBAFLOW_TF_PYTHON", "tf", "tensorflow.compat.v1"),
    "jax": Peer("JAX", "NUMBAFLOW_JAX_PYTHON", "jax", "jax.numpy"),
    "torch": Peer("PyTorch", "NUMBAFLOW_TORCH_PYTHON", "torch", "torch"),
    "torch_compile": Peer("torch.compile", "NUMBAFLOW_TORCH_PYTHON", "torch", "torch"),
    "pytensor": Peer("PyTensor", "NUMBAFLOW_PYTENSOR_PYTHON", "pytensor", "pytensor.tensor"),
}
# Peers that are another peer's package in another mode.
SAME_PACKAGE = ("tensorflow_xla", "torch_compile")


def environment(peer: str, threads: int, scratch: str) -> dict[str, str]:
    """The variables of a peer's process; compilers keep what they make in the scratch folder."""
    count = str(threads)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables = dict.fromkeys(
        ("NUMBAFLOW_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), count
    )
    if peer == "jax":
        variables["PJRT_NPROC"] = count
    return {
        **kept,
        **variables,
        "NUMBAFLOW_CACHE": os.path.join(scratch, "kernels"),
        "NUMBAFLOW_WARM": "0",
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "torch"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(scratch, 'pytensor')}",
        "NUMBA_CACHE_DIR": os.path.join(scratch, "numba"),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu",
    }


def load(peer: str, threads: int) -> Any:
    """The peer's side of the comparison, in a process that has its package."""
    if peer == "jax":
        from .in_jax import Jax

        return Jax()
    if peer in ("torch", "torch_compile"):
        from .in_torch import Torch

        return Torch(peer == "torch_compile", threads)
    if peer == "pytensor":
        from .in_pytensor import PyTensor

        return PyTensor()
    from .in_tensorflow import Graphs

    return Graphs(peer, threads)
