import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addBoundaryOptions, type BoundaryOptions, readBoundaries } from "../boundaries.ts";
import { addExamples, addRecordOptions, collect } from "../command-options.ts";
import { parseDuration } from "../deployments/duration.ts";
import { CliError } from "../errors.ts";
import { KINDS } from "../named-kinds.ts";
import type { RecordOptions } from "../output.ts";
import { addList, addRemove, addShow, find, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { organizationPath } from "../target.ts";
import { MEMBERS } from "./members.ts";
import { POOLS } from "./pools.ts";

type Trust = Schemas["Trust"];

interface CreateOptions extends BoundaryOptions, RecordOptions {
  issuer: string;
  audience: string;
  condition: string[];
  member?: string;
  pool?: string;
  /** In milliseconds. */
  ttl?: number;
  profile?: string;
}

const TRUSTS: Resource<Trust> = {
  kind: KINDS.trust,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "issuer", value: ({ issuer }) => issuer },
    { title: "conditions", value: ({ conditions }) => describeConditions(conditions) },
    { title: "for", value: (trust) => trust.membership_id ?? trust.pool_id },
    { title: "seconds", value: (trust) => trust.ttl_seconds },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: organizationPath,
};

const HELP = `
A condition that is repeated for a claim names values of which the token must have one. In a value, * stands for
any number of characters except /. Without --member and --pool, there is nobody that the keys could act for: name one.
See docs/ci.md.`;

/** As `--condition` takes them. */
function describeConditions(conditions: Trust["conditions"]): string {
  return Object.entries(conditions)
    .flatMap(([claim, values]) => [values].flat().map((value) => `${claim}=${value}`))
    .join(", ");
}

/** `longshore trusts`: which CI jobs get a key without a stored one. */
export function addTrustCommands(program: Command, context: CliContext): void {
  const group = program
    .command("trusts")
    .description("which OpenID Connect tokens can be exchanged for keys, such as those of CI jobs");
  addList(group, context, TRUSTS);
  addShow(group, context, TRUSTS);
  const create = addRecordOptions(group.command("create"))
    .description("trust the tokens of an issuer")
    .argument("<name>")
    .requiredOption("--issuer <url>", "as in the iss of the tokens")
    .requiredOption("--audience <text>", "the aud of the tokens")
    .requiredOption("--condition <claim=value>", "what a token must have; may be repeated", collect)
    .option("--member <name>", "the member that the keys act for, such as a service account")
    .option("--pool <name>", "the pool that the tokens of runners are for, instead of a member")
    .option("--ttl <duration>", "for how long each is valid; 15m by default", parseDuration)
    .addHelpText("after", HELP);
  addExamples(
    addBoundaryOptions(create),
    "trusts create main --issuer https://token.actions.githubusercontent.com --audience longshore --condition repository_id=1296269 --condition ref=refs/heads/main --member ci",
  ).action((name: string, _, self: Command) => createTrust(context, name, self.optsWithGlobals()));
  addRemove(group, context, TRUSTS, "");
}

async function createTrust(
  context: CliContext,
  name: string,
  options: CreateOptions,
): Promise<void> {
  const { issuer, audience, ttl } = options;
  const conditions = readConditions(options.condition);
  const session = await openSession(context, options);
  const body = {
    name,
    issuer,
    audience,
    conditions,
    ...(await readHolder(context, session, options)),
    ...(await readBoundaries(context, session, options)),
    ...(ttl !== undefined && { ttl_seconds: Math.ceil(ttl / 1_000) }),
  };
  const path = { org_id: await session.organizationId() };
  const trust = await session.client.post(KINDS.trust.listPath, { path, body });
  printRecord(context, TRUSTS, trust, options);
}

async function readHolder(context: CliContext, session: Session, { member, pool }: CreateOptions) {
  if ((member === undefined) === (pool === undefined)) {
    throw new CliError("Name either --member, or --pool.");
  }
  if (member !== undefined) {
    const { record } = await find(context, session, MEMBERS, {}, member);
    return { membership_id: record.membership_id };
  }
  const { record } = await find(context, session, POOLS, {}, String(pool));
  return { pool_id: String(record["id"]) };
}

function readConditions(texts: readonly string[]): Trust["conditions"] {
  const values = new Map<string, string[]>();
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at < 1) throw new CliError(`Write --condition as claim=value; "${text}" is not.`);
    const claim = text.slice(0, at);
    values.set(claim, [...(values.get(claim) ?? []), text.slice(at + 1)]);
  }
  const entries = [...values].map(([claim, [first = "", ...others]]) => {
    return [claim, others.length > 0 ? [first, ...others] : first] as const;
  });
  return Object.fromEntries(entries);
}
