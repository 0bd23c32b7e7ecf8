#!/usr/bin/env bash
# Drives a server with the official TypeScript and Python clients, over stdio and HTTP, at every revision each can speak.
#
# usage: interop.sh SERVER URL CACHE
#
# SERVER is an executable that speaks stdio without arguments; URL is the same server over HTTP.
# CACHE receives the clients (from npm and PyPI).
set -euo pipefail

server=$1 url=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$3"
cache=$(cd "$3" && pwd)

legacy="2024-11-05 2025-03-26 2025-06-18 2025-11-25"
modern="2026-07-28"

"$here/npm-install" "$here/interop" "$cache/interop"
cp "$here"/interop/*.mjs "$cache/interop/"

python=$cache/python/bin/python
if ! cmp -s "$here/interop/requirements.txt" "$cache/python/installed-requirements.txt"; then
  rm -rf "$cache/python"
  python3 -m venv "$cache/python"
  "$python" -m pip install --quiet --disable-pip-version-check --no-input -r "$here/interop/requirements.txt"
  cp "$here/interop/requirements.txt" "$cache/python/installed-requirements.txt"
fi

failed=0
# Each client prints one line a check and closes with its own `N passed, N failed`; its exit code counts.
drive() {
  timeout --kill-after=10 300 "$@" </dev/null || failed=$((failed + 1))
}

for transport in stdio http; do
  target=$server
  [ "$transport" = stdio ] || target=$url
  drive node "$cache/interop/ts1.mjs" "$transport" "$target" $legacy
  drive node "$cache/interop/ts2.mjs" "$transport" "$target" $legacy $modern
  drive "$python" "$here/interop/python_client.py" "$transport" "$target" $legacy $modern
done

if [ "$failed" -ne 0 ]; then
  echo "$failed of 6 client runs failed" >&2
  exit 1
fi
