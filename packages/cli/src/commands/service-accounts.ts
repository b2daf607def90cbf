import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import type { RecordOptions } from "../output.ts";
import { addList, addRemove, addShow, find, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import { organizationPath } from "../target.ts";

type ServiceAccount = Schemas["ServiceAccount"];
type Role = Schemas["ServiceAccountRole"];

interface Options extends RecordOptions {
  name?: string;
  role?: Role;
  profile?: string;
}

export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  kind: KINDS.serviceAccount,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: (account) => account.membership_id },
    { title: "role", value: ({ role }) => role },
    { title: "created", value: ({ created_at }) => toLocalTime(created_at) },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: organizationPath,
};

export function addServiceAccountCommands(program: Command, context: CliContext): void {
  const group = program
    .command("service-accounts")
    .description("members that are programs; longshore keys create --member makes their keys");
  addList(group, context, SERVICE_ACCOUNTS);
  addShow(group, context, SERVICE_ACCOUNTS);
  addExamples(
    addRecordOptions(group.command("create"))
      .description("create a service account")
      .argument("<name>")
      .addOption(roleOption().default("member")),
    "service-accounts create ci",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addExamples(
    addRecordOptions(group.command("update"))
      .description("change the name or the role")
      .argument("<name>", "name or ID")
      .option("--name <name>", "the new name")
      .addOption(roleOption()),
    "service-accounts update ci --role admin",
  ).action((name: string, _, self: Command) => update(context, name, self.optsWithGlobals()));
  addRemove(group, context, SERVICE_ACCOUNTS, ", whose keys and trusts end with it");
}

function roleOption(): Option {
  return new Option("--role <role>").choices(["member", "admin"] satisfies Role[]);
}

async function create(context: CliContext, name: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const account = await session.client.post(KINDS.serviceAccount.listPath, {
    path: { org_id: await session.organizationId() },
    body: { name, role: options.role ?? "member" },
  });
  printRecord(context, SERVICE_ACCOUNTS, account, options);
}

async function update(context: CliContext, text: string, options: Options): Promise<void> {
  const { name, role } = options;
  const session = await openSession(context, options);
  const { record } = await find(context, session, SERVICE_ACCOUNTS, options, text);
  const { org_id, membership_id } = record;
  const account = await session.client.patch(KINDS.serviceAccount.itemPath, {
    path: { org_id, membership_id },
    body: { ...(name !== undefined && { name }), ...(role && { role }) },
  });
  printRecord(context, SERVICE_ACCOUNTS, account, options);
}
