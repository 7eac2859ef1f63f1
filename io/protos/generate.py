# SPDX-License-Identifier: Apache-2.0
"""Compiles the .proto files beside it into messages.binpb; run it after changing one of them.

python io/protos/generate.py            # needs grpcio-tools, for the protocol compiler only
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent


def compile_protos(target: Path) -> None:
    """Writes the descriptors of all .proto files, without source positions, to `target`."""
    from grpc_tools import protoc

    sources = sorted(str(path.relative_to(HERE)) for path in HERE.glob("tensorflow/**/*.proto"))
    include = Path(protoc.__file__).with_name("_proto")
    command = ["protoc", f"-I{HERE}", f"-I{include}", f"--descriptor_set_out={target}", *sources]
    if protoc.main(command) != 0:
        sys.exit("the protocol compiler failed")


if __name__ == "__main__":
    compile_protos(HERE / "messages.binpb")
