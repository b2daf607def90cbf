import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions, collect } from "../command-options.ts";
import { readTime, toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import type { NamedKind } from "../names.ts";
import { parseWholeNumber } from "../numbers.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import {
  addLimitOption,
  addList,
  addRemove,
  addShow,
  find,
  printList,
  printRecord,
  type Resource,
} from "../resource.ts";
import { createSecret } from "../secret-file.ts";
import { type CliContext, openSession } from "../session.ts";
import type { Column } from "../table.ts";
import {
  addProjectOption,
  organizationPath,
  type ProjectOptions,
  requireEnvironment,
} from "../target.ts";

type Pool = Schemas["RunnerPool"];
type Token = Schemas["RunnerToken"];
type Runner = Schemas["RunnerPoolRunner"];
type PoolPath = { org_id: string; pool_id: string };

export const POOLS: Resource<Pool> = {
  kind: KINDS.pool,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "environments", value: (pool) => pool.environment_ids.length },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: organizationPath,
};

const TOKENS = {
  kind: {
    noun: "runner token",
    listCommand: "pools tokens ls",
    listPath: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
    itemPath: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
    parameter: "token_id",
    idField: "id",
    isUnfiltered: true,
  },
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "ends in", value: (token) => token.last_four },
    { title: "expires", value: (token) => toLocalTime(token.expires_at) ?? "never" },
    { title: "last used", value: (token) => toLocalTime(token.last_used_at) },
  ],
} as const satisfies { kind: NamedKind; columns: Resource<Token>["columns"] };

const RUNNERS = {
  kind: {
    noun: "runner",
    listPath: "/v1/orgs/{org_id}/runner-pools/{pool_id}/runners",
    idField: "id",
  },
  columns: [
    { title: "name", value: ({ name, token }) => name ?? token?.name },
    { title: "version", value: ({ version }) => version },
    { title: "state", value: ({ state }) => state },
    { title: "deployment", value: (runner) => runner.deployment_id ?? runner.wanted_deployment_id },
    { title: "last seen", value: (runner) => toLocalTime(runner.last_seen_at) },
  ],
} as const satisfies PoolList<Runner>;

interface PoolList<Row extends { readonly [field: string]: unknown }> {
  kind: Pick<NamedKind, "noun" | "listPath" | "idField">;
  columns: readonly Column<Row>[];
}

interface CreateOptions extends RecordOptions, ProjectOptions {
  environment?: string[];
  maxRunSeconds?: number;
  expires?: string;
  output?: string;
  yes?: boolean;
  limit?: number;
  profile?: string;
}

export function addPoolCommands(program: Command, context: CliContext): void {
  const group = program.command("pools").description("runner pools and the tokens of runners");
  addList(group, context, POOLS);
  addShow(group, context, POOLS);
  addExamples(
    addProjectOption(addRecordOptions(group.command("create")))
      .description("create a runner pool")
      .argument("<name>")
      .requiredOption(
        "-e, --environment <name>",
        "that it deploys to, by name or ID; may be repeated",
        collect,
      )
      .option("--max-run-seconds <seconds>", "the longest run of a deployment", parseWholeNumber),
    "pools create local --project storefront --environment staging",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addEnvironmentCommands(group, context);
  addPoolList(group.command("runners"), context, RUNNERS).description(
    "list the runners of a pool that are online, and what they execute",
  );
  addRemove(group, context, POOLS, " with its tokens");
  addTokens(group, context);
}

const CHANGES = {
  "add-environment": {
    description: "let a pool deploy to another environment",
    change: (ids: readonly string[], id: string) => (ids.includes(id) ? ids : [...ids, id]),
  },
  "remove-environment": {
    description: "let a pool no longer deploy to an environment",
    change: (ids: readonly string[], id: string) => ids.filter((each) => each !== id),
  },
} as const;

function addEnvironmentCommands(pools: Command, context: CliContext): void {
  for (const [name, { description, change }] of Object.entries(CHANGES)) {
    addExamples(
      addProjectOption(addRecordOptions(pools.command(name)))
        .description(description)
        .argument("<pool>", "name or ID")
        .argument("<environment>", "name or ID"),
      `pools ${name} local staging --project storefront`,
    ).action(async (pool: string, environment: string, _, self: Command) => {
      const options = self.optsWithGlobals<CreateOptions>();
      const session = await openSession(context, options);
      const { project } = options;
      const target = { environment, ...(project !== undefined && { project }) };
      const { id } = await requireEnvironment(context, session, target);
      const { path } = await find(context, session, POOLS, options, pool);
      const changed = await session.client.update(
        "/v1/orgs/{org_id}/runner-pools/{pool_id}",
        { path: path as PoolPath },
        ({ environment_ids: ids }) => ({ environment_ids: [...change(ids, id)] }),
      );
      printRecord(context, POOLS, changed, options);
    });
  }
}

/** For what a pool has. */
function addPoolList<Row extends { readonly [field: string]: unknown }>(
  command: Command,
  context: CliContext,
  list: PoolList<Row>,
): Command {
  return addLimitOption(addRecordOptions(command))
    .argument("<pool>", "name or ID")
    .action(async (pool: string, _, self: Command) => {
      const options = self.optsWithGlobals<CreateOptions>();
      const session = await openSession(context, options);
      const { path } = await find(context, session, POOLS, options, pool);
      await printList(context, session, { listPath: list.kind.listPath, path, options }, list);
    });
}

function addTokens(pools: Command, context: CliContext): void {
  const group = pools.command("tokens").description("tokens of a pool's runners");
  addPoolList(group.command("ls"), context, TOKENS).description(
    "list the tokens of a pool, newest first",
  );
  addExamples(
    addRecordOptions(group.command("create"))
      .description("create a token for one runner, which is shown only once")
      .argument("<pool>", "name or ID")
      .argument("<name>", "of the runner")
      .option("--expires <time>", "such as 2027-01-31 or '2027-01-31 09:30'", readTime)
      .option("--output <file>", "write the token to this file, with the mode 0600"),
    "pools tokens create local laptop --output runner.token",
  ).action((pool: string, name: string, _, self: Command) =>
    createToken(context, { pool, name }, self.optsWithGlobals()),
  );
  addConsentOption(group.command("revoke").alias("rm"))
    .description("revoke a token, at once and for good")
    .argument("<pool>", "name or ID")
    .argument("<name>", "name or ID of the token")
    .action((pool: string, name: string, _, self: Command) =>
      revokeToken(context, { pool, name }, self.optsWithGlobals()),
    );
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { environment: names = [], project, maxRunSeconds } = options;
  const target = project === undefined ? {} : { project };
  const environments = await Promise.all(
    names.map((each) => requireEnvironment(context, session, { ...target, environment: each })),
  );
  const pool = await session.client.post("/v1/orgs/{org_id}/runner-pools", {
    path: { org_id: await session.organizationId() },
    body: {
      name,
      environment_ids: environments.map(({ id }) => id),
      ...(maxRunSeconds !== undefined && { max_run_seconds: maxRunSeconds }),
    },
  });
  printRecord(context, POOLS, pool, options);
}

async function createToken(
  context: CliContext,
  { pool, name }: { pool: string; name: string },
  options: CreateOptions,
): Promise<void> {
  const session = await openSession(context, options);
  const { path } = await find(context, session, POOLS, options, pool);
  const { expires } = options;
  const body = { name, ...(expires !== undefined && { expires_at: expires }) };
  await createSecret(context, options, "token", () =>
    session.client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
      path: path as PoolPath,
      body,
    }),
  );
}

async function revokeToken(
  context: CliContext,
  { pool, name }: { pool: string; name: string },
  options: CreateOptions,
): Promise<void> {
  const session = await openSession(context, options);
  const { path: poolPath } = await find(context, session, POOLS, options, pool);
  const tokens: Resource<Token> = {
    ...TOKENS,
    addOwnerOptions: (command) => command,
    ownerPath: async () => poolPath,
  };
  const { record, path } = await find(context, session, tokens, options, name);
  await requireConsent(context, `Revoke the token ${record.name}?`, options);
  await session.remove(TOKENS.kind.itemPath, path);
  context.output.note(`Revoked the token ${record.name}.`);
}
