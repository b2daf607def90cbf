#!/bin/sh
# Deploys one of two stacks: infra is a folder, and web a server that keeps its data there. The configuration passes
# the output of infra to web: deploy.sh FOLDER.
set -eu

report() { printf '%s\n' "$1" >> "$LONGSHORE_REPORT_FILE"; }

case $LONGSHORE_STACK_NAME in
infra)
  folder=${TMPDIR:-/tmp}/longshore-$LONGSHORE_STACK_ID
  mkdir -p "$folder"
  report '{"output":{"name":"folder","value":"'"$folder"'"}}'
  ;;
web)
  # The checkout is gone once the deployment has ended.
  cp server.mjs "$1/server.mjs"
  url=$(node "$1/server.mjs" start "$1" "$LONGSHORE_DEPLOYMENT")
  report '{"output":{"name":"url","value":"'"$url"'"}}'
  ;;
esac
