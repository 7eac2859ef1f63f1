# SPDX-License-Identifier: Apache-2.0
"""`six.moves`: names of Python 2's library where Python 3 has them."""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
from typing import Any

# Name below `six.moves` -> module of Python 3's library.
MODULES = {
    "BaseHTTPServer": "http.server",
    "CGIHTTPServer": "http.server",
    "SimpleHTTPServer": "http.server",
    "_thread": "_thread",
    "builtins": "builtins",
    "cPickle": "pickle",
    "collections_abc": "collections.abc",
    "configparser": "configparser",
    "copyreg": "copyreg",
    "dbm_gnu": "dbm.gnu",
    "dbm_ndbm": "dbm.ndbm",
    **{
        f"email_mime_{kind}": f"email.mime.{kind}"
        for kind in ("base", "image", "multipart", "nonmultipart", "text")
    },
    "html_entities": "html.entities",
    "html_parser": "html.parser",
    "http_client": "http.client",
    "http_cookiejar": "http.cookiejar",
    "http_cookies": "http.cookies",
    "queue": "queue",
    "reprlib": "reprlib",
    "socketserver": "socketserver",
    "tkinter": "tkinter",
    **{
        f"tkinter_{part}": f"tkinter.{part}"
        for part in "colorchooser commondialog constants dialog dnd filedialog font messagebox "
        "scrolledtext simpledialog ttk".split()
    },
    "tkinter_tkfiledialog": "tkinter.filedialog",
    "tkinter_tksimpledialog": "tkinter.simpledialog",
    "urllib_error": "urllib.error",
    "urllib_parse": "urllib.parse",
    "urllib_request": "urllib.request",
    "urllib_response": "urllib.response",
    "urllib_robotparser": "urllib.robotparser",
    "xmlrpc_client": "xmlrpc.client",
    "xmlrpc_server": "xmlrpc.server",
}
_NAMES = {
    "StringIO": "io:StringIO",
    "cStringIO": "io:StringIO",
    "UserDict": "collections:UserDict",
    "UserList": "collections:UserList",
    "UserString": "collections:UserString",
    "getcwd": "os:getcwd",
    "getcwdb": "os:getcwdb",
    "getoutput": "subprocess:getoutput",
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
        for part in ("request", "parse", "error", "response", "robotparser"):
            importlib.import_module(f"urllib.{part}")
        return importlib.import_module("urllib")
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    if name in _NAMES:
        module, _, attribute = _NAMES[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'six.moves' has no attribute {name!r}")
