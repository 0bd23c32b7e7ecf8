#!/usr/bin/env python3
"""Shows that `gate.py` and `planned.py` fail for each of their reasons, and pass without one."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
import gate
import planned

GOOD = {"id": "a", "status": "SUCCESS"}


def verdict(runs, plan=None, skips=None):
    """Exit code and output of the gate over `{"<revision>+<scenario>": checks or text}`."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, checks in runs.items():
            result = folder / name / "server-x-now"
            result.mkdir(parents=True)
            (result / "checks.json").write_text(checks if isinstance(checks, str) else json.dumps(checks))
        plan_file = folder / "plan"
        plan_file.write_text("\n".join(name.replace("+", " ") for name in (runs if plan is None else plan)))
        output = io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            mock.patch.object(sys, "argv", ["gate.py", str(folder), str(plan_file)]),
            mock.patch.object(gate, "ALLOWED_SKIPS", skips or {}),
        ):
            try:
                gate.main()
            except SystemExit as exit_:
                return exit_.code, output.getvalue()
    raise AssertionError("the gate did not exit")


class Gate(unittest.TestCase):
    def test_green(self):
        self.assertEqual(verdict({"r+ping": [GOOD, {"id": "b", "status": "INFO"}]})[0], 0)
        skipped = [GOOD, {"id": "b", "status": "SKIPPED"}]
        self.assertEqual(verdict({"r+ping": skipped}, skips={("r", "ping", "b"): "why"})[0], 0)

    def test_red(self):
        cases = {
            "FAILURE b": {"r+ping": [GOOD, {"id": "b", "status": "FAILURE"}]},
            "WARNING b": {"r+ping": [GOOD, {"id": "b", "status": "WARNING"}]},
            "SKIPPED b": {"r+ping": [GOOD, {"id": "b", "status": "SKIPPED"}]},
            "NEW b": {"r+ping": [GOOD, {"id": "b", "status": "NEW"}]},
            "no check succeeded": {"r+ping": []},
            "server-sse-retry-field did not succeed": {"r+server-sse-polling": [GOOD]},
            "unreadable": {"r+ping": "["},
            "not a list of checks": {"r+ping": "{}"},
        }
        for reason, runs in cases.items():
            with self.subTest(reason):
                code, output = verdict(runs)
                self.assertEqual(code, 1)
                self.assertIn(reason, output)

    def test_red_without_the_planned_results(self):
        self.assertEqual(verdict({}, plan=[])[0], 1)
        self.assertEqual(verdict({"r+ping": [GOOD]}, plan=["r+ping", "r+other"])[0], 1)

    def test_red_for_a_stale_or_foreign_skip(self):
        self.assertEqual(verdict({"r+ping": [GOOD]}, skips={("r", "ping", "b"): "why"})[0], 1)
        skipped = [GOOD, {"id": "b", "status": "SKIPPED"}]
        self.assertEqual(verdict({"r+ping": skipped}, skips={("r", "other", "b"): "why"})[0], 1)
        self.assertEqual(verdict({"r+ping": skipped}, skips={("s", "ping", "b"): "why"})[0], 1)

    def test_a_skip_of_one_thing_allows_no_other(self):
        check = {"id": "b", "status": "SKIPPED", "errorMessage": "without one"}
        with mock.patch.object(gate, "SKIPPED_THINGS", {"b": ("one",)}):
            skips = {("r", "ping", "b"): "why"}
            self.assertEqual(verdict({"r+ping": [GOOD, check]}, skips=skips)[0], 0)
            other = check | {"errorMessage": "without two"}
            self.assertEqual(verdict({"r+ping": [GOOD, check, other]}, skips=skips)[0], 1)


class Planned(unittest.TestCase):
    LIST = "Server scenarios:\n  - ping [r3,r4]\n  - caching [r5]\n  - tasks-a [extension]\n  - tasks-status-notifications [extension]\n"
    PLAN = ("r3 ping", "r4 ping", "r5 caching", "r5 tasks-a")

    def found(self, *plan):
        return planned.problems("\n".join(plan) + "\n", self.LIST)

    def test_green(self):
        self.assertEqual(self.found(*self.PLAN), [])
        self.assertEqual(self.found(*self.PLAN, "r4 tasks-a"), [], "an extension at as many revisions as the plan says")

    def test_red_for_what_is_left_out(self):
        self.assertEqual(self.found("r3 ping", "r5 caching", "r5 tasks-a"), ["not planned: r4 ping"])
        self.assertEqual(self.found("r3 ping", "r4 ping", "r5 caching"), ["not planned: tasks-a"])

    def test_red_without_a_revision_of_skills(self):
        suite = self.LIST + "  - sep-2640-a [extension]\n"
        plan = [*self.PLAN, "2026-07-28 sep-2640-a"]
        found = planned.problems("\n".join(plan) + "\n", suite)
        self.assertEqual(found, ["not planned: 2025-11-25 sep-2640-a"])

    def test_red_for_what_is_made_up(self):
        self.assertEqual(self.found(*self.PLAN, "r5 ping"), ["not listed: r5 ping"])
        self.assertEqual(self.found(*self.PLAN, "r5 other"), ["not listed: r5 other"])
        self.assertEqual(self.found(*self.PLAN, "r3 ping"), ["planned twice: r3 ping"])
        never = "tasks-status-notifications"
        self.assertEqual(self.found(*self.PLAN, f"r5 {never}"), [f"planned, but never run: {never}"])

    def test_red_without_a_list(self):
        for text in ("", "an error", "  - ping [r3]"):
            self.assertEqual(planned.problems("r3 ping\n", text), ["the list of the suite could not be read"])


unittest.main()
