import { FIRST_ORGANIZATION } from "./local-api.ts";

/** Printed by `npm start`. A key is shown once, because only its hash is stored. */
export function startMessage(url: string, key: string | undefined): string {
  const apiKey = key ? `${key}\n           Save it now: it is not shown again.` : LATER;
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
  API key  ${apiKey}
${key ? tryIt(url, key) : ""}
  Ctrl-C stops it.
`;
}

const LATER = `printed by an earlier start.
           To create another: npm start -- --new-key`;

function tryIt(url: string, key: string): string {
  return `
  Try it:

curl ${url}/v1/projects -H 'x-api-key: ${key}'

  Log in the command line, which the tour (docs/tour.md) uses:

echo ${key} | npx longshore login --url ${url}
`;
}

/** Printed by `wrangler dev` until the first key exists. */
export function firstKeyMessage(bootstrapToken: string): string {
  return `
The local database has no API key yet. Create the first one (use the address that wrangler prints):

curl http://localhost:8787/v1/bootstrap -H 'authorization: Bearer ${bootstrapToken}' -H 'content-type: application/json' -d '${JSON.stringify(FIRST_ORGANIZATION)}'
`;
}
