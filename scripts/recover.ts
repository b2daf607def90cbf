/**
 * `npm run recover`: creates a key for an owner who has none, or admits credentials that the Worker
 * refuses since the database was restored. Needs no key, but access to the database. Checks the arguments
 * before it loads the tables.
 */
import { systemClock } from "../src/lib/clock.ts";
import { CommandError, isProgram, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import type { Credential, CredentialScope } from "./lib/recovery.ts";

const USAGE = `Usage: npm run recover -- --org ID [--membership ID] [--remote]
       npm run recover -- --admit (KEY_ID… | --org ID | --all) [--yes] [--remote]`;
const OPTIONS = {
  org: { type: "string" },
  membership: { type: "string" },
  admit: { type: "boolean", default: false },
  all: { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
  remote: { type: "boolean", default: false },
} as const;

type Options = ReturnType<typeof readOptions>;
/** Returns the exit code. */
type Step = (d1: D1Database) => Promise<number>;

if (isProgram(import.meta)) await runCommand(() => recover(process.argv.slice(2)));

export async function recover(args: string[], open = openDatabase): Promise<number> {
  const options = readOptions(args);
  const run = options.admit ? prepareAdmission(options) : prepareKey(options);
  const { d1, close } = await open(options);
  try {
    return await run(d1);
  } finally {
    await close();
  }
}

function readOptions(args: string[]) {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE, args);
  return { ...values, ids: positionals };
}

function prepareKey({ org, membership, ids, all, yes }: Options): Step {
  if (!org || ids.length > 0 || all || yes) throw new CommandError(USAGE, 2);
  const organizationId = readId(org);
  const membershipId = membership === undefined ? undefined : readId(membership);
  return async (d1) => {
    const { createOwnerKey } = await import("../packages/server/src/owner-key.ts");
    const owner = { organizationId, membershipId, name: "npm run recover" };
    const created = await createOwnerKey(d1, systemClock, owner);
    if (!created) {
      throw new CommandError(
        membership
          ? `The membership ${membership} is not an owner of the organization ${org}.`
          : `There is no organization ${org}, or it has no owner.`,
      );
    }
    console.log(`Owner    ${created.membershipId}
API key  ${created.key}
         Save it now: it is not shown again. Revoke it when the owner has another.`);
    return 0;
  };
}

function prepareAdmission(options: Options): Step {
  const scope = scopeOf(options);
  return (d1) => admit(d1, scope, options.yes);
}

function scopeOf({ ids, org, all, membership }: Options): CredentialScope {
  const scopes = [ids.length > 0, org !== undefined, all].filter(Boolean);
  if (scopes.length !== 1 || membership !== undefined) throw new CommandError(USAGE, 2);
  if (all) return { everything: true };
  return org === undefined ? { ids: ids.map(readId) } : { organizationId: readId(org) };
}

async function admit(d1: D1Database, scope: CredentialScope, isConfirmed: boolean) {
  const { admitCredentials, listCredentials } = await import("./lib/recovery.ts");
  const credentials = await listCredentials(d1, scope);
  for (const credential of credentials) console.log(describe(credential));
  if ("ids" in scope) requireAll(scope.ids, credentials);
  if (!isConfirmed) {
    console.log(
      `Nothing was changed. Add --yes to admit these ${credentials.length} credentials, including ` +
        "any that were revoked after the time of the restore.",
    );
    return 0;
  }
  await admitCredentials(d1, systemClock, credentials);
  console.log(`${credentials.length} credentials were admitted.`);
  return 0;
}

function requireAll(ids: readonly string[], found: readonly Credential[]): void {
  const missing = ids.filter((id) => !found.some((credential) => credential.id === id));
  if (missing.length === 0) return;
  throw new CommandError(`These are no credentials, so nothing was changed: ${missing.join(", ")}`);
}

/** The texts of callers are quoted, so that they cannot control the terminal. */
function describe({ kind, id, organizationId, name, role, lastFour }: Credential): string {
  const parts = [id, kind, role, JSON.stringify(name), `…${lastFour}`, `of ${organizationId}`];
  return parts.filter(Boolean).join("  ");
}
