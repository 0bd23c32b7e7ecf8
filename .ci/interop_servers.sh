#!/usr/bin/env bash
# Drives servers of other libraries with this project's client, over stdio and HTTP, in each era that they speak; then some of them
# with the example `agent`.
#
# usage: interop_servers.sh CLIENT AGENT RMCP CACHE
#
# CLIENT and AGENT are the executables of the examples `interop_client` and `agent`, RMCP is that of `interop/rmcp`. CACHE receives the
# servers (from npm and PyPI) and the output of each run.
set -euo pipefail

client=$1 agent=$2 rmcp=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$4"
cache=$(cd "$4" && pwd)

"$here/npm-install" "$here/interop" "$cache/interop"
for name in sdk1 sdk2; do
  "$here/pip-install" "$here/interop/requirements-$name.txt" "$cache/python-$name"
done
# Beside the packages, where Node looks for them.
mkdir -p "$cache/interop/servers"
cp "$here"/interop/servers/*.mjs "$cache/interop/servers/"
# No byte code beside the sources.
export PYTHONDONTWRITEBYTECODE=1
node=$(command -v node)
modules=$cache/interop/node_modules/.bin servers=$cache/interop/servers
sdk1=$cache/python-sdk1/bin/python sdk2=$cache/python-sdk2/bin/python

results=$cache/interop-servers
rm -rf "$results"
mkdir -p "$results"

# The command that starts each server. `{dir}` is a folder that the client makes.
plan() {
  echo "ts1 $node $servers/ts1.mjs"
  echo "ts2 $node $servers/ts2.mjs"
  echo "py1 $sdk1 $here/interop/servers/py1.py"
  echo "py2 $sdk2 $here/interop/servers/py2.py"
  echo "fastmcp4 $sdk2 $here/interop/servers/fastmcp4.py"
  echo "everything $node $modules/mcp-server-everything"
  echo "filesystem $node $modules/mcp-server-filesystem {dir}"
  echo "rmcp $rmcp"
}

# One run over each transport that the server has; the longest take most of their time to start Python.
runs() {
  local name command transport
  plan | while read -r name command; do
    for transport in stdio http; do
      # It has no HTTP.
      [ "$name $transport" != "filesystem http" ] || continue
      echo "$name $transport $command"
    done
  done
}

# Four at once, because they mostly wait. Each ends with its own `N passed, N failed`.
one() {
  local out=$1 client=$2
  shift 2
  local code=0
  timeout --kill-after=10 240 "$client" "$@" >"$out/$1-$2.log" 2>&1 </dev/null || code=$?
  echo "$code" >"$out/$1-$2.exit"
}
export -f one
runs >"$results/plan"
xargs -P 4 -L 1 bash -c 'one "$@"' one "$results" "$client" <"$results/plan"

broken=()
while read -r name transport _; do
  # The standard error of the servers is useful only if a check fails.
  grep -E '^(ok|FAIL|-) |passed, ' "$results/$name-$transport.log" || true
  if [ "$(cat "$results/$name-$transport.exit" 2>/dev/null)" != 0 ]; then
    tail -n 40 "$results/$name-$transport.log" | cut -c 1-400
    broken+=("$name-$transport")
  fi
done <"$results/plan"

# agent NAME LINES EXPECTED WORD...: the agent makes the calls LINES and must print EXPECTED.
agent() {
  local name=$1 lines=$2 expected=$3 found
  shift 3
  found=$(timeout --kill-after=10 60 "$agent" "$@" <<<"$lines" 2>"$results/agent-$name.log") || true
  if grep -qF -- "$expected" <<<"$found"; then
    echo "ok    agent $name"
  else
    printf 'FAIL  agent %s: `%s` expected, found:\n%s\n' "$name" "$expected" "$found"
    tail -n 20 "$results/agent-$name.log"
    broken+=("agent-$name")
  fi
}
agent everything-stdio 'get-sum {"a":2,"b":3}' 'is 5' "$node" "$modules/mcp-server-everything"
agent filesystem-stdio "list_directory {\"path\":\"$servers\"}" 'ts1.mjs' "$node" "$modules/mcp-server-filesystem" "$servers"

# By URL, with a server that is killed between two calls and started again. It does not know the session and answers 400. The agent makes
# its next call in a new session.
port=$("$node" -e 's = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
serve() {
  PORT=$port "$node" "$modules/mcp-server-everything" streamableHttp >>"$results/agent-http-server.log" 2>&1 &
  served=$!
  local tries
  for tries in $(seq 200); do
    ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
    sleep 0.1
  done
  echo "the server does not listen on port $port"
  return 1
}
# asked LINE EXPECTED: sends the agent a line, and reads what it prints up to EXPECTED.
asked() {
  local line
  echo "$1" >&"${talk[1]}"
  while read -r -t 30 line <&"${talk[0]}"; do
    echo "$line" >>"$results/agent-http.log"
    [[ $line != *"$2"* ]] || return 0
  done
  echo "FAIL  agent everything-http: \`$2\` expected, found:"
  tail -n 20 "$results/agent-http.log" "$results/agent-http.err"
  return 1
}
survives() {
  serve
  coproc talk { exec timeout --kill-after=10 120 "$agent" "http://127.0.0.1:$port/mcp" 2>"$results/agent-http.err"; }
  asked 'get-sum {"a":2,"b":3}' 'is 5' || return
  kill -KILL "$served"
  wait "$served" 2>/dev/null || true
  serve
  asked 'get-sum {"a":20,"b":3}' 'is 23' || return
  echo "ok    agent everything-http"
}
trap 'kill -KILL "$served" "${talk_PID:-}" 2>/dev/null || true' EXIT
survives || broken+=(agent-everything-http)

if [ "${#broken[@]}" -ne 0 ]; then
  echo "failed: ${broken[*]}; the output of each run is in $results" >&2
  exit 1
fi
