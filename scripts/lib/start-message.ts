/** Printed by the first start, the only time that the key is shown. */
export function firstStartMessage(url: string, key: string): string {
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
  API key  ${key}
           Save it now: it is not shown again.

  Try it:

curl ${url}/v1/projects -H 'x-api-key: ${key}'

  For the tour in the README:

export LONGSHORE_URL=${url}
export LONGSHORE_API_KEY=${key}

  Ctrl-C stops it.
`;
}

/** Printed by later starts. Keys are stored as hashes, so they cannot be shown again. */
export function laterStartMessage(url: string): string {
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
  API key  printed by the first start

  To create another key with it:

export LONGSHORE_URL=${url}
export LONGSHORE_API_KEY=lsh_...
ORG_ID=$(curl -s "$LONGSHORE_URL/v1/orgs" -H "x-api-key: $LONGSHORE_API_KEY" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl "$LONGSHORE_URL/v1/orgs/$ORG_ID/api-keys" -H "x-api-key: $LONGSHORE_API_KEY" -H 'content-type: application/json' -d '{"name":"another"}'

  If the key is lost, stop, delete .wrangler/state, and start again. This deletes all data.

  Ctrl-C stops it.
`;
}
