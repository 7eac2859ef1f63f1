# SPDX-License-Identifier: Apache-2.0
"""`six.moves`: names of Python 2's library where Python 3 has them."""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
from typing import Any

_MODULES = {
    "builtins": "builtins",
    "cPickle": "pickle",
    "configparser": "configparser",
    "copyreg": "copyreg",
    "html_entities": "html.entities",
    "html_parser": "html.parser",
    "http_client": "http.client",
    "http_cookies": "http.cookies",
    "queue": "queue",
    "reprlib": "reprlib",
    "socketserver": "socketserver",
    "tkinter": "tkinter",
    "urllib": "urllib",
    "urllib_error": "urllib.error",
    "urllib_parse": "urllib.parse",
    "urllib_request": "urllib.request",
    "urllib_response": "urllib.response",
    "urllib_robotparser": "urllib.robotparser",
    "_thread": "_thread",
    "xmlrpc_client": "xmlrpc.client",
}
_NAMES = {
    "StringIO": "io:StringIO",
    "cStringIO": "io:StringIO",
    "UserDict": "collections:UserDict",
    "UserList": "collections:UserList",
    "UserString": "collections:UserString",
    "getcwd": "os:getcwdb",
    "getcwdu": "os:getcwd",
    "reload_module": "importlib:reload",
    "shlex_quote": "shlex:quote",
}

filter, input, map, range, xrange, zip = (
    builtins.filter,
    builtins.input,
    builtins.map,
    builtins.range,
    builtins.range,
    builtins.zip,
)
intern = importlib.import_module("sys").intern
reduce = functools.reduce
zip_longest = itertools.zip_longest
filterfalse = itertools.filterfalse


def __getattr__(name: str) -> Any:
    if name == "urllib":
        for part in ("request", "parse", "error"):
            importlib.import_module(f"urllib.{part}")
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _NAMES:
        module, _, attribute = _NAMES[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'six.moves' has no attribute {name!r}")
