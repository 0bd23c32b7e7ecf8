#!/usr/bin/env python3
"""Checks the result folders of the conformance suite, more strictly than its exit code.

usage: gate.py RESULTS PLAN

RESULTS holds one folder per run, named `<revision>+<scenario>`, each with a
`checks.json` somewhere below. PLAN is a text file with one `<revision>
<scenario>` a line. Red when

- a planned run left no result, or more than one,
- a check says FAILURE or WARNING, or an unknown status,
- a check was SKIPPED that `ALLOWED_SKIPS` does not name for that scenario,
- an allowed skip did not occur (then its line here is stale),
- a run has no check that says SUCCESS, or not each that `MUST_SUCCEED` names for it.
"""

import collections
import json
import pathlib
import sys

# (revision, scenario, check id): why it may be skipped.
ALLOWED_SKIPS = {
    ("2025-11-25", "sep-2640-skills-enumeration", "sep-2640-skills-list-cache-attributes"): "the revision has no caching",
    ("2025-11-25", "sep-2640-skills-enumeration", "sep-2640-skills-get-cache-attributes"): "the revision has no caching",
    ("2026-07-28", "http-standard-headers", "sep-2243-client-includes-standard-headers"): "the revision has no handshake",
}

# For checks that are reported several times: texts, one of which an allowed skip must contain.
SKIPPED_THINGS = {
    "sep-2243-client-includes-standard-headers": ("a initialize request", "a notifications/initialized request"),
}

# Scenarios whose checks can end in INFO without having checked anything.
MUST_SUCCEED = {
    "server-sse-polling": {"server-sse-priming-event", "server-sse-retry-field", "server-sse-disconnect-resume"},
    "server-sse-multiple-streams": {"server-accepts-multiple-post-streams"},
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results = pathlib.Path(sys.argv[1])
    plan = [line.split() for line in pathlib.Path(sys.argv[2]).read_text().splitlines() if line.strip()]
    complaints = []
    unused_skips = {key for key in ALLOWED_SKIPS if list(key[:2]) in plan}
    statuses = collections.Counter()
    for revision, scenario in plan:
        label = f"{revision} {scenario}"
        checks, problem = read_checks(results / f"{revision}+{scenario}")
        if problem:
            complaints.append(f"{label}: {problem}")
            continue
        statuses.update(check["status"] for check in checks)
        unused_skips -= {(revision, scenario, check["id"]) for check in checks if check["status"] == "SKIPPED"}
        complaints += [f"{label}: {text}" for text in judge(revision, scenario, checks)]
    complaints += [f"{' '.join(key)}: allowed to be skipped, but was not; remove it from the list" for key in sorted(unused_skips)]
    if not plan:
        complaints.append("the plan is empty")
    for complaint in complaints:
        print(f"FAIL  {complaint}")
    print(f"conformance: {len(plan)} runs, checks {dict(sorted(statuses.items()))}")
    print(f"conformance: {statuses['SUCCESS']} passed, {len(complaints)} failed")
    sys.exit(1 if complaints else 0)


def read_checks(folder):
    """The checks of one run, or the fault of its result files."""
    files = sorted(folder.rglob("checks.json"))
    if len(files) != 1:
        return None, f"{len(files)} result files where one was expected"
    try:
        checks = json.loads(files[0].read_text())
    except ValueError as error:
        return None, f"unreadable result: {error}"
    if not isinstance(checks, list) or not all({"id", "status"} <= check.keys() for check in checks):
        return None, "the result is not a list of checks"
    return checks, None


def judge(revision, scenario, checks):
    """Every reason why these checks do not pass."""
    for check in checks:
        status = check["status"]
        if status in ("SUCCESS", "INFO"):
            continue
        detail = check.get("errorMessage") or check.get("description") or check.get("name") or ""
        if status == "SKIPPED" and (revision, scenario, check["id"]) in ALLOWED_SKIPS:
            if any(text in detail for text in SKIPPED_THINGS.get(check["id"], ("",))):
                continue
        yield f"{status} {check['id']}: {detail[:300]}"
    succeeded = {check["id"] for check in checks if check["status"] == "SUCCESS"}
    if not succeeded:
        yield "no check succeeded"
    for missing in sorted(MUST_SUCCEED.get(scenario, set()) - succeeded):
        yield f"{missing} did not succeed"


if __name__ == "__main__":
    main()
