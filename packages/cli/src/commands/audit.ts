import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions, collect } from "../command-options.ts";
import { readTime, toLocalTime } from "../local-time.ts";
import { isId } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { addLimitOption, find } from "../resource.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { requireProject } from "../target.ts";
import { printRecords } from "../time-lists.ts";
import { MEMBERS } from "./members.ts";

type AuditRecord = Schemas["AuditRecord"];

interface Options extends RecordOptions {
  actor?: string;
  action?: string[];
  target?: string;
  project?: string;
  from?: string;
  to?: string;
  limit: number;
  profile?: string;
}

/** `longshore audit`: who did what in the organization. */
export function addAuditCommand(program: Command, context: CliContext): void {
  const command = program
    .command("audit")
    .description("list the audit log of the organization, newest first")
    .option("--actor <name>", "a member, by name or ID, or the ID of a credential")
    .option("--action <action>", "such as variable.revealed; may be repeated", collect)
    .option("--target <name>", "the record that was acted on, by name or ID")
    .option("-p, --project <name>", "only acts on this project, by name or ID")
    .option("--from <time>", "of this time and later, such as 2026-11-21 (local time)", readTime)
    .option("--to <time>", "before this time", readTime);
  addExamples(
    addLimitOption(addRecordOptions(command)),
    "audit --action variable.revealed --from 2026-11-21",
    "audit --actor ci --limit 500 --json",
  ).action((_, self: Command) => list(context, self.optsWithGlobals()));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { action, from, to } = options;
  await printRecords<AuditRecord>(context, session, options, {
    noun: "records",
    listPath: "/v1/orgs/{org_id}/audit-log",
    path: { org_id: await session.organizationId() },
    query: {
      ...(await readFilters(context, session, options)),
      ...{ action, from, to },
    },
    columns: [
      { title: "time", value: (record) => toLocalTime(record.created_at) },
      { title: "action", value: (record) => record.action },
      { title: "outcome", value: ({ outcome }) => outcome },
      { title: "target", value: ({ target: { type, id, name } }) => `${type} ${name ?? id}` },
      { title: "actor", value: ({ actor }) => `${actor.type} ${actor.name ?? idOf(actor)}`.trim() },
      { title: "address", value: (record) => record.client_address },
    ],
  });
}

function idOf({ membership_id, credential_id, pool_id }: AuditRecord["actor"]): string {
  return membership_id ?? pool_id ?? credential_id ?? "";
}

async function readFilters(
  context: CliContext,
  session: Session,
  { actor, target, project }: Options,
) {
  const isName = actor !== undefined && !isId(actor);
  const id = isName
    ? (await find(context, session, MEMBERS, {}, actor)).record.membership_id
    : actor;
  return {
    ...(id !== undefined && { actor: id }),
    ...(target !== undefined && (isId(target) ? { target } : { target_name: target })),
    ...(project !== undefined && {
      project_id: (await requireProject(context, session, { project })).id,
    }),
  };
}
