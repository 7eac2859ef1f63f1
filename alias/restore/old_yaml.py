# SPDX-License-Identifier: Apache-2.0
"""Functions of ruamel.yaml that say since 0.18 what is to be written in their place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from .use import note

_SINCE = "ruamel.yaml 0.18"


def _documents(stream: Any, loader: Any) -> Iterator[Any]:
    note("ruamel.yaml: what reads documents", _SINCE)
    reader = loader(stream)
    # (Loaders by themselves have not got all that their parts look at now.)
    reader.max_depth = getattr(reader, "max_depth", None)
    try:
        while reader._constructor.check_data():
            yield reader._constructor.get_data()
    finally:
        # (The reader of the C library has it by itself.)
        getattr(reader, "_parser", reader).dispose()


def _loader(name: str) -> Any:
    import ruamel.yaml

    return getattr(ruamel.yaml, name)


def load(stream: Any, Loader: Any = None, version: Any = None, **kwargs: Any) -> Any:
    """The first document: plain data if no Loader is given."""
    del version, kwargs
    return next(_documents(stream, Loader or _loader("SafeLoader")), None)


def load_all(stream: Any, Loader: Any = None, version: Any = None, **kwargs: Any) -> Any:
    """The documents one by one: plain data if no Loader is given."""
    del version, kwargs
    return _documents(stream, Loader or _loader("SafeLoader"))


def safe_load(stream: Any, version: Any = None) -> Any:
    """The first document, as plain data."""
    return load(stream, None, version)


def safe_load_all(stream: Any, version: Any = None) -> Any:
    """The documents one by one, as plain data."""
    return load_all(stream, None, version)


def round_trip_load(stream: Any, version: Any = None, preserve_quotes: Any = None) -> Any:
    """The first document, with what is needed to write it as it was."""
    del version, preserve_quotes
    return load(stream, _loader("RoundTripLoader"))


def dump(data: Any, stream: Any = None, Dumper: Any = None, **kwargs: Any) -> Any:
    """Writes a document; gives it as a text if there is no stream."""
    return dump_all([data], stream, Dumper, **kwargs)


def dump_all(documents: Any, stream: Any = None, Dumper: Any = None, **kwargs: Any) -> Any:
    """Writes documents; gives them as a text if there is no stream."""
    to = io.StringIO() if stream is None else stream
    note("ruamel.yaml: what writes documents", _SINCE)
    kwargs.pop("encoding", None)
    writer = (Dumper or _loader("Dumper"))(to, **kwargs)
    try:
        writer._serializer.open()
        for document in documents:
            writer._representer.represent(document)
        writer._serializer.close()
    finally:
        getattr(writer, "_emitter", writer).dispose()
    return to.getvalue() if stream is None else None


def safe_dump(data: Any, stream: Any = None, **kwargs: Any) -> Any:
    """Writes plain data."""
    return dump(data, stream, _loader("SafeDumper"), **kwargs)


def round_trip_dump(data: Any, stream: Any = None, **kwargs: Any) -> Any:
    """Writes a document as it was read."""
    return dump(data, stream, _loader("RoundTripDumper"), **kwargs)
