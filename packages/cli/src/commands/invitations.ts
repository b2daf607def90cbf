import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption } from "../resource.ts";
import { createSecret, type SecretOptions } from "../secret-file.ts";
import { type CliContext, openSession } from "../session.ts";
import type { Column } from "../table.ts";
import { organizationPath } from "../target.ts";
import { printRecords } from "../time-lists.ts";

type Invitation = Schemas["Invitation"];

interface CreateOptions extends SecretOptions {
  name?: string;
  role: Schemas["OrgRole"];
  yes?: boolean;
  profile?: string;
}

const INVITATIONS = "/v1/orgs/{org_id}/invitations";
/** More than an organization can have. */
const MAXIMUM_INVITATIONS = 10_000;

const COLUMNS: readonly Column<Invitation>[] = [
  { title: "email", value: ({ email }) => email },
  { title: "id", value: ({ id }) => id },
  { title: "name", value: ({ name }) => name },
  { title: "role", value: ({ role }) => role },
  { title: "expires", value: ({ expires_at }) => toLocalTime(expires_at) },
];

export function addInvitationCommands(program: Command, context: CliContext): void {
  const group = program
    .command("invitations")
    .description("links with which people join the organization");
  addLimitOption(addRecordOptions(group.command("ls")))
    .description("list the open invitations, newest first")
    .action(async (_, self: Command) => {
      const options = self.optsWithGlobals();
      const session = await openSession(context, options);
      const path = await organizationPath(context, session);
      const list = { noun: "invitations", listPath: INVITATIONS, path, columns: COLUMNS };
      await printRecords<Invitation>(context, session, options as { limit: number }, list);
    });
  addExamples(
    addConsentOption(addRecordOptions(group.command("create")))
      .description("invite a person; the link, which you pass on, is shown only once")
      .argument("<email>")
      .option("--name <name>", "what the organization calls the person")
      .addOption(
        new Option("--role <role>").choices(["member", "admin", "owner"]).default("member"),
      )
      .option("--output <file>", "write the link to this file, with the mode 0600"),
    "invitations create grace@example.com --name 'Grace Hopper'",
  ).action((email: string, _, self: Command) => create(context, email, self.optsWithGlobals()));
  addConsentOption(group.command("rm"))
    .description("revoke an invitation")
    .argument("<invitation>", "address or ID")
    .action((text: string, _, self: Command) => remove(context, text, self.optsWithGlobals()));
}

async function create(context: CliContext, email: string, options: CreateOptions): Promise<void> {
  const { name, role } = options;
  const session = await openSession(context, options);
  if (role === "owner") {
    const question = `Invite ${email} as an owner of the organization, who may do everything?`;
    await requireConsent(context, question, options);
  }
  const path = { org_id: await session.organizationId() };
  const body = { email, role, ...(name !== undefined && { name }) };
  await createSecret(context, options, "url", () =>
    session.client.post(INVITATIONS, { path, body }),
  );
}

async function remove(
  context: CliContext,
  text: string,
  options: { yes?: boolean; profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const path = await organizationPath(context, session);
  const { rows } = await session.list<Invitation>(INVITATIONS, {
    path,
    limit: MAXIMUM_INVITATIONS,
  });
  const found = rows.filter(
    ({ id, email }) => id === text || email.toLowerCase() === text.toLowerCase(),
  );
  const [invitation, other] = found;
  if (!invitation)
    throw new CliError(`There is no invitation "${text}". Run: longshore invitations ls`);
  if (other) throw new CliError(`"${text}" has ${found.length} invitations. Use an ID.`);
  await requireConsent(context, `Revoke the invitation of ${invitation.email}?`, options);
  await session.remove(`${INVITATIONS}/{invitation_id}`, { ...path, invitation_id: invitation.id });
  context.output.note(`Revoked the invitation of ${invitation.email}.`);
}
