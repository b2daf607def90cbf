import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { addDescendantsOption, type RevokeOptions, revokeWithFamily } from "../families.ts";
import { toLocalTime } from "../local-time.ts";
import { isId } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { addLimitOption, find } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import type { Column } from "../table.ts";
import { printRecords } from "../time-lists.ts";
import { MEMBERS } from "./members.ts";

type MemberSession = Schemas["MemberSession"];

const SESSIONS = "/v1/orgs/{org_id}/members/{member_id}/sessions";

const COLUMNS: readonly Column<MemberSession>[] = [
  { title: "signed in", value: (session) => toLocalTime(session.created_at) },
  { title: "id", value: ({ id }) => id },
  { title: "source", value: ({ source }) => source },
  { title: "last used", value: (session) => toLocalTime(session.last_used_at) },
  { title: "expires", value: (session) => toLocalTime(session.expires_at) },
  { title: "ended", value: (session) => toLocalTime(session.ended_at) },
  { title: "browser", value: (session) => session.user_agent },
];

interface ListOptions extends RecordOptions {
  member: string;
  status?: Schemas["SessionStatus"];
  limit: number;
  profile?: string;
}

/** `longshore sessions`: where members are signed in at a browser. */
export function addSessionCommands(program: Command, context: CliContext): void {
  const group = program.command("sessions").description("sessions of members at browsers");
  addExamples(
    addLimitOption(addMemberOption(addRecordOptions(group.command("ls"))))
      .description("list the sessions of a member, newest first")
      .addOption(new Option("--status <status>").choices(["active", "ended"])),
    "sessions ls --member 'Grace Hopper'",
  ).action((_, self: Command) => list(context, self.optsWithGlobals()));
  addExamples(
    addDescendantsOption(addConsentOption(addMemberOption(group.command("revoke").alias("rm"))))
      .description("end a session of a member, or what was made in one that has ended")
      .argument("<session>", "ID; see longshore sessions ls"),
    "sessions revoke 1Cg5bWz8mKq3TnRv6HxPdY --member 'Grace Hopper' --descendants revoke",
  ).action((id: string, _, self: Command) => revoke(context, id, self.optsWithGlobals()));
}

function addMemberOption(command: Command): Command {
  return command.requiredOption("--member <name>", "the member, by name or ID");
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const session = await openSession(context, options);
  const { path } = await find(context, session, MEMBERS, {}, options.member);
  await printRecords<MemberSession>(context, session, options, {
    noun: "sessions",
    listPath: SESSIONS,
    path,
    query: { status: options.status },
    columns: COLUMNS,
  });
}

async function revoke(
  context: CliContext,
  id: string,
  options: RevokeOptions & { member: string },
): Promise<void> {
  if (!isId(id)) {
    throw new CliError(
      `"${id}" is not the ID of a session. Run: longshore sessions ls --member NAME`,
    );
  }
  const session = await openSession(context, options);
  const { path } = await find(context, session, MEMBERS, {}, options.member);
  const root = {
    what: `the session ${id}`,
    itemPath: `${SESSIONS}/{member_session_id}`,
    path: { ...path, member_session_id: id },
    hasEnded: false,
  };
  await revokeWithFamily(context, session, root, options);
}
