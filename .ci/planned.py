"""Compares the plan of the conformance runs with what the suite itself lists: nothing is left out, and nothing is made up.

usage: planned.py PLAN LIST

PLAN has a line `REVISION SCENARIO` for each run; LIST is what the suite prints for `list --server`. Scenarios of extensions are listed
without a revision: the plan chooses those that it forces them at.
"""

import re
import sys

# The suite skips it whatever the server does.
NEVER_RUN = {"tasks-status-notifications"}


def listed(text):
    """The runs `(revision, scenario)` that a list names, and its scenarios of extensions."""
    runs, extensions = set(), set()
    for scenario, where in re.findall(r"^ *- (\S+) \[([^\]]+)\]$", text, re.MULTILINE):
        if where == "extension":
            extensions.add(scenario)
        else:
            runs |= {(revision, scenario) for revision in where.split(",")}
    return runs, extensions


def problems(plan, suite):
    """What the plan lacks and what it has beyond the list, a line each."""
    planned = [tuple(line.split(" ")) for line in plan.splitlines()]
    runs, extensions = listed(suite)
    if not runs or not extensions:
        return ["the list of the suite could not be read"]
    found = [f"planned twice: {' '.join(run)}" for run in sorted({run for run in planned if planned.count(run) > 1})]
    of_core = {run for run in planned if run[1] not in extensions}
    of_extensions = {scenario for _, scenario in planned if scenario in extensions}
    found += [f"not planned: {' '.join(run)}" for run in sorted(runs - of_core)]
    found += [f"not listed: {' '.join(run)}" for run in sorted(of_core - runs)]
    found += [f"not planned: {scenario}" for scenario in sorted(extensions - NEVER_RUN - of_extensions)]
    found += [
        f"not planned: {revision} {scenario}"
        for scenario in sorted(extensions)
        if scenario.startswith("sep-2640-")
        for revision in ("2025-11-25", "2026-07-28")
        if (revision, scenario) not in planned
    ]
    found += [f"planned, but never run: {scenario}" for scenario in sorted(of_extensions & NEVER_RUN)]
    return found


if __name__ == "__main__":
    texts = [open(path, encoding="utf-8").read() for path in sys.argv[1:3]]
    found = problems(*texts)
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    sys.exit(1 if found else 0)
