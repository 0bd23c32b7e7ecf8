#!/usr/bin/env bash
# Drives a server with public clients, over stdio and HTTP, at every revision each can speak.
#
# usage: interop.sh SERVER URL CACHE EXPLORER
#
# SERVER is an executable that speaks stdio without arguments; URL is the same server over HTTP.
# CACHE receives the clients (from npm and PyPI). EXPLORER is the executable of the example `sqlite_explorer`.
set -euo pipefail

server=$1 url=$2 explorer=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$3"
cache=$(cd "$3" && pwd)

legacy="2024-11-05 2025-03-26 2025-06-18 2025-11-25"
modern="2026-07-28"

runs=0
broken=()

# client RUNTIME MODULE TRANSPORT TARGET REVISION...: one run. It prints one line a check and closes with its own
# `N passed, N failed`; its exit code counts. A client that could not be installed fails here too.
client() {
  local runtime=$1 name
  shift
  name=$(basename "${1%.*}")-$2
  runs=$((runs + 1))
  if [ ! -x "$runtime" ]; then
    echo "FAIL  $name: not installed"
    broken+=("$name (not installed)")
  elif ! timeout --kill-after=10 240 "$runtime" "$@" </dev/null; then
    broken+=("$name")
  fi
}

# drive RUNTIME MODULE REVISION...: over both transports.
drive() {
  local runtime=$1 module=$2
  shift 2
  client "$runtime" "$module" stdio "$server" "$@"
  client "$runtime" "$module" http "$url" "$@"
}

# Installs the packages of `requirements-NAME.txt`. Without them the clients that need them fail.
environment() {
  "$here/pip-install" "$here/interop/requirements-$1.txt" "$cache/python-$1" || rm -rf "$cache/python-$1"
}

# The same server with lists of more than one page; over stdio the clients start it themselves.
paged_log=$cache/paged.log
"$server" --page-size 7 --http 127.0.0.1:0 </dev/null >"$paged_log" 2>&1 &
paged=$!
trap 'kill "$paged"' EXIT
for _ in $(seq 100); do
  PAGED_URL=$(sed -n 's/.*listening on \(http:[^ ]*\).*/\1/p' "$paged_log" | head -n 1)
  [ -z "$PAGED_URL" ] || break
  sleep 0.1
done
[ -n "$PAGED_URL" ] || { echo "the server with pages did not say where it listens:" && cat "$paged_log" && exit 1; }
export PAGED_URL

node=$(command -v node)
newer_node=""
if "$here/npm-install" "$here/interop" "$cache/interop"; then
  cp "$here"/interop/*.mjs "$here/interop/tools.json" "$cache/interop/"
  newer_node=$(echo "$cache"/interop/node_modules/node-linux-*/bin/node)
else
  node=""
fi
drive "$node" "$cache/interop/ts1.mjs" $legacy
drive "$node" "$cache/interop/ts2.mjs" $legacy $modern
drive "$node" "$cache/interop/ai1.mjs" $legacy
drive "$node" "$cache/interop/ai1_old.mjs" $legacy
drive "$newer_node" "$cache/interop/ai2.mjs" $legacy $modern
drive "$node" "$cache/interop/langchain_js.mjs" $legacy
# An example that is a server of its own, built beside SERVER.
for transport in stdio http; do
  client "$node" "$cache/interop/code_search.mjs" "$transport" "$(dirname "$server")/code_search" 2025-11-25 $modern
done

# No byte code beside the sources.
export PYTHONDONTWRITEBYTECODE=1
environment sdk1
environment sdk2
environment tasks
sdk1=$cache/python-sdk1/bin/python sdk2=$cache/python-sdk2/bin/python
drive "$sdk1" "$here/interop/py1.py" $legacy
drive "$sdk2" "$here/interop/py2.py" $legacy $modern
drive "$sdk2" "$here/interop/fastmcp4.py" $legacy $modern
drive "$cache/python-tasks/bin/python" "$here/interop/fastmcp_tasks_py.py" $modern
drive "$sdk1" "$here/interop/langchain_py.py" $legacy
drive "$sdk1" "$here/interop/smolagents_py.py" $legacy
# An example that is a server of its own.
for transport in stdio http; do
  client "$sdk2" "$here/interop/sqlite_explorer.py" "$transport" "$explorer" 2025-11-25 $modern
  client "$sdk2" "$here/interop/sqlite_explorer.py" "$transport" "$explorer" --write 2025-11-25 $modern
done

if [ "${#broken[@]}" -ne 0 ]; then
  echo "${#broken[@]} of $runs client runs failed: ${broken[*]}" >&2
  exit 1
fi
