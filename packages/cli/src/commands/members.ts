import { type Command, Option } from "commander";
import { ApiError, type Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { KINDS } from "../named-kinds.ts";
import type { NamedKind, NamedRecord } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption, addShow, find, printList, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import { organizationPath, type ProjectOptions, projectPath } from "../target.ts";

type Member = Schemas["Member"];

const ORG_ROLES = ["member", "admin", "owner"] as const;
const PROJECT_ROLES = ["viewer", "contributor", "owner"] as const;

export const MEMBERS: Resource<Member> = {
  kind: KINDS.member,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: (member) => member.membership_id },
    { title: "role", value: ({ role }) => role },
    { title: "kind", value: ({ kind }) => kind },
    { title: "status", value: ({ status }) => status },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: organizationPath,
};

const PROJECT_MEMBER = {
  ...KINDS.member,
  listPath: "/v1/projects/{project_id}/members",
  itemPath: "/v1/projects/{project_id}/members/{member_id}",
} as const satisfies NamedKind;

type Options = RecordOptions &
  ProjectOptions & {
    name?: string;
    role?: string;
    yes?: boolean;
    limit?: number;
    profile?: string;
  };

export function addMemberCommands(program: Command, context: CliContext): void {
  const group = program
    .command("members")
    .description("members of the organization and of projects");
  addLimitOption(addRecordOptions(group.command("ls")))
    .description("list the members of the organization, or of a project")
    .option("-p, --project <name>", "the members of this project, by name or ID")
    .action((_, self: Command) => list(context, self.optsWithGlobals()));
  addShow(group, context, MEMBERS);
  addExamples(
    addRecordOptions(group.command("add"))
      .description("add a person to the organization")
      .argument("<email>")
      .requiredOption("--name <name>")
      .addOption(new Option("--role <role>").choices(ORG_ROLES).default("member")),
    "members add grace@example.com --name 'Grace Hopper'",
  ).action((email: string, _, self: Command) => add(context, email, self.optsWithGlobals()));
  addExamples(
    addConsentOption(addRecordOptions(group.command("set-role")))
      .description(
        "set the role in the organization or, with --project, in a project, which adds the member",
      )
      .argument("<member>", "name or ID")
      .argument("<role>", [...new Set([...ORG_ROLES, ...PROJECT_ROLES])].join(", "))
      .option(
        "-p, --project <name>",
        "in this project, by name or ID, and not in the organization",
      ),
    "members set-role 'Grace Hopper' admin",
    "members set-role 'Grace Hopper' contributor --project storefront",
  ).action((member: string, role: string, _, self: Command) =>
    setRole(context, { member, role }, self.optsWithGlobals()),
  );
  addConsentOption(group.command("rm"))
    .description("remove a member from the organization or, with --project, from a project")
    .argument("<member>", "name or ID")
    .option("-p, --project <name>", "only from this project, by name or ID")
    .action((member: string, _, self: Command) => remove(context, member, self.optsWithGlobals()));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  if (options.project === undefined) {
    const path = await organizationPath(context, session);
    return printList(context, session, { listPath: KINDS.member.listPath, path, options }, MEMBERS);
  }
  const path = await projectPath(context, session, options);
  await printList<NamedRecord>(
    context,
    session,
    { listPath: PROJECT_MEMBER.listPath, path, options },
    {
      kind: PROJECT_MEMBER,
      columns: [
        { title: "name", value: ({ name }) => name },
        { title: "id", value: (member) => String(member["membership_id"]) },
        { title: "role", value: (member) => String(member["role"]) },
      ],
    },
  );
}

async function add(context: CliContext, email: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { name = "", role } = options;
  const member = await session.client.post("/v1/orgs/{org_id}/members", {
    path: { org_id: await session.organizationId() },
    body: { email, name, role: role as Schemas["OrgRole"] },
  });
  context.output.record(member, { ...options, id: (row) => row.membership_id });
}

async function setRole(
  context: CliContext,
  { member, role }: { member: string; role: string },
  options: Options,
): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, MEMBERS, options, member);
  const member_id = record.membership_id;
  if (options.project !== undefined) {
    const { project_id = "" } = await projectPath(context, session, options);
    const path = { project_id, member_id };
    const changed = await setProjectRole(session, path, requireRole(role, PROJECT_ROLES));
    return context.output.record(changed, { ...options, id: () => member_id });
  }
  if (role === "owner") {
    const question = `Make ${record.name} an owner of the organization, who may do everything?`;
    await requireConsent(context, question, options);
  }
  const org_id = await session.organizationId();
  const changed = await session.client.put("/v1/orgs/{org_id}/members/{member_id}", {
    path: { org_id, member_id },
    body: { role: requireRole(role, ORG_ROLES) },
  });
  context.output.record(changed, { ...options, id: () => member_id });
}

/** Adds the member to the project if it is not one yet. */
async function setProjectRole(
  { client }: Awaited<ReturnType<typeof openSession>>,
  path: { project_id: string; member_id: string },
  role: (typeof PROJECT_ROLES)[number],
): Promise<Schemas["ProjectMember"]> {
  const itemPath = "/v1/projects/{project_id}/members/{member_id}";
  try {
    return await client.put(itemPath, { path, body: { role } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
    const { project_id, member_id } = path;
    const body = { member_ids: [member_id], role };
    await client.post("/v1/projects/{project_id}/members", { path: { project_id }, body });
    return client.get(itemPath, { path });
  }
}

function requireRole<Role extends string>(text: string, roles: readonly Role[]): Role {
  const role = roles.find((each) => each === text);
  if (role) return role;
  throw new CliError(`The role is one of ${roles.join(", ")}; "${text}" is not.`);
}

async function remove(context: CliContext, member: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { record, path } = await find(context, session, MEMBERS, options, member);
  const isOfProject = options.project !== undefined;
  const where = isOfProject ? `the project ${options.project}` : "the organization";
  await requireConsent(context, `Remove ${record.name} from ${where}?`, options);
  const itemPath = isOfProject ? PROJECT_MEMBER.itemPath : KINDS.member.itemPath;
  const projectParameters = isOfProject ? await projectPath(context, session, options) : {};
  await session.remove(itemPath, { ...path, ...projectParameters });
  context.output.note(`Removed ${record.name} from ${where}.`);
}
