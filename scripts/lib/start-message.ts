/** What the first start says: the only time that the key is shown. */
export function greetNewcomer(url: string, key: string): string {
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
  API key  ${key}
           Keep it: it is shown this once.

  Try it:

curl ${url}/v1/projects -H 'x-api-key: ${key}'

  For the tour in the README:

export LONGSHORE_URL=${url}
export LONGSHORE_API_KEY=${key}

  Ctrl-C stops it.
`;
}

/** What every later start says: keys are kept as hashes, so there is none to show. */
export function greetAgain(url: string): string {
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
  API key  the one that the first start showed

  With that key you can make others:

export LONGSHORE_URL=${url}
export LONGSHORE_API_KEY=lsh_...
ORG_ID=$(curl -s "$LONGSHORE_URL/v1/orgs" -H "x-api-key: $LONGSHORE_API_KEY" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl "$LONGSHORE_URL/v1/orgs/$ORG_ID/api-keys" -H "x-api-key: $LONGSHORE_API_KEY" -H 'content-type: application/json' -d '{"name":"another"}'

  If it is lost, stop, delete .wrangler/state, and start anew: all data goes with it.

  Ctrl-C stops it.
`;
}
