#!/bin/sh
# Deploys a Worker with wrangler: one for each environment, with the environment in its name.
# What it gets and may report: ../../docs/executors.md
set -eu
cd "$(dirname "$0")"

case $LONGSHORE_ENVIRONMENT_NAME in
  *[!a-z0-9-]* | *-) echo "Cloudflare needs a name of the environment with a-z, 0-9 and - only." >&2; exit 1 ;;
esac
worker=longshore-hello-$LONGSHORE_ENVIRONMENT_NAME

status() {
  printf '{"resource":{"template_id":"%s","resource_type":"Worker","status":"%s"}}\n' "$worker" "$1" \
    >> "$LONGSHORE_REPORT_FILE"
}

# It has failed unless it gets to its end.
trap '[ $? -eq 0 ] || status UPDATE_FAILED' EXIT
status UPDATE_IN_PROGRESS

# What wrangler has deployed, as JSON lines, in the folder that the runner removes.
WRANGLER_OUTPUT_FILE_PATH=$(dirname "$LONGSHORE_REPORT_FILE")/wrangler.ndjson
export WRANGLER_OUTPUT_FILE_PATH

# GREETING is a variable of the environment in Longshore.
npx wrangler deploy --name "$worker" \
  --var "ENVIRONMENT:$LONGSHORE_ENVIRONMENT_NAME" --var "GREETING:${GREETING:-Hello}"

node report.mjs "$worker"
