#!/usr/bin/env bash
# Puts the JSON-Schema-Test-Suite into FOLDER/suite, unless it is there already.
#
# usage: suite.sh FOLDER
#
# The source package of the Python library `jsonschema` (MIT) has the suite (MIT).
set -euo pipefail

version=4.26.0
hash=sha256:0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326

mkdir -p "$1"
folder=$(cd "$1" && pwd)
wanted="jsonschema==$version --hash=$hash"
if [ -d "$folder/suite" ] && [ "$(cat "$folder/requirements.txt")" = "$wanted" ]; then
  exit 0
fi
rm -rf "$folder/suite" "$folder/python"
echo "$wanted" >"$folder/requirements.txt"
python3 -m venv "$folder/python"
"$folder/python/bin/python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
  --no-binary jsonschema --dest "$folder" -r "$folder/requirements.txt"
tar -xzf "$folder/jsonschema-$version.tar.gz" -C "$folder" "jsonschema-$version/json"
mv "$folder/jsonschema-$version/json" "$folder/suite"
rmdir "$folder/jsonschema-$version"
