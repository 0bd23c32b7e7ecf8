#!/usr/bin/env bash
# Runs the client scenarios of the official conformance suite against CLIENT and judges them strictly.
#
# usage: conformance_client.sh CLIENT CACHE
#
# CACHE receives the suite and the Node it needs (from npm) and the results.
set -euo pipefail

client=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$2"
cache=$(cd "$2" && pwd)

# The revisions at which each scenario exists, by the suite's own `list`, without `auth/*`, which the client does not support.
plan() {
  runs initialize 2025-06-18 2025-11-25
  runs tools_call 2025-06-18 2025-11-25 2026-07-28
  runs elicitation-sep1034-client-defaults 2025-11-25
  runs sse-retry 2025-11-25
  runs request-metadata 2026-07-28
  runs sep-2322-client-request-state 2026-07-28
  runs http-standard-headers 2026-07-28
  runs http-custom-headers 2026-07-28
  runs http-invalid-tool-headers 2026-07-28
  runs json-schema-ref-no-deref 2026-07-28
  runs json-schema-2020-12-preservation 2025-11-25 2026-07-28
  # Scenarios of an extension: the suite runs them only if the revision is forced.
  runs sep-2640-client-no-prefetch 2025-11-25 2026-07-28
  runs sep-2640-client-verify-digest 2025-11-25 2026-07-28
  runs sep-2640-client-verify-size 2025-11-25 2026-07-28
  runs sep-2640-client-verify-frontmatter 2025-11-25 2026-07-28
}

runs() {
  local scenario=$1 revision
  shift
  for revision in "$@"; do
    echo "$revision $scenario"
  done
}

"$here/npm-install" "$here/conformance" "$cache/conformance"
node=$(echo "$cache"/conformance/node_modules/node-linux-*/bin/node)
suite=$cache/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js

results=$cache/conformance-client-results
rm -rf "$results"
mkdir -p "$results"
plan >"$results/plan"

broken=0
while read -r revision scenario; do
  out=$results/$revision+$scenario
  mkdir -p "$out"
  force=
  [[ $scenario != sep-2640-* ]] || force=--force
  # Its exit code counts too: it is not 0 when the client failed, even if all checks passed.
  if ! timeout 90 "$node" "$suite" client --command "$client" --scenario "$scenario" --spec-version "$revision" $force -o "$out" \
    >"$out/log" 2>&1 </dev/null; then
    echo "FAIL  $revision $scenario: the suite, or the client, ended with an error"
    tail -n 15 "$out/log"
    broken=1
  fi
done <"$results/plan"

if ! python3 "$here/gate.py" "$results" "$results/plan" || [ "$broken" -ne 0 ]; then
  echo "full output of each run: the file \`log\` under $results" >&2
  exit 1
fi
