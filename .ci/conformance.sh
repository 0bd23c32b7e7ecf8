#!/usr/bin/env bash
# Runs the official conformance suite against a server at URL and judges it strictly.
#
# usage: conformance.sh URL CACHE
#
# CACHE receives the suite and the Node it needs (from npm) and the results.
set -euo pipefail

url=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$2"
cache=$(cd "$2" && pwd)

# The revisions at which each scenario exists. This list is compared with the suite's own `list`.
plan() {
  local legacy3="2025-06-18 2025-11-25" all3="2025-06-18 2025-11-25 2026-07-28"
  runs server-session-lifecycle 2025-03-26 $legacy3
  runs server-initialize $legacy3
  runs ping $legacy3
  runs logging-set-level $legacy3
  runs tools-list $all3
  runs tools-call-simple-text $all3
  runs tools-call-image $all3
  runs tools-call-audio $all3
  runs tools-call-embedded-resource $all3
  runs tools-call-mixed-content $all3
  runs tools-call-with-logging $legacy3
  runs tools-call-error $all3
  runs tools-call-with-progress $all3
  runs tools-call-sampling $legacy3
  runs tools-call-elicitation $legacy3
  runs elicitation-sep1034-defaults 2025-11-25
  runs elicitation-sep1330-enums 2025-11-25
  runs prompts-list $all3
  runs prompts-get-simple $all3
  runs prompts-get-with-args $all3
  runs prompts-get-embedded-resource $all3
  runs prompts-get-with-image $all3
  runs completion-complete $all3
  runs resources-list $all3
  runs resources-read-text $all3
  runs resources-read-binary $all3
  runs resources-templates-read $all3
  runs resources-subscribe $legacy3
  runs resources-unsubscribe $legacy3
  runs sep-2164-resource-not-found 2026-07-28
  runs caching 2026-07-28
  runs input-required-result-basic-elicitation 2026-07-28
  runs input-required-result-basic-sampling 2026-07-28
  runs input-required-result-basic-list-roots 2026-07-28
  runs input-required-result-request-state 2026-07-28
  runs input-required-result-multiple-input-requests 2026-07-28
  runs input-required-result-multi-round 2026-07-28
  runs input-required-result-missing-input-response 2026-07-28
  runs input-required-result-non-tool-request 2026-07-28
  runs input-required-result-result-type 2026-07-28
  runs input-required-result-unsupported-methods 2026-07-28
  runs input-required-result-tampered-state 2026-07-28
  runs input-required-result-capability-check 2026-07-28
  runs input-required-result-ignore-extra-params 2026-07-28
  runs input-required-result-validate-input 2026-07-28
  runs json-schema-2020-12 2025-11-25 2026-07-28
  runs server-sse-polling 2025-11-25
  runs server-sse-multiple-streams 2025-11-25 2026-07-28
  runs dns-rebinding-protection 2025-11-25 2026-07-28
  runs server-stateless 2026-07-28
  runs http-header-validation 2026-07-28
  runs http-custom-header-server-validation 2026-07-28
  # Scenarios of extensions: the suite runs them only if the revision is forced.
  # Without `tasks-status-notifications`, which the suite skips whatever the server does.
  runs tasks-lifecycle 2026-07-28
  runs tasks-capability-negotiation 2026-07-28
  runs tasks-wire-fields 2026-07-28
  runs tasks-request-state-removal 2026-07-28
  runs tasks-mrtr-input 2026-07-28
  runs tasks-request-headers 2026-07-28
  runs tasks-dispatch-and-envelope 2026-07-28
  runs tasks-required-task-error 2026-07-28
  runs tasks-mrtr-composition 2026-07-28
  runs sep-2640-skills-enumeration 2025-11-25 2026-07-28
  runs sep-2640-skills-manifest 2025-11-25 2026-07-28
  runs sep-2640-skills-directory 2025-11-25 2026-07-28
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

results=$cache/conformance-results
rm -rf "$results"
mkdir -p "$results"
plan >"$results/plan"
timeout 60 "$node" "$suite" list --server >"$results/list" </dev/null
python3 "$here/planned.py" "$results/plan" "$results/list"

while read -r revision scenario; do
  out=$results/$revision+$scenario
  mkdir -p "$out"
  force=
  [[ $scenario != sep-2640-* && $scenario != tasks-* ]] || force=--force
  # Its exit code is ignored: the gate reads the checks themselves.
  timeout 90 "$node" "$suite" server --url "$url" --scenario "$scenario" --spec-version "$revision" $force -o "$out" \
    >"$out/log" 2>&1 </dev/null || true
done <"$results/plan"

if ! python3 "$here/gate.py" "$results" "$results/plan"; then
  echo "full output of each run: the file \`log\` under $results" >&2
  exit 1
fi
