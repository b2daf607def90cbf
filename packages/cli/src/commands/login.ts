import type { Command } from "commander";
import { createClient, type Schemas } from "../../../client/src/index.ts";
import { createFetch } from "../../../runner/src/proxies.ts";
import { addExamples } from "../command-options.ts";
import { readKey, readUrl } from "../connection.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import { profilesPath, readProfiles, requireProfileName, writeProfiles } from "../profiles.ts";
import { readSecret } from "../prompts.ts";
import { readInput } from "../read-input.ts";
import { type CliContext, openSession } from "../session.ts";
import { renderFields } from "../table.ts";

interface LoginOptions {
  url?: string;
  profile?: string;
  oidcTokenFile?: string;
  org?: string;
}

const OIDC_HELP = `
A CI job without a stored key exchanges its OpenID Connect token for a key that expires after some
minutes, where a trust accepts it: see docs/ci.md.`;

/** `login`, `logout`, `whoami` and `profiles`. */
export function addLoginCommands(program: Command, context: CliContext): void {
  addExamples(
    program
      .command("login")
      .description("store an API key, which is read from a prompt or from stdin")
      .option("--url <url>", "the address of the API; LONGSHORE_URL by default")
      .option(
        "--oidc-token-file <file>",
        "exchange the OpenID Connect token in this file; - is stdin",
      )
      .option("--org <id>", "the organization whose trust accepts the token")
      .addHelpText("after", OIDC_HELP),
    "login --url https://longshore.example.com",
    "login --url http://localhost:8787 < key.txt",
    'printf %s "$ID_TOKEN" | longshore login --url "$URL" --org "$ORG_ID" --oidc-token-file -',
  ).action((_, command: Command) => login(context, command.optsWithGlobals()));
  program
    .command("logout")
    .description("remove the stored API key; it stays valid until it is revoked")
    .action((_, command: Command) => logout(context, command.optsWithGlobals()));
  program
    .command("whoami")
    .description("print the organization, the role and the limits of the API key")
    .option("--json", "print JSON, for programs")
    .action((_, command: Command) => whoAmI(context, command.optsWithGlobals()));
  addProfiles(program, context);
}

async function login(context: CliContext, options: LoginOptions): Promise<void> {
  const { LONGSHORE_URL } = context.environment;
  const given = options.url ?? LONGSHORE_URL;
  if (!given) throw new CliError("Name the address of the API: longshore login --url URL");
  const url = readUrl(given, options.url === undefined ? "LONGSHORE_URL" : "--url");
  const name = requireProfileName(options.profile ?? nameOf(url));
  await readProfiles(context.environment);
  const apiKey = await readNewKey(context, url, options);
  const identity = await createClient({ url, apiKey, fetch: createFetch(context.environment) }).get(
    "/v1/whoami",
  );
  if (!identity?.organization?.id) {
    throw new CliError(`${url} does not respond as Longshore does. Is the URL right?`);
  }
  // Another login may have written since.
  const { profiles } = await readProfiles(context.environment);
  const added = { ...profiles, [name]: { url, apiKey } };
  await writeProfiles(context.environment, { current: name, profiles: added });
  const { organization, membership } = identity;
  context.output.note(
    `Logged in to ${organization.name} at ${url} as ${membership.role}. The key is in ${profilesPath(context.environment)}`,
  );
}

function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`.replace(/\/$/, "");
}

async function readNewKey(
  context: CliContext,
  url: string,
  { oidcTokenFile, org }: LoginOptions,
): Promise<string> {
  if (oidcTokenFile === undefined) {
    if (org !== undefined) throw new CliError("--org belongs to --oidc-token-file; omit it.");
    return readKey(await readSecret(context, "API key"), "The API key");
  }
  if (org === undefined) throw new CliError("Name the organization of the trust: --org ID");
  const token = (await readInput(context, oidcTokenFile)).trim();
  const body = { org_id: org, token };
  const exchanged = await createClient({ url, fetch: createFetch(context.environment) }).post(
    "/v1/oidc/token",
    { body },
  );
  return exchanged.key;
}

async function logout(context: CliContext, options: { profile?: string }): Promise<void> {
  const stored = await readProfiles(context.environment);
  const name = options.profile ?? stored.current;
  const { [name]: removed, ...profiles } = stored.profiles;
  if (!removed || !Object.hasOwn(stored.profiles, name))
    throw new CliError("You are not logged in. Nothing was changed.");
  const current = stored.current === name ? "" : stored.current;
  await writeProfiles(context.environment, { current, profiles });
  context.output.note(
    `Logged out of ${removed.url}. The key stays valid: longshore keys revoke ends it.`,
  );
}

async function whoAmI(
  context: CliContext,
  options: { profile?: string; json?: boolean },
): Promise<void> {
  const session = await openSession(context, options);
  const identity = await session.whoAmI();
  if (options.json) context.output.json({ url: session.url, ...identity });
  else context.output.print(renderFields(describe(session, identity)));
}

function describe(
  { url, source }: { url: string; source: string },
  { organization, membership, account, credential }: Schemas["WhoAmI"],
): [string, unknown][] {
  return [
    ["url", url],
    ["organization", `${organization.name} (${organization.id})`],
    ["account", `${account.name} (${account.id})`],
    ["role", membership.role],
    ["key", `${credential.name} (${credential.id}), from ${source}`],
    ["scopes", credential.scopes?.join(", ") ?? "all"],
    ["projects", credential.project_ids?.join(", ") ?? "all"],
    ["environments", credential.environment_ids?.join(", ") ?? "all"],
    ["expires", toLocalTime(credential.expires_at) ?? "never"],
  ];
}

function addProfiles(program: Command, context: CliContext): void {
  const profiles = program.command("profiles").description("the stored logins");
  profiles
    .command("ls")
    .description("list them; a star marks the one that commands use")
    .option("--json", "print JSON, for programs")
    .action(async (options: { json?: boolean }) => {
      const { current, profiles: stored } = await readProfiles(context.environment);
      const rows = Object.entries(stored).map(([name, { url }]) => {
        return { name, url, current: name === current };
      });
      context.output.records(
        rows,
        [
          { title: "name", value: (row) => `${row.current ? "* " : "  "}${row.name}` },
          { title: "url", value: (row) => row.url },
        ],
        { ...options, id: (row) => row.name },
      );
    });
  profiles
    .command("use")
    .description("use this one from now on")
    .argument("<name>")
    .action(async (name: string) => {
      const stored = await readProfiles(context.environment);
      if (!Object.hasOwn(stored.profiles, name)) {
        throw new CliError(`There is no profile ${name}. Run: longshore profiles ls`);
      }
      await writeProfiles(context.environment, { ...stored, current: name });
      context.output.note(`Commands use ${name} now.`);
    });
}
