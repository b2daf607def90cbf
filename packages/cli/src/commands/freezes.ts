import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { readTime, toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord, isId } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption } from "../resource.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import type { Column } from "../table.ts";
import { addProjectOption, type ProjectOptions, requireProject } from "../target.ts";
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
  addConsentOption(group.command("rm"))
    .description("end a freeze")
    .argument("<freeze>", "ID; see longshore freezes ls")
    .action((id: string, _, self: Command) => remove(context, id, self.optsWithGlobals()));
}

function addOwnerOptions(command: Command): Command {
  return addProjectOption(command).option(
    "--organization",
    "of all projects of the organization, instead of one project",
  );
}

async function create(context: CliContext, name: string, options: FreezeOptions) {
  const session = await openSession(context, options);
  const { reason, from = new Date().toISOString(), until, environment: names = [] } = options;
  const body = { name, reason, starts_at: from, ends_at: until };
  const freeze = await (options.organization
    ? createForOrganization(session, names, body)
    : createForProject(context, session, options, body));
  context.output.record(freeze, { ...options, id: (row) => row.id });
}

async function createForOrganization(
  session: Session,
  names: readonly string[],
  body: Schemas["CreateFreeze"],
): Promise<Freeze> {
  if (names.length > 0) {
    throw new CliError("--organization freezes all environments: leave out --environment.");
  }
  const path = { org_id: await session.organizationId() };
  return session.client.post("/v1/orgs/{org_id}/freezes", { path, body });
}

async function createForProject(
  context: CliContext,
  session: Session,
  options: FreezeOptions,
  body: Schemas["CreateFreeze"],
): Promise<Freeze> {
  const { id } = await requireProject(context, session, options);
  const path = { project_id: id };
  const environments = await Promise.all(
    (options.environment ?? []).map((each) =>
      findRecord<Schemas["Environment"]>(session, KINDS.environment, path, each),
    ),
  );
  const ids = environments.map((each) => each.id);
  return session.client.post("/v1/projects/{project_id}/freezes", {
    path,
    body: { ...body, ...(ids.length > 0 && { environment_ids: ids }) },
  });
}

async function list(context: CliContext, options: Options & { limit: number }) {
  const session = await openSession(context, options);
  const owner = options.organization
    ? { listPath: "/v1/orgs/{org_id}/freezes", path: { org_id: await session.organizationId() } }
    : {
        listPath: "/v1/projects/{project_id}/freezes",
        path: { project_id: (await requireProject(context, session, options)).id },
      };
  await printRecords<Freeze>(context, session, options, {
    noun: "freezes",
    columns: COLUMNS,
    ...owner,
  });
}

async function remove(
  context: CliContext,
  id: string,
  options: { yes?: boolean; profile?: string },
) {
  if (!isId(id)) {
    throw new CliError(`"${id}" is not the ID of a freeze. Run: longshore freezes ls`);
  }
  const session = await openSession(context, options);
  const path = { freeze_id: id };
  const { name } = await session.client.get("/v1/freezes/{freeze_id}", { path });
  await requireConsent(context, `End the freeze ${name}?`, options);
  await session.client.delete("/v1/freezes/{freeze_id}", { path });
  context.output.note(`The freeze ${name} has ended.`);
}
