#!/usr/bin/env python3
"""Shows that `limit_tests.py` ends what hangs, by name, and nothing else."""

import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import limit_tests

SLOW = "test a::slow has been running for over 60 seconds"


def watch(*lines, limit=300):
    """A watch that saw `lines`, each with the second in which it came."""
    seen = limit_tests.Watch(limit, 0)
    for at, text in lines:
        seen.line(text, at)
    return seen


class Limit(unittest.TestCase):
    def test_a_slow_test_may_end(self):
        self.assertIsNone(watch((60, SLOW)).hung(299))
        for end in ("ok", "FAILED"):
            self.assertIsNone(watch((60, SLOW), (280, f"test a::slow ... {end}")).hung(301))

    def test_a_test_that_hangs_is_named(self):
        reason = watch((60, SLOW), (290, "test a::other ... ok")).hung(300)
        self.assertIn("a::slow", reason)
        self.assertNotIn("a::other", reason)

    def test_silence_is_a_hang(self):
        seen = watch((10, "test process::stuck ... "))
        self.assertIsNone(seen.hung(309))
        self.assertIn("process::stuck", seen.hung(310))

    def test_what_is_run(self):
        run = [sys.executable, str(pathlib.Path(limit_tests.__file__))]
        for body, status in [("print('x')", 0), ("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)]:
            ended = subprocess.run([*run, sys.executable, "-c", body], capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, status, ended)
        self.assertEqual(subprocess.run([*run, "/bin/echo", "said"], capture_output=True, timeout=60).stdout, b"said\n")


unittest.main()
