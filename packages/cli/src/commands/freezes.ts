import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { readTime, toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption, find, type Resource } from "../resource.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import type { Column } from "../table.ts";
import {
  addProjectOption,
  organizationPath,
  type ProjectOptions,
  projectPath,
  requireProject,
} from "../target.ts";
import { printRecords } from "../time-lists.ts";

type Freeze = Schemas["Freeze"];

interface Options extends ProjectOptions, RecordOptions {
  organization?: boolean;
  profile?: string;
}

interface FreezeOptions extends Options {
  reason: string;
  from?: string;
  until: string;
  environment?: string[];
}

const ITEM = "/v1/freezes/{freeze_id}";

const COLUMNS: readonly Column<Freeze>[] = [
  { title: "name", value: ({ name }) => name },
  { title: "id", value: ({ id }) => id },
  { title: "from", value: ({ starts_at }) => toLocalTime(starts_at) },
  { title: "until", value: ({ ends_at }) => toLocalTime(ends_at) },
  { title: "reason", value: ({ reason }) => reason },
];

/** `longshore freeze` and `freezes`. */
export function addFreezeCommands(program: Command, context: CliContext): void {
  const freeze = program
    .command("freeze")
    .description("let no deployment start for some time; runs that have started go on")
    .argument("<name>")
    .requiredOption("--reason <text>", "why; everybody whose deployment waits reads it")
    .option("--from <time>", "such as 2026-11-21 or '2026-11-21 09:30'; now by default", readTime)
    .requiredOption("--until <time>", "when it ends", readTime)
    .option("-e, --environment <name...>", "only these of the project; all by default");
  addExamples(
    addOwnerOptions(addRecordOptions(freeze)),
    "freeze Migration --reason 'The database moves' --until '2026-11-21 12:00' -e production",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  const group = program.command("freezes").description("freezes of a project or an organization");
  addOwnerOptions(addLimitOption(addRecordOptions(group.command("ls"))))
    .description("list freezes, newest first")
    .action((_, self: Command) => list(context, self.optsWithGlobals()));
  addExamples(
    addOwnerOptions(addConsentOption(group.command("rm")))
      .description("end a freeze")
      .argument("<freeze>", "name or ID"),
    "freezes rm Migration",
    "freezes rm Holidays --organization --yes",
  ).action((freeze: string, _, self: Command) => remove(context, freeze, self.optsWithGlobals()));
}

function addOwnerOptions(command: Command): Command {
  return addProjectOption(command).option(
    "--organization",
    "of all projects of the organization, instead of one project",
  );
}

async function create(context: CliContext, name: string, options: FreezeOptions) {
  const session = await openSession(context, options);
  const { reason, from = new Date().toISOString(), until } = options;
  const body = { name, reason, starts_at: from, ends_at: until };
  const { freeze, environments } = await (options.organization
    ? createForOrganization(session, options, body)
    : createForProject(context, session, options, body));
  const { id, starts_at, ends_at } = freeze;
  const record = options.json ? freeze : { name, id, starts_at, ends_at, environments, reason };
  context.output.record(record, { ...options, id: () => id });
}

interface CreatedFreeze {
  freeze: Freeze;
  /** For people. */
  environments: string;
}

async function createForOrganization(
  session: Session,
  { environment: names = [] }: FreezeOptions,
  body: Schemas["CreateFreeze"],
): Promise<CreatedFreeze> {
  if (names.length > 0) {
    throw new CliError("--organization freezes all environments: leave out --environment.");
  }
  const path = { org_id: await session.organizationId() };
  const freeze = await session.client.post("/v1/orgs/{org_id}/freezes", { path, body });
  return { freeze, environments: "all, in every project" };
}

async function createForProject(
  context: CliContext,
  session: Session,
  options: FreezeOptions,
  body: Schemas["CreateFreeze"],
): Promise<CreatedFreeze> {
  const { id } = await requireProject(context, session, options);
  const path = { project_id: id };
  const environments = await Promise.all(
    (options.environment ?? []).map((each) =>
      findRecord<Schemas["Environment"]>(session, KINDS.environment, path, each),
    ),
  );
  const ids = environments.map((each) => each.id);
  const freeze = await session.client.post("/v1/projects/{project_id}/freezes", {
    path,
    body: { ...body, ...(ids.length > 0 && { environment_ids: ids }) },
  });
  return { freeze, environments: environments.map(({ name }) => name).join(", ") || "all" };
}

async function list(context: CliContext, options: Options & { limit: number }) {
  const session = await openSession(context, options);
  const { kind, ownerPath } = freezesOf(options);
  await printRecords<Freeze>(context, session, options, {
    noun: "freezes",
    columns: COLUMNS,
    listPath: kind.listPath,
    path: await ownerPath(context, session, options),
  });
}

async function remove(context: CliContext, freeze: string, options: Options & { yes?: boolean }) {
  const session = await openSession(context, options);
  const { record, path } = await find(context, session, freezesOf(options), options, freeze);
  await requireConsent(context, `End the freeze ${record.name}?`, options);
  await session.remove(ITEM, path);
  context.output.note(`The freeze ${record.name} has ended.`);
}

function freezesOf({ organization }: Options): Resource<Freeze> {
  return {
    kind: {
      noun: "freeze",
      listCommand: "freezes ls",
      listPath: organization ? "/v1/orgs/{org_id}/freezes" : "/v1/projects/{project_id}/freezes",
      itemPath: ITEM,
      parameter: "freeze_id",
      idField: "id",
      isUnfiltered: true,
    },
    columns: COLUMNS,
    addOwnerOptions,
    ownerPath: organization ? organizationPath : projectPath,
  };
}
