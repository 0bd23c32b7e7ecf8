"""Runs a test binary and ends it when one of its tests hangs: with the test's name, and a failure.

The harness says of a test that it "has been running for over 60 seconds"; from then on it has as long as the limit leaves it.
A binary without a harness prints the name of each test when it begins; it hangs when it prints nothing for as long.

    limit_tests.py BINARY [ARGUMENT...]

  TRUEFORM_TEST_LIMIT   seconds that a test may take; default: 300, at least 60
"""

import os
import re
import selectors
import subprocess
import sys
import time

# What the harness waits before it says that a test is slow.
NOTICE = 60
SLOW = re.compile(r"^test (\S+)(?: - should panic)? has been running for over \d+ seconds$")
DONE = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (?:ok|FAILED|ignored)")
# How often the time is checked while nothing is printed.
TICK = 1.0


class Watch:
    """Which tests are known to run, and since when."""

    def __init__(self, limit, now):
        self.limit = limit
        self.slow = {}
        self.last = ""
        self.spoke = now

    def line(self, text, now):
        self.spoke = now
        if text.strip():
            self.last = text.strip()
        if found := SLOW.match(text):
            self.slow[found[1]] = now - NOTICE
        elif found := DONE.match(text):
            self.slow.pop(found[1], None)

    def hung(self, now):
        """Why the binary is ended, or None."""
        late = [name for name, since in self.slow.items() if now - since >= self.limit]
        if late:
            return f"test {', test '.join(sorted(late))}: no end within {self.limit} s"
        # A harness with several threads prints a test when it ends, so the last printed test is not the one that hangs.
        if not self.slow and now - self.spoke >= self.limit:
            return f"nothing was printed for {self.limit} s; the last line was: {self.last}"
        return None


def main(command):
    limit = max(NOTICE, int(os.environ.get("TRUEFORM_TEST_LIMIT", "300")))
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    watch = Watch(limit, time.monotonic())
    selector = selectors.DefaultSelector()
    selector.register(child.stdout, selectors.EVENT_READ)
    rest = b""
    while True:
        if selector.select(TICK):
            piece = os.read(child.stdout.fileno(), 1 << 16)
            if not piece:
                break
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                watch.line(line.decode(errors="replace"), time.monotonic())
            if rest:
                watch.last = rest.decode(errors="replace").strip()
        if reason := watch.hung(time.monotonic()):
            child.kill()
            child.wait()
            print(f"\nHUNG {reason}", flush=True)
            return 101
    status = child.wait()
    # The exit code that a shell reports for a signal.
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
