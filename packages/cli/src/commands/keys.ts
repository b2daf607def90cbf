import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addBoundaryOptions, type BoundaryOptions, readBoundaries } from "../boundaries.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import {
  addDescendantsOption,
  type FamilyRoot,
  printFamily,
  type RevokeOptions,
  revokeWithFamily,
} from "../families.ts";
import { describeOwner } from "../key-owner.ts";
import { readTime, toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import { parseWholeNumber } from "../numbers.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption, addShow, find, printList, type Resource } from "../resource.ts";
import { createSecret } from "../secret-file.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { organizationPath } from "../target.ts";
import { MEMBERS } from "./members.ts";

type ApiKey = Schemas["ApiKey"];

const KEYS: Resource<ApiKey> = {
  kind: KINDS.key,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "owner", value: (key) => (key.owner ? describeOwner(key.owner) : key.membership_id) },
    { title: "role", value: ({ role }) => role },
    { title: "ends in", value: (key) => key.last_four },
    { title: "expires", value: (key) => toLocalTime(key.expires_at) ?? "never" },
    { title: "last used", value: (key) => toLocalTime(key.last_used_at) },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: organizationPath,
};

interface ListOptions extends RecordOptions {
  status?: Schemas["ApiKeyStatus"];
  limit?: number;
  profile?: string;
}

interface CreateOptions extends RecordOptions, BoundaryOptions {
  member?: string;
  role?: Schemas["OrgRole"];
  expires?: string;
  output?: string;
  profile?: string;
}

export function addKeyCommands(program: Command, context: CliContext): void {
  const group = program.command("keys").description("API keys of the organization");
  addLimitOption(addRecordOptions(group.command("ls")))
    .description("list the API keys, newest first")
    .addOption(new Option("--status <status>").choices(["active", "revoked"]))
    .action((_, self: Command) => list(context, self.optsWithGlobals()));
  addShow(group, context, KEYS);
  addExamples(
    addBoundaryOptions(addRecordOptions(group.command("create")))
      .description("create an API key, which is shown only once")
      .argument("<name>")
      .option("--member <name>", "the member that it acts for, by name or ID; you by default")
      .addOption(new Option("--role <role>").choices(["member", "admin", "owner"]))
      .option("--expires <time>", "such as 2027-01-31 or '2027-01-31 09:30'", readTime)
      .option("--output <file>", "write the key to this file, with the mode 0600"),
    "keys create laptop --output key.txt",
    "keys create ci --scope deployments:write --project storefront",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addDescendantsOption(addConsentOption(group.command("revoke").alias("rm")))
    .description("revoke an API key, at once and for good")
    .argument("<name>", "name or ID")
    .action((name: string, _, self: Command) => revoke(context, name, self.optsWithGlobals()));
  addLimitOption(addRecordOptions(group.command("family")))
    .description("list what was made with an API key, also with a revoked one")
    .argument("<name>", "name or ID; of a revoked key, its ID")
    .action((name: string, _, self: Command) => family(context, name, self.optsWithGlobals()));
  addKeyRotation(group, context);
}

const EARLIER_ROTATION = "If it was rotated before, the other keys of that rotation end at once.";

function addKeyRotation(group: Command, context: CliContext): void {
  addConsentOption(addRecordOptions(group.command("rotate")))
    .description("replace an API key by a new one; the old one ends at once, or after --overlap")
    .argument("<name>", "name or ID")
    .option("--overlap <seconds>", "how long the old one stays valid", parseWholeNumber)
    .option("--output <file>", "write the key to this file, with the mode 0600")
    .action(async (name: string, _, self: Command) => {
      const options = self.optsWithGlobals<CreateOptions & { overlap?: number; yes?: boolean }>();
      const session = await openSession(context, options);
      const { record, path } = await find(context, session, KEYS, options, name);
      const end = options.overlap ? `after ${options.overlap} s` : "at once";
      const question = `Replace the API key ${record.name}? It ends ${end}. ${EARLIER_ROTATION}`;
      await requireConsent(context, question, options);
      const overlap = options.overlap !== undefined && { overlap_seconds: options.overlap };
      await createSecret(context, options, "key", () =>
        session.client.post("/v1/orgs/{org_id}/api-keys/{key_id}/rotate", {
          path: path as { org_id: string; key_id: string },
          body: { ...overlap },
        }),
      );
    });
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const session = await openSession(context, options);
  const path = await organizationPath(context, session);
  const query = options.status === undefined ? {} : { status: options.status };
  await printList(context, session, { listPath: KEYS.kind.listPath, path, query, options }, KEYS);
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { role, expires, member } = options;
  const owner =
    member === undefined ? undefined : await find(context, session, MEMBERS, {}, member);
  const body = {
    name,
    ...(role !== undefined && { role }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(owner && { membership_id: owner.record.membership_id }),
    ...(await readBoundaries(context, session, options)),
  };
  const path = { org_id: await session.organizationId() };
  await createSecret(context, options, "key", () =>
    session.client.post("/v1/orgs/{org_id}/api-keys", { path, body }),
  );
}

async function revoke(context: CliContext, name: string, options: RevokeOptions): Promise<void> {
  const session = await openSession(context, options);
  const root = await findRoot(context, session, options, name);
  await revokeWithFamily(context, session, root, options);
}

async function family(
  context: CliContext,
  name: string,
  options: RecordOptions & { limit: number; profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const root = await findRoot(context, session, options, name);
  await printFamily(context, session, root, options);
}

async function findRoot(
  context: CliContext,
  session: Session,
  options: object,
  name: string,
): Promise<FamilyRoot> {
  const { record, path } = await find(context, session, KEYS, options, name);
  return {
    what: `the API key ${record.name}`,
    itemPath: KEYS.kind.itemPath,
    path,
    hasEnded: record.revoked_at !== undefined,
  };
}
