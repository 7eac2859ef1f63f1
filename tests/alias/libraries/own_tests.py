# SPDX-License-Identifier: Apache-2.0
"""Runs a library's own test modules, and prints how many tests passed, failed and were skipped."""

import importlib
import json
import sys
import unittest


def main(names):
    """Runs the tests of modules."""
    load = unittest.defaultTestLoader.loadTestsFromModule
    suite = unittest.TestSuite(load(importlib.import_module(name)) for name in names)
    result = unittest.TextTestRunner().run(suite)
    failed = sorted({test.id() for test, _ in result.failures + result.errors})
    skipped = len(result.skipped)
    passed = result.testsRun - skipped - len(failed)
    print(json.dumps({"passed": passed, "skipped": skipped, "failed": failed}))


if __name__ == "__main__":
    main(sys.argv[1:])
