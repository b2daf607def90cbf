import { join } from "node:path";
import { quote } from "../../packages/cli/src/init/deploy-scripts.ts";
import { FIRST_ORGANIZATION } from "../../packages/server/src/first-key.ts";
import { ROOT } from "./wrangler.ts";

/** The command line of this checkout, from any folder. */
const LONGSHORE = `node ${quote(join(ROOT, "packages/cli/dist/longshore.js"))}`;

/** What only the first start has, and one with `--new-key`. */
export interface NewAccess {
  apiKey: string;
  signInLink: string;
}

/** Printed by `npm start`. A key is shown once, because only its hash is stored. */
export function startMessage(url: string, access: NewAccess | undefined): string {
  return `
  Longshore is ready.

  API      ${url}
  Docs     ${url}/docs
${access ? describeAccess(url, access) : later(url)}
  Ctrl-C stops it.
`;
}

function later(url: string): string {
  return `  Console  ${url}/console/
  API key  printed by an earlier start.
           To create another, and a sign-in link: npm start -- --new-key

  Open the console, signed in with the key that you stored:

${LONGSHORE} console --profile ${new URL(url).host}
`;
}

function describeAccess(url: string, { apiKey: key, signInLink }: NewAccess): string {
  return `  API key  ${key}
           Save it now: it is not shown again.
  Console  ${signInLink}
           Signs in. It works once, within 10 minutes.

  Try it:

curl ${url}/v1/projects -H 'x-api-key: ${key}'

  Log in the command line, for the next command of the README and the tour (docs/tour.md):

echo ${key} | ${LONGSHORE} login --url ${url}
`;
}

/** Printed by `wrangler dev` until the first key exists. */
export function firstKeyMessage(bootstrapToken: string): string {
  return `
The local database has no API key yet. Create the first one (use the address that wrangler prints):

curl http://localhost:8787/v1/bootstrap -H 'authorization: Bearer ${bootstrapToken}' -H 'content-type: application/json' -d '${JSON.stringify(FIRST_ORGANIZATION)}'
`;
}
