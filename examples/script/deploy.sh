#!/bin/sh
# Deploys a site on this machine: a web server for each stack, with a port of its own.
# What it gets and may report: ../../docs/executors.md
set -eu
cd "$(dirname "$0")"

report() { printf '%s\n' "$1" >> "$LONGSHORE_REPORT_FILE"; }
server() { report '{"resource":{"template_id":"server","resource_type":"WebServer","status":"'"$1"'"}}'; }

# It has failed unless it gets to its end.
trap '[ $? -eq 0 ] || server UPDATE_FAILED' EXIT
server UPDATE_IN_PROGRESS
url=$(node site.mjs deploy)
server UPDATE_COMPLETE
report '{"output":{"name":"url","value":"'"$url"'"}}'
echo "The site is at $url"
