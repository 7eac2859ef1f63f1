# SPDX-License-Identifier: Apache-2.0
"""What tasks of a cluster show each other: a token, certificates, or both, from a folder.

The setting `cluster` names the folder (docs/distributed.md).  Without it everything is as in
TensorFlow, whose protocol has neither.
"""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any

from ...engine import errors, settings
from ...engine.record_class import record

_TOKEN = "token"
# The authority that has signed all certificates, this task's certificate and its key.
_FILES = ("ca.pem", "cert.pem", "key.pem")
# By this a call shows the token.
SHOWN = "numbaflow-token"


@record(frozen=True)
class Credentials:
    """The token, and the texts of `_FILES`; None where there is none."""

    token: str | None = None
    certificates: tuple[bytes, bytes, bytes] | None = None

    def shown(self) -> tuple[tuple[str, str], ...]:
        """What a call says besides its request."""
        return ((SHOWN, self.token),) if self.token else ()

    def require(self, metadata: Any) -> None:
        """UnauthenticatedError for a call that does not show the token."""
        if self.token is None:
            return
        shown = next((pair.value for pair in metadata if pair.key == SHOWN), "")
        if not hmac.compare_digest(str(shown).encode(), self.token.encode()):
            text = "The call does not show the token of this cluster (NUMBAFLOW_CLUSTER)."
            raise errors.make_error(None, None, text, errors.UnauthenticatedError.CODE)

    def channel(self, grpc: Any, address: str, options: Any) -> Any:
        """A channel to an address, which shows certificates if there are some."""
        if self.certificates is None:
            return grpc.insecure_channel(address, options=options)
        authority, own, key = self.certificates
        shown = grpc.ssl_channel_credentials(authority, key, own)
        return grpc.secure_channel(address, shown, options=options)

    def listen(self, grpc: Any, server: Any, place: str) -> int:
        """Has a server listen at a place; with certificates, to those alone who have one."""
        if self.certificates is None:
            return int(server.add_insecure_port(place))
        authority, own, key = self.certificates
        shown = grpc.ssl_server_credentials([(key, own)], authority, require_client_auth=True)
        return int(server.add_secure_port(place, shown))


def credentials() -> Credentials:
    """What the setting's folder holds.

    Raises:
        FailedPreconditionError: the folder holds nothing of the kind, or some of the certificates.
    """
    folder = settings.get("cluster")
    if not folder:
        return Credentials()
    found = {
        name: (Path(folder) / name).read_bytes()
        for name in (_TOKEN, *_FILES)
        if (Path(folder) / name).is_file()
    }
    given = [name for name in _FILES if name in found]
    if not found or (given and len(given) < len(_FILES)):
        missing = ", ".join(name for name in _FILES if name not in found)
        raise errors.failed_precondition(
            f"NUMBAFLOW_CLUSTER is {folder}, where neither a token is nor all certificates: "
            f"{missing} is missing."
        )
    token = found[_TOKEN].decode().strip() if _TOKEN in found else None
    if token == "":
        raise errors.failed_precondition(f"The token in {folder} is empty.")
    return Credentials(token, tuple(found[n] for n in _FILES) if given else None)  # type: ignore[arg-type]
